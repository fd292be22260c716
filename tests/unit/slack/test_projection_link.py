"""The way from a card to the thread itself, where the policy says where people look at threads."""

from blocks.cards import call_card
from bot.slack.outbound.projection import DrawingContext, call_view, root_view
from tests.kit.factories import make_review
from tests.kit.policy_factories import make_tenant

PAGE = '"https://agents.example/threads/{thread_id}?tab=state"'


def drawn(review, **parts):
    view = call_view(review, review.actions[0], DrawingContext(make_tenant(**parts), 0), showing="s_" + "a" * 26)
    return str(call_card(view).blocks)


def test_a_card_that_nobody_can_decide_links_to_its_thread():
    review = make_review().evolve(thread_id="th-1", problem="not_a_tool_call")

    assert "Cannot be decided here" in drawn(review, thread_url=PAGE)
    assert "<https://agents.example/threads/th-1?tab=state|Open the thread>" in drawn(review, thread_url=PAGE)
    assert "Open the thread" not in drawn(review)


def test_a_hostile_thread_id_stays_one_part_of_the_path():
    review = make_review().evolve(thread_id="a/../x|<!channel>&y=1#z %")

    text = drawn(review, thread_url=PAGE)

    assert "https://agents.example/threads/a%2F..%2Fx%7C%3C%21channel%3E%26y%3D1%23z%20%25?tab=state|Open" in text
    assert "<!channel>" not in text


def test_the_message_above_a_batch_links_too():
    review = make_review().evolve(thread_id="th-1")
    root = root_view(review, DrawingContext(make_tenant(thread_url=PAGE), 0), showing="s_" + "a" * 26)

    assert {call.thread_link for call in root.calls} == {"https://agents.example/threads/th-1?tab=state"}

"""What must hold for every card and view, whatever an agent or a reviewer wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_block_text import unseen_in

from blocks import ids, limits
from blocks.args import parse, read_arguments
from blocks.cards import call_card
from blocks.modals import Final, confirm_modal, edit_modal, notice_modal, reject_modal, respond_modal
from blocks.models import BatchView, CallState, RootView, TypedDraft
from blocks.roots import root_card
from blocks.text import units, weight
from blocks.windows import batch_modal, review_modal
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view
from tests.kit.block_calls import (
    CALLS,
    HOSTILE,
    SHOWING,
    SOURCES,
    TEXTS,
    calls_with,
    choices,
    dicts,
    make_review,
    patient,
    renumbered,
)

# Failing examples may be long; that is no reason to hide which property they break.
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")

DRAFTS = st.builds(
    TypedDraft,
    st.none() | st.sampled_from(ids.DECISIONS),
    st.none() | HOSTILE,
    st.none() | HOSTILE,
    st.integers(0, 9),
    kept=SOURCES,
)
ELEMENTS = {"text", "rich_text_section", "rich_text_preformatted", "rich_text_list", "user"}
WAITING = calls_with(state=st.just(CallState.WAITING))


def safe(blocks):
    """Nothing but text elements and our mentions in rich_text, verbatim mrkdwn without foreign control sequences."""
    for block in blocks:
        for each in dicts(block.get("elements", [])) if block["type"] == "rich_text" else ():
            assert "type" not in each or each["type"] in ELEMENTS
        for each in dicts(block):
            text = each.get("text")
            if isinstance(text, str):
                assert text
                assert unseen_in(text) == [] or "\ufe0f" in text
            if each.get("type") == "mrkdwn":
                assert each["verbatim"]
                assert "<!channel" not in text
                assert "<@U0VICTIM>" not in text
                assert "<https://evil" not in text
            if each.get("type") == "plain_text":
                assert each["emoji"] is False
    return True


def whole_text(message):
    return sum(weight(each["text"]) for each in dicts(message.blocks) if isinstance(each.get("text"), str))


@given(CALLS)
@patient
def test_every_card_is_within_limits_with_its_buttons(call):
    card = call_card(call)
    assert problems_in_message(card.blocks, card.text, update=True) == []
    assert whole_text(card) < limits.MESSAGE
    assert units(card.text) < 4_000
    shown = [ids.decode_decision(each["action_id"]) for each in dicts(card.blocks) if each.get("type") == "button"]
    assert [each for each in shown if each] == list(card.offered)
    assert safe(card.blocks)


@given(CALLS)
@patient
def test_approve_is_never_on_an_incomplete_card_and_nothing_is_added_to_the_offer(call):
    card = call_card(call)
    assert set(card.offered) <= set(call.offered)
    assert card.complete or "approve" not in card.offered
    assert call.state is CallState.WAITING or "approve" not in card.offered
    reviews = [each for each in dicts(card.blocks) if each.get("action_id") == ids.REVIEW]
    assert bool(reviews) == (call.state is CallState.WAITING and not card.complete)


@given(WAITING)
@patient
def test_a_complete_card_shows_every_name_and_value(call):
    card = call_card(call)
    if card.complete:
        shown = [each["text"] for each in dicts(card.blocks) if isinstance(each.get("text"), str)]
        for row in read_arguments(parse(call.arguments, call.masks)).rows:
            assert row.text in shown
            assert not row.name or row.name in shown


@given(CALLS)
@patient
def test_the_text_for_screen_readers_mentions_and_links_nobody_but_ours(call):
    text = call_card(call).text
    assert unseen_in(text.replace("\ufe0f", "")) == []
    assert "<!channel" not in text
    assert "<@U0VICTIM>" not in text
    assert "<https://evil" not in text


@given(st.lists(CALLS, max_size=3), st.integers(1, 40))
@patient
def test_every_root_is_within_limits(calls, times):
    root = root_card(RootView(SHOWING, renumbered(calls * times)))
    assert problems_in_message(root.blocks, root.text, update=True) == []
    assert whole_text(root) < limits.MESSAGE
    assert safe(root.blocks)


@given(CALLS, DRAFTS, st.none() | HOSTILE)
@patient
def test_every_small_modal_is_within_limits(call, draft, banner):
    for build in (reject_modal, respond_modal, edit_modal):
        view = build(call, draft, banner=banner).view
        assert problems_in_view(view) == []
        assert safe(view["blocks"])


@given(CALLS, st.integers(-1, 25), st.frozensets(st.integers(0, 25)), DRAFTS)
@patient
def test_every_review_is_within_limits_and_approvable_only_when_complete(call, page, seen, draft):
    rendered = review_modal(make_review(call, page=page, seen=seen, draft=draft))
    assert problems_in_view(rendered.view) == []
    assert safe(rendered.view["blocks"])
    (offer,) = rendered.offers
    assert choices(rendered.view, call.position) == offer.offered
    assert "approve" not in offer.offered or (offer.complete and rendered.page == rendered.pages - 1)


@given(st.lists(st.tuples(CALLS, DRAFTS), max_size=5), st.integers(1, 20), st.integers(0, 20))
@patient
def test_every_batch_page_is_within_limits_with_its_submit(pairs, times, page):
    calls = renumbered([call for call, _ in pairs] * times)
    drafts = tuple(enumerate([draft for _, draft in pairs] * times))
    rendered = batch_modal(BatchView(SHOWING, calls, page, drafts))
    assert problems_in_view(rendered.view) == []
    assert safe(rendered.view["blocks"])
    for offer in rendered.offers:
        assert choices(rendered.view, offer.position) == offer.offered
        assert offer.complete or "approve" not in offer.offered


@given(CALLS, SOURCES.filter(lambda source: source is not None))
@patient
def test_every_confirmation_is_within_limits(call, final):
    rendered = confirm_modal(call, Final(final, "k3vd8w2mq7xa"))
    assert problems_in_view(rendered.view) == []
    assert safe(rendered.view["blocks"])


@given(TEXTS.filter(bool), TEXTS.filter(bool))
@patient
def test_every_notice_is_within_limits(title, sentence):
    assert problems_in_view(notice_modal(title, sentence).view) == []

"""Reported payloads as people would see them: malformed, parameterless, described by the agent, beyond what a float holds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from blocks import words
from blocks.cards import call_card
from blocks.modals import edit_modal, reject_modal, respond_modal
from blocks.models import ReviewView
from blocks.roots import root_card
from blocks.windows import batch_modal, review_modal
from bot.core.decide import Accepted, decide
from bot.core.decision import UnsendableAnswer, answer_tree
from bot.core.editing import read_fields
from bot.core.json import parse
from bot.runtimes.langgraph.interrupts import parse_interrupt, parse_pending
from bot.runtimes.langgraph.resume import resume_body
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view
from bot.slack.outbound.projection import batch_view, root_view
from bot.slack.windows.edit_form import fields_for, views_of
from tests.cases.test_case_arguments import MIXED
from tests.cases.test_case_display import ALL, SHOWING, dicts, literal_texts, proposed, stage, viewed
from tests.kit.factories import (
    APPROVE,
    EDIT,
    INTERRUPT,
    REJECT,
    RESPOND,
    anybody,
    decide_all,
    make_batch,
    make_config,
    make_decision,
    make_intent,
    make_interrupt,
    make_press,
    make_request,
    record,
    review_of,
    tree,
)


def asked(value):
    """The review of one interrupt of this value."""
    return review_of(make_interrupt(value=value), tenant="demo")


def cards(review, tools=""):
    """The card of each call of a review, none of which Slack would refuse."""
    drawn = [call_card(viewed(review, action.position, tools)) for action in review.actions]
    for card in drawn:
        assert problems_in_message(card.blocks, card.text) == []
    return drawn


def pressable(card):
    """The action ids of a card's buttons."""
    return [one["action_id"] for one in dicts(card.blocks) if one.get("type") == "button"]


# -- what cannot be answered safely


def assert_shut(review, sentence):
    """Every card and the message above them say why, and none leads to a decision."""
    drawn = [*cards(review), root_card(root_view(review, stage(), showing=SHOWING))]
    assert [pressable(card) for card in drawn] == [[]] * len(drawn)
    assert all("Cannot be decided here" in str(card.blocks) for card in drawn[: len(review.actions)])
    assert any(sentence in str(card.blocks) for card in drawn)
    assert not isinstance(decide(review, make_press(review, make_intent(REJECT)), anybody), Accepted)


def test_case_002_two_questions_under_one_id_have_cards_without_a_button_that_say_why():
    values = [make_batch([make_request(name, {"id": number})]) for number, name in enumerate(("circle", "square"))]
    reviews = [
        review_of(one, tenant="demo") for one in parse_pending([(INTERRUPT, tree(value), None) for value in values])
    ]

    for review in reviews:
        assert_shut(review, "Several questions wait under one id")


UNPAIRED = "did not say for each call what is allowed"
DELETE, SEND = make_config("delete_file", ["approve", "reject"]), make_config("send_email")
BATCHES = {
    "shorter": [DELETE],
    "empty": [],
    "swapped": [SEND, DELETE],
    "longer": [DELETE, SEND, SEND],
}


@pytest.mark.parametrize("configs", BATCHES.values(), ids=BATCHES)
def test_case_006_calls_whose_lists_do_not_pair_are_shown_without_a_button_and_say_why(configs):
    calls = [make_request("delete_file", {"path": "/srv/a"}), make_request("send_email", {"to": "ops@example.com"})]
    review = asked({"action_requests": calls, "review_configs": configs})

    assert_shut(review, "another tool" if configs == BATCHES["swapped"] else UNPAIRED)
    assert [card.text.count(call["name"]) > 0 for card, call in zip(cards(review), calls, strict=True)] == [True, True]


def test_case_008_one_call_without_a_usable_decision_leaves_none_of_its_siblings_a_button():
    calls = [make_request("drop_db", {"db": "x"}), make_request("ask_user", {"q": "?"})]
    review = asked(make_batch(calls, [make_config("drop_db", []), make_config("ask_user", ["respond", "escalate"])]))

    assert_shut(review, "they are answered together")


def test_case_005_the_second_call_of_one_tool_offers_what_its_own_position_allows():
    calls = [make_request("transfer", {"to": "acct-1", "amount": 10}), make_request("transfer", {"amount": 90_000})]
    configs = [make_config("transfer", ["approve", "reject"]), make_config("transfer", ["reject"])]
    review = asked(make_batch(calls, configs))
    window = batch_modal(batch_view(review, stage(), showing=SHOWING, drafts={}))
    blocks = [one["block_id"] for one in window.view["blocks"] if "block_id" in one]

    assert [card.offered for card in cards(review)] == [("approve", "reject"), ("reject",)]
    assert [offer.offered for offer in window.offers] == [("approve", "reject"), ("reject",)]
    assert len(set(blocks)) == len(blocks)


# -- arguments and descriptions of odd kinds

NO_OBJECT = [None, "missing", "", '{"a":1}']


@pytest.mark.parametrize("args", NO_OBJECT)
def test_case_011_arguments_that_are_no_object_are_shown_as_they_came_and_called_malformed(args):
    call = {"name": "ping"} if args == "missing" else {"name": "ping", "args": args}
    (card,) = cards(asked(make_batch([call], [make_config("ping")])))

    assert words.NOT_AN_OBJECT in str(card.blocks)
    assert card.offered == ("reject", "respond")


def test_case_011_a_tool_without_parameters_says_no_arguments_and_its_form_opens_with_an_empty_object():
    review = asked(make_batch([{"name": "ping", "args": {}}], [make_config("ping")]))
    (card,) = cards(review)
    form = edit_modal(viewed(review), fields=views_of(fields_for(review, review.actions[0], stage().tenant))).view

    assert words.NO_ARGUMENTS in str(card.blocks)
    assert card.offered == tuple(ALL)
    assert problems_in_view(form) == []
    (typed,) = [block["element"] for block in form["blocks"] if block["type"] == "input"]
    assert json.loads(typed["initial_value"]) == {}


DESCRIBED = [
    {},
    {"description": None},
    {"description": "D" * 9_000},
    {"description": "Tool execution requires approval\n\nTool: w\nArgs: {'a': 'another value'}"},
]


@pytest.mark.parametrize("more", DESCRIBED, ids=["missing", "null", "long", "with the arguments in it"])
def test_case_013_whatever_the_description_says_the_arguments_stand_there_as_they_are(more):
    (card,) = cards(asked(make_batch([{"name": "w", "args": {"a": 1_234}} | more], [make_config("w")])))

    assert "1234" in literal_texts(card.blocks)
    assert "approve" in card.offered
    assert "None" not in str([text["text"] for text in dicts(card.blocks) if isinstance(text.get("text"), str)])
    assert "another value" not in str(card.blocks)
    assert "D" * 301 not in str(card.blocks)
    assert ("of 9,000 characters shown" in str(card.blocks)) == (len(more.get("description") or "") == 9_000)


def test_case_014_a_long_reason_of_the_agents_takes_no_room_from_a_long_argument():
    calls = [make_request("run_shell", {"cmd": "x" * 4_990 + "; rm -rf /srv/prod"}, description="R" * 600)]
    review = asked(make_batch(calls, [make_config("run_shell", ["approve", "reject"])]))
    (card,) = cards(review)

    sections = [one["text"]["text"] for one in card.blocks if one["type"] == "section"]
    assert all(len(text) <= 3_000 for text in sections)
    assert "rm -rf" not in str(card.blocks)
    assert pressable(card) == ["review.open", "decide.reject"]


def test_case_016_the_text_for_notifications_holds_no_long_argument():
    (card,) = cards(proposed(("spawn_agent", {"prompt": "p" * 11_000}), allowed=["approve", "reject"]))

    assert "p" * 601 not in card.text
    assert "spawn_agent" in card.text


LONG = {"path": "/a", "content": "L" * 5_000}


def test_case_023_what_can_be_edited_only_in_part_can_be_reviewed_edited_and_rejected():
    assert pressable(cards(proposed(("write_file", LONG)))[0]) == [
        "review.open",
        "decide.edit",
        "decide.reject",
        "decide.respond",
    ]


# -- numbers and types between card, form and request

BIG = {
    "order_id": "9007199254740993",
    "snowflake": "1234567890123456789",
    "huge": "123456789012345678901234567890",
    "as_text": '"1234567890123456789"',
}
ARGUMENTS = "{" + ",".join(f'"{name}":{value}' for name, value in BIG.items()) + "}"


def refund():
    configs = '[{"action_name":"refund","allowed_decisions":["approve","edit"]}]'
    body = f'{{"action_requests":[{{"name":"refund","args":{ARGUMENTS}}}],"review_configs":{configs}}}'
    return review_of(parse_interrupt(INTERRUPT, parse(body)), tenant="demo")


def sent(review):
    """The bytes that answer a review."""
    return resume_body(
        assistant="agent",
        interrupt_id=review.interrupt_id,
        answer_tree=answer_tree(review),
        dispatch_id="d_one",
        attempt=1,
        kind="aegra",
    )


def test_case_017_card_and_form_show_every_digit():
    review = refund()
    (card,) = cards(review)
    form = edit_modal(viewed(review), fields=views_of(fields_for(review, review.actions[0], stage().tenant))).view
    initial = [one["initial_value"] for one in dicts(form) if "initial_value" in one]

    for value in BIG.values():
        digits = value.strip('"')
        assert digits in "".join(literal_texts(card.blocks))
        assert digits in "".join(initial)


def test_case_017_an_edit_beside_big_integers_sends_every_digit_of_those_that_a_server_can_keep():
    small = ARGUMENTS.replace(f',"huge":{BIG["huge"]}', "")
    configs = '[{"action_name":"refund","allowed_decisions":["approve","edit"]}]'
    body = f'{{"action_requests":[{{"name":"refund","args":{small}}}],"review_configs":{configs}}}'
    review = review_of(parse_interrupt(INTERRUPT, parse(body)), tenant="demo")
    action = review.actions[0]
    fields = fields_for(review, action, stage().tenant)
    order = next(one.index for one in fields if one.name == "order_id")
    final = read_fields(action.args, fields, {order: "9007199254740995"}).final

    result = decide(review, make_press(review, make_intent(EDIT, final_args=final)), anybody)

    assert isinstance(result, Accepted)
    assert small.replace(BIG["order_id"], "9007199254740995").encode() in sent(record(review, result.decisions))


def test_case_021_changing_one_number_in_the_form_sends_all_else_as_it_was():
    review = asked(make_batch([make_request("update", json.loads(MIXED))], [make_config("update")]))
    action = review.actions[0]
    fields = fields_for(review, action, stage().tenant)
    number = next(one.index for one in fields if one.name == "n")

    assert read_fields(action.args, fields, {number: "6"}).final == MIXED.replace('"n":5', '"n":6')


def test_case_028_twenty_five_decisions_leave_together_in_order_and_twenty_four_do_not():
    review = proposed(*[(f"op_{number:02d}", {"i": number}) for number in range(25)], allowed=["approve", "reject"])
    kinds = [REJECT if number in (2, 10, 24) else APPROVE for number in range(25)]
    part = record(review, [make_decision(review, kind, at) for at, kind in enumerate(kinds) if at != 7])

    assert [each["type"] for each in answer_tree(decide_all(review, kinds))["decisions"]] == [
        kind.value for kind in kinds
    ]
    with pytest.raises(UnsendableAnswer):
        answer_tree(part)


# -- what the agent wrote

HOSTILE = "<https://evil.example/login|Approve via portal> <!channel> <!here> <@U0VICTIM> <!subteam^S0ONCALL>"
ACTING = ("<https://evil", "<!channel", "<!here", "<@U0VICTIM", "<!subteam")


@pytest.mark.parametrize("tool", ["run", f"run` {HOSTILE}"])
def test_case_031_and_032_a_hostile_description_or_name_is_read_and_acts_nowhere(tool):
    args = {"cmd": f"x` {HOSTILE} `", "host": "db`*prod*`", "text": "&lt;!here&gt;"}
    review = asked(make_batch([make_request(tool, args, description=f"see {HOSTILE}")], [make_config(tool)]))
    call = viewed(review)
    (card,) = cards(review)
    root = root_card(root_view(review, stage(), showing=SHOWING))
    windows = [review_modal(ReviewView(call)), reject_modal(call), respond_modal(call), edit_modal(call)]
    views = [window.view for window in windows]

    parsed = [one["text"] for one in dicts([card.blocks, root.blocks, views]) if one.get("type") == "mrkdwn"]
    for text in [card.text, root.text, *parsed]:
        assert not [bad for bad in ACTING if bad in text], text
    assert [one for one in dicts([card.blocks, root.blocks, views]) if one.get("type") in ("link", "user")] == []
    assert f"see {HOSTILE}" in "".join(literal_texts(card.blocks))
    assert "&lt;!here&gt;" in literal_texts(card.blocks)


def test_case_030_an_ampersand_is_still_one_on_the_settled_card():
    url = "https://x.example/?a=1&b=2"
    review = proposed(("rm", {"url": url}))
    settled = call_card(viewed(decide_all(review, [APPROVE]).evolve(state=review.state)))

    assert url in literal_texts(settled.blocks)
    assert "&amp;" not in str(settled.blocks)


def test_case_034_two_calls_that_differ_behind_the_cut_can_be_told_apart_and_rejected():
    shared = "systemctl status app" + "; echo ok" * 400
    drawn = [
        cards(proposed(("ssh", {"cmd": shared + tail}), allowed=["approve", "reject"]))[0]
        for tail in ("; rm -rf /var/lib/app", "; rm -rf /var/lib/abc")
    ]

    assert drawn[0].blocks != drawn[1].blocks
    for card in drawn:
        assert "897 of 3,644 characters shown" in str(card.blocks)
        assert pressable(card) == ["review.open", "decide.reject"]


def test_case_035_suspected_secrets_of_every_kind_stay_out_of_the_card_and_run_as_they_are_beside_an_edit():
    args = {
        "url": "https://api.example.com?token=FAKE-TOKEN-0001",
        "headers": {"Authorization": "Bearer FAKE-TOKEN-0002"},
        "dsn": "postgres://u:FAKE-PW@db/x",
        "note": "plain",
    }
    review = proposed(("http", args))
    action = review.actions[0]
    fields = fields_for(review, action, stage().tenant)
    note = next(one.index for one in fields if one.name == "note")
    (card,) = cards(review)
    final = read_fields(action.args, fields, {note: "changed"}).final

    assert "FAKE" not in str([card.blocks, card.text])
    assert "3 values hidden" in str(card.blocks)
    assert json.loads(final) == {**args, "note": "changed"}


def test_case_043_the_form_of_an_edit_has_no_input_for_the_tool():
    review = proposed(("send_email", {"to": "a"}))
    call = viewed(review)
    fields = views_of(fields_for(review, review.actions[0], stage().tenant))

    labels = [
        [block["label"]["text"] for block in form.view["blocks"] if block["type"] == "input"]
        for form in (edit_modal(call, fields=fields), edit_modal(replace(call, typed=False)))
    ]
    assert labels == [["to"], [words.EDITED_JSON]]


def test_case_079_a_reason_has_the_room_that_slack_gives_and_an_answer_must_not_be_empty():
    review = proposed(("delete_file", {"path": "/srv/a"}))
    call = viewed(review)
    (reason,) = [block for block in reject_modal(call).view["blocks"] if block["type"] == "input"]
    (answer,) = [block for block in respond_modal(call).view["blocks"] if block["type"] == "input"]
    blank = decide(review, make_press(review, make_intent(RESPOND, message="   ")), anybody)

    assert reason["element"]["max_length"] <= 3_000
    assert (reason["optional"], answer.get("optional", False)) == (True, False)
    assert not isinstance(blank, Accepted)

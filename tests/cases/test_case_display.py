"""Reported cards and windows that Slack refused or that showed something else than what ran: each as it is drawn from its payload."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from blocks.cards import call_card
from blocks.modals import edit_modal
from blocks.models import ReviewView
from blocks.roots import root_card
from blocks.windows import batch_modal, review_modal
from bot.core.editing import read_fields
from bot.policy.source import parse as read_policy
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view
from bot.slack.outbound.projection import DrawingContext, batch_view, call_view, root_view
from bot.slack.windows.edit_form import fields_for, views_of
from tests.kit.factories import OPENED, make_batch, make_config, make_interrupt, make_request, review_of
from tests.kit.office import policy_text

SHOWING = "s_" + "a" * 26
ALL = ["approve", "edit", "reject", "respond"]


def stage(tools: str = "") -> DrawingContext:
    policy = read_policy(policy_text("http://127.0.0.1:2026", tools=tools))
    return DrawingContext(policy.tenants["demo"], OPENED)


def proposed(*calls: tuple[str, dict], allowed=ALL):
    """The review of one interrupt that asks about these calls."""
    requests = [make_request(name, args, description="Tool execution requires approval") for name, args in calls]
    value = make_batch(requests, [make_config(name, allowed) for name, _ in calls])
    return review_of(make_interrupt(value=value), tenant="demo")


def viewed(review, position=0, tools=""):
    return call_view(review, review.actions[position], stage(tools), showing=SHOWING)


def dicts(node):
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from dicts(inner)


def literal_texts(node):
    """What stands in elements that nothing parses."""
    return [one["text"] for one in dicts(node) if one.get("type") == "text"]


def values_in(node):
    return [one["value"] for one in dicts(node) if one.get("type") == "button"]


def test_case_014_a_long_argument_is_posted_at_the_first_try_with_buttons_and_says_how_much_is_missing():
    review = proposed(("run_shell", {"cmd": "x" * 4_990 + "tail-end!!"}))
    card = call_card(viewed(review))
    pages = [review_modal(ReviewView(viewed(review), page)) for page in range(2)]

    assert problems_in_message(card.blocks, card.text) == []
    assert "of 5,003 characters shown" in str(card.blocks)
    assert "review.open" in str(card.blocks)
    assert "approve" not in card.offered
    assert "tail-end!!" in "".join(literal_texts([page.view for page in pages]))


def test_case_016_the_text_for_notifications_fits_an_update_too_and_calls_nobody():
    review = proposed(("spawn_agent", {"prompt": "<!here> <@U0REV1> " + "p" * 11_800}))
    card = call_card(viewed(review))

    assert problems_in_message(card.blocks, card.text, update=True) == []
    assert len(card.text) < 4_000
    assert "<!here>" not in card.text
    assert "<@U0REV1>" not in card.text


def test_case_023_what_is_too_long_for_an_input_is_named_and_goes_out_as_it_was():
    long = "L" * 5_000
    review = proposed(("write_file", {"path": "/a", "content": long}))
    fields = fields_for(review, review.actions[0], stage().tenant)
    view = edit_modal(viewed(review), fields=views_of(fields)).view
    path = next(one.index for one in fields if one.name == "path")
    final = read_fields(review.actions[0].args, fields, {path: "/b"}).final

    assert problems_in_view(view) == []
    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    assert [block["label"]["text"] for block in inputs] == ["path"]
    assert all(block["element"]["max_length"] <= 3_000 for block in inputs)
    assert "has 5,000 characters, too many to edit here" in str(view)
    assert json.loads(final) == {"path": "/b", "content": long}


@pytest.mark.parametrize("count", [1, 25])
def test_case_025_and_026_buttons_and_windows_carry_an_opaque_id_and_nothing_of_the_call(count):
    review = proposed(*[("upload", {"b64": "QUJD" * 2_000})] * count)
    card = call_card(viewed(review))
    root = root_card(root_view(review, stage(), showing=SHOWING))
    windows = [
        review_modal(ReviewView(viewed(review))).view,
        batch_modal(batch_view(review, stage(), showing=SHOWING, drafts={})).view,
    ]

    assert set(values_in([card.blocks, root.blocks, windows])) == {SHOWING}
    assert {view["private_metadata"] for view in windows} == {SHOWING}


def test_case_028_twenty_five_calls_fit_their_messages_and_windows_and_each_has_its_number():
    review = proposed(*[(f"op_{number:02d}", {"i": number}) for number in range(25)])
    root = root_card(root_view(review, stage(), showing=SHOWING))
    batch = batch_view(review, stage(), showing=SHOWING, drafts={})
    pages = [batch_modal(replace(batch, page=page)) for page in range(5)]

    assert problems_in_message(root.blocks, root.text) == []
    assert len(root.blocks) <= 50
    assert [problems_in_view(page.view) for page in pages] == [[]] * 5
    shown = "".join(literal_texts([page.view for page in pages]))
    assert all(f"{number + 1} of 25" in shown for number in range(25))
    assert [offer.position for page in pages for offer in page.offers] == list(range(25))


def test_case_030_what_looks_like_markup_is_read_as_it_runs():
    args = {
        "glob": "send*rhubarb*.py",
        "q": "a_b_c ~x~",
        "t": "at 10:30:00 :skull: :true:",
        "code": "```\nend``` and `tick`",
        "url": "https://x.example/?a=1&b=2",
    }
    card = call_card(viewed(proposed(("rm", args))))

    assert set(args.values()) <= set(literal_texts(card.blocks))
    assert "approve" in card.offered


def test_case_035_editing_beside_a_hidden_value_keeps_it_and_never_sends_the_mask():
    args = {"url": "https://api.example.com/", "headers": {"Authorization": "Bearer FAKE-TOKEN-0002"}, "note": "plain"}
    tools = "      http: {redact: [headers]}\n"
    review = proposed(("http", args))
    action = review.actions[0]
    fields = fields_for(review, action, stage(tools).tenant)
    note = next(one.index for one in fields if one.name == "note")
    form = edit_modal(viewed(review, tools=tools), fields=views_of(fields)).view
    card = call_card(viewed(review, tools=tools))
    final = read_fields(action.args, fields, {note: "changed"}).final

    assert "FAKE-TOKEN" not in str([form, card.blocks, card.text])
    assert "hidden" in str(form)
    assert "1 value hidden" in str(card.blocks)
    assert json.loads(final) == {**args, "note": "changed"}
    assert "[hidden]" not in final


def test_case_035_every_shape_of_a_secret_is_hidden_in_the_channel_and_said():
    args = {"url": "https://api.example.com?token=FAKE-TOKEN-0001", "dsn": "postgres://u:FAKE-PW@db/x", "note": "plain"}
    card = call_card(viewed(proposed(("http", args))))

    assert "FAKE" not in str([card.blocks, card.text])
    assert "2 values hidden" in str(card.blocks)
    assert "plain" in literal_texts(card.blocks)
    assert "approve" not in card.offered

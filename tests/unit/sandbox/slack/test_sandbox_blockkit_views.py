"""Every limit of a view from the contract, and what a view must have."""

import pytest

from bot.sandbox.slack.blockkit.views import problems_in_view
from tests.kit.slack_sandbox import actions, button, field_block, home, marked, modal, plain, section, text_input

LENGTHS = {
    "title": (24, lambda n: modal(title=plain("x" * n)), "/view/title/text"),
    "submit": (24, lambda n: modal(submit=plain("x" * n)), "/view/submit/text"),
    "close": (24, lambda n: modal(close=plain("x" * n)), "/view/close/text"),
    "private_metadata": (3000, lambda n: modal(private_metadata="x" * n), "/view/private_metadata"),
    "callback_id": (255, lambda n: modal(callback_id="x" * n), "/view/callback_id"),
    "external_id": (255, lambda n: modal(external_id="x" * n), "/view/external_id"),
    "home's private_metadata": (3000, lambda n: home(private_metadata="x" * n), "/view/private_metadata"),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_the_longest_string_passes_and_a_longer_one_is_refused(name):
    most, make, pointer = LENGTHS[name]

    assert problems_in_view(make(most)) == []
    (problem,) = problems_in_view(make(most + 1))
    assert problem.error == "invalid_arguments"
    assert problem.line == f"[ERROR] must be less than {most + 1} characters [json-pointer:{pointer}]"


@pytest.mark.parametrize("make", [modal, home])
def test_hundred_blocks_pass_and_one_more_does_not(make):
    assert problems_in_view(make(*[section()] * 100)) == []
    assert [p.pointer for p in problems_in_view(make(*[section()] * 101))] == ["/view/blocks"]


def without(view, key):
    return {name: value for name, value in view.items() if name != key}


REFUSED = {
    "modal without title": (without(modal(), "title"), "/view"),
    "modal without blocks": (without(modal(), "blocks"), "/view"),
    "inputs without submit": (without(modal(), "submit"), "/view"),
    "title in mrkdwn": (modal(title=marked()), "/view/title/type"),
    "unknown key": (modal(colour="red"), "/view"),
    "a view as Slack returned it": (modal(hash="1.2"), "/view"),
    "unknown type": ({**modal(), "type": "sheet"}, "/view/type"),
    "home with a title": (home(title=plain()), "/view"),
    "same block_id twice": (modal(field_block("f"), field_block("f")), "/view/blocks/1/block_id"),
    "same action_id twice": (modal(actions(button("a"), button("a"))), "/view/blocks/0/elements/1/action_id"),
    "two in focus": (
        modal(
            field_block("1", element=text_input(focus_on_load=True)),
            field_block("2", element=text_input(focus_on_load=True)),
        ),
        "/view/blocks/1",
    ),
    "notify_on_close that is a string": (modal(notify_on_close="true"), "/view/notify_on_close"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_slack_does_not_know_is_refused(name):
    view, pointer = REFUSED[name]

    problems = problems_in_view(view)

    assert problems[0].error == "invalid_arguments"
    assert pointer in [problem.pointer for problem in problems]


def test_modal_without_inputs_needs_no_submit():
    assert problems_in_view(without(modal(section()), "submit")) == []


def test_view_over_250_kilobytes_is_too_large():
    blocks = [section("é" * 3000) for _ in range(14)]

    assert [p.error for p in problems_in_view(modal(*blocks))] == ["view_too_large"]
    assert problems_in_view(modal(*blocks[:13])) == []

"""Every state as pretty JSON that can be pasted into Block Kit Builder; refreshed with PLACET_UPDATE_SNAPSHOTS=1."""

import json
import os
from pathlib import Path

import pytest

from blocks.models import CallState
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view
from tests.kit.block_calls import action_ids
from tests.kit.block_states import CARDS, MESSAGES, VIEWS

FOLDER = Path(__file__).parents[2] / "snapshots"


def matches_its_snapshot(name, content):
    path = FOLDER / f"{name}.json"
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("PLACET_UPDATE_SNAPSHOTS") == "1":
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", MESSAGES)
def test_message_equals_its_snapshot(name):
    message = MESSAGES[name]
    assert matches_its_snapshot(name, {"text": message.text, "blocks": message.blocks})


@pytest.mark.parametrize("name", VIEWS)
def test_view_equals_its_snapshot(name):
    assert matches_its_snapshot(name, {"view": VIEWS[name].view})


def test_no_snapshot_is_left_behind_by_a_state_that_is_gone():
    assert {path.stem for path in FOLDER.glob("*.json")} == {*MESSAGES, *VIEWS}


@pytest.mark.parametrize("name", MESSAGES)
def test_slack_would_take_the_message_as_a_post_and_as_an_update(name):
    message = MESSAGES[name]
    assert problems_in_message(message.blocks, message.text) == []
    assert problems_in_message(message.blocks, message.text, update=True) == []


@pytest.mark.parametrize("name", VIEWS)
def test_slack_would_take_the_view(name):
    assert problems_in_view(VIEWS[name].view) == []


def test_every_state_of_a_call_has_a_snapshot():
    assert {call.state for call in CARDS.values()} == set(CallState)


@pytest.mark.parametrize("name", CARDS)
def test_a_card_that_is_not_open_to_decision_has_no_deciding_buttons(name):
    open_states = (CallState.WAITING, CallState.DECIDED)
    if CARDS[name].state not in open_states:
        assert set(action_ids(MESSAGES[name].blocks)) <= {"result.open", "operate"}


@pytest.mark.parametrize("name", CARDS)
def test_every_state_keeps_a_rich_text_block_so_that_updates_are_taken(name):
    assert any(block["type"] == "rich_text" for block in MESSAGES[name].blocks)

"""The short form of every card: Slack takes it, it names state, tool and person, and no button that is not there."""

import pytest

from blocks import words
from blocks.cards import call_card
from blocks.models import CallState, RootView
from blocks.roots import root_card
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.slack.outbound.drawing import shortened
from tests.kit.block_calls import action_ids
from tests.kit.block_states import CARDS


def note_is_true(blocks):
    said = str(blocks)
    leads = "review.open" in action_ids(blocks)
    return (words.NOT_DRAWN in said) is leads and (words.NOT_DRAWN_SETTLED in said) is not leads


@pytest.mark.parametrize("name", CARDS)
def test_a_card_keeps_its_state_tool_and_buttons(name):
    call = CARDS[name]
    short = shortened(call_card(call), "invalid_blocks", call)
    text = str(short.blocks)

    assert problems_in_message(short.blocks, short.text, update=True) == []
    assert note_is_true(short.blocks)
    assert "decide.approve" not in action_ids(short.blocks)
    assert call.state is CallState.WAITING or words.STATES[call.state] in text
    assert call.state is not CallState.WAITING or "review.open" in action_ids(short.blocks)
    assert call.decided is None or call.decided.user is None or f"<@{call.decided.user}>" in text


@pytest.mark.parametrize("reviewable", [True, False])
def test_a_batch_keeps_its_calls_states(reviewable):
    root = RootView("s_" + "a" * 26, tuple(CARDS.values()), reviewable=reviewable)
    short = shortened(root_card(root), "msg_blocks_too_long", root)

    assert problems_in_message(short.blocks, short.text, update=True) == []
    assert note_is_true(short.blocks)
    assert f"and {len(CARDS) - 8} more" in str(short.blocks)

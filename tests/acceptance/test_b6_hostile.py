"""B6 hostile text: what the agent wrote is read as it is, and does nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocks.cards import call_card
from blocks.modals import edit_modal
from blocks.models import CallView
from bot.core.argument_schema import NOTHING
from bot.core.editing import fields_of
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.views import problems_in_view
from bot.slack.windows.edit_form import views_of
from tests.kit.office import ADA, buttons
from tests.kit.steps import call, opened, says

NASTY = (
    "<!channel> <@U0BEN> <https://evil.example|Approve> *b* `x` ```\n```\u202e\u200b\u2066 &lt;!here&gt; :skull:"
    + "\n" * 60
)
CONTROLS = ("\u202e", "\u200b", "\u2066", "\x00", "\ud800")


def dicts(node):
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from dicts(inner)


def harmless(blocks):
    """No mention, link or markup of the agent's anywhere; what cannot be seen is written out."""
    for each in dicts(blocks):
        text = each.get("text")
        if each.get("type") in ("user", "usergroup", "broadcast", "link", "channel"):
            return False
        if isinstance(text, str) and (
            any(char in text for char in CONTROLS) or (each["type"] == "mrkdwn" and "<!" in text.replace("<!date", ""))
        ):
            return False
    return True


@pytest.mark.asyncio
async def test_b6_hostile_arguments_are_shown_literally_and_run_exactly(office_of):
    async with office_of() as office:
        thread = await office.propose(
            turns=[[call("send_email", to="a@x.example", subject="\u202efdp.exe", body=NASTY)]]
        )
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")

        assert harmless(card["blocks"])
        assert "\\u202efdp.exe" in json.dumps(card["blocks"]).replace("\\\\", "\\")
        assert "<!channel>" not in card["text"]
        assert "<@U0BEN>" not in card["text"]
        assert "⚠️" in says(card)
        assert next(one for one in buttons(card) if one.startswith("decide.")) == "decide.approve"
        await office.click(ADA, card, "decide.approve")
        await office.settled(thread)

        (effect,) = office.effects(thread)
        assert effect["args"] == {"to": "a@x.example", "subject": "\u202efdp.exe", "body": NASTY}


@pytest.mark.asyncio
async def test_b6_hostile_text_stays_literal_in_the_form_and_the_difference(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[[call("disable_user", user_id=NASTY, reason="<!here>\u202e")]])
        (review,) = await opened(office, thread)

        form = (await office.click(ADA, await office.card_of(review, button="decide.edit"), "decide.edit"))["view"]
        diff = (await office.submit(ADA, {"reason": json.dumps("<!channel>\u2066")}))["view"]

        assert harmless(form["blocks"])
        assert harmless(diff["blocks"])
        assert diff["callback_id"] == "edit.confirm"
        await office.submit(ADA)
        await office.settled(thread)
        (effect,) = office.effects(thread)
        assert effect["args"] == {"user_id": NASTY, "reason": "<!channel>\u2066"}


HOSTILE = st.lists(
    st.sampled_from([NASTY, "<!channel>", "\u202e", "\ud800", "\x00", "```", " " * 50, "\n" * 9, "é"])
    | st.text(max_size=9),
    max_size=5,
).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | HOSTILE, lambda inner: st.lists(inner, max_size=3), max_leaves=6
)


@given(HOSTILE, st.dictionaries(HOSTILE, VALUES, max_size=6), st.none() | HOSTILE)
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
def test_b6_no_name_argument_or_description_can_crowd_out_buttons_or_break_a_form(tool, tree, description):
    source = json.dumps(tree)
    fields = views_of(fields_of(source, NOTHING))
    view = CallView(
        "s_" + "a" * 26, tool or "x", source, ("approve", "edit", "reject"), description=description, typed=bool(fields)
    )

    card = call_card(view)
    form = edit_modal(view, fields=fields)

    assert problems_in_message(card.blocks, card.text, update=True) == []
    assert problems_in_view(form.view) == []
    assert harmless(card.blocks)
    assert "decide.reject" in [each.get("action_id") for each in dicts(card.blocks)]

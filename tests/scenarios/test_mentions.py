"""Whose telephone rings: whom the policy's `mention` names, and who asked for the call; nobody else, and nobody twice."""

from __future__ import annotations

import re

import pytest

from tests.kit.office import ADA, BEN, CLEO
from tests.kit.steps import call, change, opened, pause, resume, stands

pytestmark = pytest.mark.asyncio

MENTION = re.compile(r"<@([UW][A-Z0-9]+)|<!(subteam\^S[A-Z0-9]+|here|channel|everyone)")
ELEMENTS = {"user": "user_id", "usergroup": "usergroup_id", "broadcast": "range"}
WANTS = "      refund: {mention: [U0BEN, S0SUPPORT]}\n"


def called(node):
    """Whom blocks call: by elements of rich_text, and in the texts that Slack parses."""
    if isinstance(node, list):
        return {found for one in node for found in called(one)}
    if not isinstance(node, dict):
        return set()
    own = {node[name] for kind, name in ELEMENTS.items() if node.get("type") == kind and name in node}
    parsed = MENTION.findall(node["text"]) if node.get("type") == "mrkdwn" else []
    return own | {user or group for user, group in parsed} | called(list(node.values()))


def rings(message):
    """Everybody whom this message would call, had it just been posted."""
    return called(message.get("blocks") or []) | called({"type": "mrkdwn", "text": message["text"]})


async def test_a_posted_call_rings_whom_the_policy_names_and_who_asked_for_it(office_of):
    async with office_of(tools=WANTS) as office:
        hostile = "<!channel> <@U0ADA> <!subteam^S0SUPPORT>"
        wanted = await opened(office, await office.propose("refund"))
        plain = await opened(office, await office.propose(turns=[[call("disable_user", user_id=hostile, reason="r")]]))
        many = await opened(
            office, await office.propose(turns=[[call("send_email", to="a", subject="b", body="c")] * 3])
        )

        assert rings(await office.card_of(wanted[0])) == {CLEO, BEN, "subteam^S0SUPPORT"}
        assert rings(await office.card_of(plain[0])) == {CLEO}
        assert rings(await office.card_of(many[0], None)) == {CLEO}
        assert rings(await office.card_of(many[0], 2)) == set()


async def test_a_voided_decision_is_one_reply_in_the_thread_of_the_card_and_rings_nobody(office_of):
    async with office_of(tools=WANTS) as office:
        (review,) = await opened(office, await office.propose("one"))
        card = await office.card_of(review, button="decide.approve")
        await pause(office)
        await office.click(BEN, card, "decide.approve")
        await stands(office, review, "decided")
        await change(office, BEN, groups=[])
        office.advance(60_000)
        await resume(office)
        await stands(office, review, "open", why="voided_authority")

        reply = await office.card("needs a new one", without="decide.approve")
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.settled(review.thread_id)
        await office.card("Ran")

        replies = [one for one in await office.messages() if one.get("thread_ts") == card["ts"] != one["ts"]]
        assert [one["ts"] for one in replies] == [reply["ts"]]
        assert rings(reply) == set()
        assert office.ran() == ["disable_user"]

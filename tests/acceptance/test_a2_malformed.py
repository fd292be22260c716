"""A2 malformed: what Slack did not sign, or nobody could have sent, decides nothing and leaves a trace where it can."""

from __future__ import annotations

import json
import time
from urllib.parse import urlencode

import pytest

from bot.sandbox.slack.records import Channel
from tests.kit.crossing import ONE_AND_TWO
from tests.kit.forging import chosen, forge, post, pressed, showing_of, submitted, typed
from tests.kit.office import ADA, BEN, CLEO, DAN, policy_text
from tests.kit.steps import heard, opened, refusals, stands, start

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

NO_SHOWING = "s_" + "a" * 26
ONLY_ADA = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
"""
OTHER_TENANT = """\
  other:
    slack: {team: T0DEMO, channel: C0OTHER}
    agent: {url: "@AGENT@", kind: aegra, users: [others], assistant: agent_platform}
    watch: {every: 1s}
    reviewers:
      - {user: U0BEN, tools: ["*"], may: [approve, reject]}
"""


async def waiting(office):
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    return review, await office.card_of(review, button="decide.approve")


async def nothing_happened(office, review):
    """The review waits as before, and still takes a decision that is asked for properly."""
    assert (await stands(office, review, "open")).actions[0].decision is None
    assert office.ran(review.thread_id) == []
    assert heard(office, review.thread_id) == []
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
    await stands(office, review, "resumed")
    assert office.ran(review.thread_id) == ["disable_user"]


async def test_a2_malformed_what_slack_did_not_sign_is_refused(office_of):
    async with office_of() as office:
        review, card = await waiting(office)
        good = json.dumps(pressed(ADA, showing_of(card, "decide.approve"), "decide.approve"))
        body = urlencode({"payload": good})

        refused = {
            "another secret": await post(office, body, secret="not-the-secret"),
            "no signature": await post(office, body, without=("x-slack-signature",)),
            "no timestamp": await post(office, body, without=("x-slack-request-timestamp",)),
            "ten minutes old": await post(office, body, at=time.time() - 600),
            "from the future": await post(office, body, at=time.time() + 600),
            "another body's signature": await post(office, body, signed_body=body.replace(ADA, BEN)),
        }
        nonsense = (
            "payload=not+JSON",
            "payload=7",
            urlencode({"payload": '{"user": 7}'}),
            f"payload={'%5B' * 100_000}",
        )
        refused |= {text[:20]: await post(office, text, secret="not-the-secret") for text in (*nonsense, body[:-20])}
        unreadable = {text[:20]: await post(office, text) for text in nonsense}

        assert {what: answer.status_code for what, answer in refused.items()} == dict.fromkeys(refused, 401)
        assert {what: answer.status_code for what, answer in unreadable.items()} == dict.fromkeys(unreadable, 400)
        await nothing_happened(office, review)


async def test_a2_malformed_signed_nonsense_decides_nothing(office_of):
    async with office_of() as office:
        review, card = await waiting(office)
        good = pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card)
        form = submitted(ADA, showing_of(card, "decide.reject"), "reject", {"m.0": typed("message", "No.")})

        for body in (
            "payload=7",
            "payload=null",
            "payload=%5B%5D",
            "payload=",
            "",
            "nothing=1",
            "%",
            "payload=%7B%22type",
        ):
            await post(office, body)
        for cut in (40, -1):
            await post(office, urlencode({"payload": json.dumps(good)[:cut]}))
        for payload, parts in ((good, ("user", "actions", "type")), (form, ("user", "view", "type"))):
            for part in parts:
                for strange in (None, 7, [], {}, "x", [None]):
                    await forge(office, payload | {part: strange})

        await nothing_happened(office, review)


async def test_a2_malformed_what_no_card_of_ours_asks_is_refused_and_recorded(office_of):
    async with office_of() as office:
        review, card = await waiting(office)
        showing = showing_of(card, "decide.approve")

        await forge(office, pressed(ADA, showing, "decide.everything", card=card))
        await forge(office, pressed(ADA, NO_SHOWING, "decide.approve", card=card))
        await forge(office, pressed(ADA, "'; DROP TABLE reviews; --", "decide.approve", card=card))
        await forge(office, pressed(ADA, showing, "decide.approve", card=card, team="T0OTHER"))
        await forge(office, pressed(ADA, showing, "decide.approve", card=card, home="T0OTHER"))
        await forge(office, submitted(ADA, NO_SHOWING, "reject", {"m.0": typed("message", "No.")}))
        await forge(office, submitted(ADA, showing, "edit.confirm"))
        await forge(office, submitted(ADA, showing, "no.such.view", {"d.0": chosen("approve")}))

        reasons = [reason for user, reason in await refusals(office) if user == ADA]
        assert reasons.count("unknown_showing") >= 2
        assert {"other_workspace", "outsider"} <= set(reasons)
        await nothing_happened(office, review)


async def test_a2_malformed_another_persons_window_decides_nothing(office_of):
    async with office_of() as office:
        review, card = await waiting(office)
        window = (await office.click(BEN, card, "decide.reject"))["view"]["private_metadata"]
        field = {"m.0": typed("message", "Not mine.")}

        for user in (ADA, CLEO, DAN):
            answer = await forge(office, submitted(user, window, "reject", field))
            assert "too old to be traced" in answer.text
        answer = await forge(office, submitted(BEN, window, "respond", field))

        assert "does not allow this decision" in answer.text
        await nothing_happened(office, review)


async def test_a2_malformed_another_tenants_call_is_refused_to_its_neighbours_reviewers(office_of):
    async with office_of(kind="aegra", reviewers=ONLY_ADA) as office:
        office.world.add(Channel("C0OTHER", "other", "T0DEMO", frozenset(office.world.people)))
        ours = policy_text(office.agent.url, kind="aegra", reviewers=ONLY_ADA)
        await office.apply_policy(ours + OTHER_TENANT.replace("@AGENT@", office.agent.url))
        review, card = await waiting(office)
        theirs = await start(office, "ops", {"messages": [{"role": "user", "content": "sql"}]}, identity="others")
        (other,) = await opened(office, theirs)
        shown = office.world.messages["C0OTHER"]
        (their_card,) = [{"ts": one.ts, "blocks": list(one.blocks)} for one in shown.values()]

        await forge(office, pressed(BEN, showing_of(card, "decide.approve"), "decide.approve", card=card))
        await forge(office, pressed(ADA, showing_of(their_card, "decide.approve"), "decide.approve", card=card))

        assert await refusals(office) == [(BEN, "not_a_reviewer"), (ADA, "not_a_reviewer")]
        assert (await stands(office, other, "open")).actions[0].decision is None
        await nothing_happened(office, review)

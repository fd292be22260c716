"""A2 malformed: what Slack did not sign, or nobody could have sent, decides nothing."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from bot.sandbox.slack.records import Channel
from tests.acceptance.steps import call, heard, opened, stands
from tests.forging import chosen, forge, post, pressed, showing_of, submitted, typed
from tests.office import ADA, BEN, CHANNEL, policy_text

pytestmark = pytest.mark.asyncio

NO_SHOWING = "s_" + "a" * 26
OTHER_TENANT = f"""\
  other:
    slack: {{team: T0DEMO, channel: C0OTHER}}
    agent: {{url: "@AGENT@", kind: aegra, users: [others], assistant: agent_platform}}
    reviewers:
      - {{user: U0BEN, tools: ["*"], may: [approve, reject]}}
    tools: {{}}
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
        body = urlencode({"payload": json.dumps(pressed(ADA, showing_of(card, "decide.approve"), "decide.approve"))})

        answers = {
            "another secret": await post(office, body, secret="not-the-secret"),
            "no signature": await post(office, body, without=("x-slack-signature",)),
            "no timestamp": await post(office, body, without=("x-slack-request-timestamp",)),
            "ten minutes old": await post(office, body, at=time.time() - 600),
            "from the future": await post(office, body, at=time.time() + 600),
            "another body's signature": await post(office, body, signed_body=body.replace(ADA, BEN)),
            "cut off": await post(office, body[:-20], signed_body=body),
        }

        assert {what: answer.status_code for what, answer in answers.items()} == dict.fromkeys(answers, 401)
        await nothing_happened(office, review)


async def test_a2_malformed_signed_nonsense_is_refused(office_of):
    async with office_of() as office:
        review, card = await waiting(office)
        showing = showing_of(card, "decide.approve")
        good = pressed(ADA, showing, "decide.approve", card=card)

        raw = ["payload=%7B%22type%22", "payload=7", "payload=null", "payload=%5B%5D", "payload=", "", "nothing=1", "%"]
        raw += [urlencode({"payload": json.dumps(good)[:cut]}) for cut in (1, 40, -1)]
        answers = [await post(office, body) for body in raw]
        parts = ("user", "team", "actions", "type", "container")
        answers += [await forge(office, {key: good[key] for key in good if key != part}) for part in ("user", "actions", "type")]
        answers += [await forge(office, good | {part: strange}) for part in parts for strange in (None, 7, [], "x")]

        # A payload without its container is a press all the same: who and what are named. It may decide, once.
        assert [answer.status_code for answer in answers if answer.status_code >= 500] == []

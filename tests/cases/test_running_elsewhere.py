"""Presses from another workspace, from guests and outsiders, with ids that nobody gave out, and requests that Slack never sent."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from urllib.parse import urlencode

import pytest

from bot.sandbox.slack.records import Member
from bot.sandbox.slack.seed import add_foreigner, add_team
from tests.kit.forging import forge
from tests.kit.office import ADA, CHANNEL, GUS
from tests.kit.running import TEAM, approve, button, events, office_in, press_of
from tests.kit.sights import undecided

pytestmark = pytest.mark.asyncio


EVERYBODY = "".join(
    f'      - {{user: {user}, tools: ["*"], may: [approve, edit, reject, respond]}}\n'
    for user in (ADA, GUS, "U0EXT", "U0TWIN")
)


# -- from elsewhere

FOREIGN = [
    {"team": "T0OTHER", "home": "T0OTHER"},
    {"team": "T0OTHER", "home": TEAM},
    {"team": TEAM, "home": "T0OTHER"},
    {"team": None, "home": "T0OTHER", "enterprise": {"id": "E0X"}},
    {"team": None, "home": None, "enterprise": {"id": "E0X"}},
]
UNKNOWN = ["s_" + "a" * 26, "1", "", "r_1", '{"thread_id": "th-2", "showing": 1}', "s_" + "a" * 26 + " ", "\u0000"]


async def test_case_039_a_press_from_another_workspace_never_decides(tmp_path):
    async with office_in(tmp_path) as office:
        add_team(office.world, "T0OTHER", people=[Member("U0TWIN", "Twin", "T0OTHER")])
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        showing = button(card, "decide.approve")["value"]

        for number, claims in enumerate(FOREIGN):
            for action_id in ("decide.approve", "decide.reject"):
                payload = press_of({**card, "ts": f"{number}.1"}, action_id, value=showing, **claims)
                answer = await forge(office, payload)
                assert answer.status_code == 200

        assert await undecided(office, thread)
        assert (await office.click(ADA, card, "decide.reject"))["view"]["callback_id"] == "reject"


async def test_case_039_an_unknown_or_altered_id_decides_nothing_and_tells_nothing(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        showing = button(card, "decide.approve")["value"]

        for number, value in enumerate(
            [*UNKNOWN, showing[:-1] + ("a" if showing[-1] != "a" else "b"), showing.upper()]
        ):
            for action_id in ("decide.approve", "decide.edit", "review.open", "decide.everything"):
                payload = press_of({**card, "ts": f"{number}.1"}, action_id, value=value)
                assert (await forge(office, payload)).status_code == 200

        told = await office.told(ADA)
        assert "too old to be traced" in told
        assert "u_4821" not in told
        assert await undecided(office, thread)


async def test_case_040_guests_and_people_from_outside_are_refused_even_where_the_policy_names_them(tmp_path):
    async with office_in(tmp_path, reviewers=EVERYBODY) as office:
        add_foreigner(office.world, Member("U0EXT", "Ext", "T0PARTNER"), channel=CHANNEL)
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        for user, reason in ((GUS, "Guests cannot"), ("U0EXT", "outside this workspace")):
            await approve(office, user, card)
            assert reason in await office.told(user)
        refused = await undecided(office, thread)
        await approve(office, ADA, card)
        await office.settled(thread)

        assert refused
        assert office.ran(thread) == ["disable_user"]


# -- requests that Slack did not send


def signed_by(secret, body, *, age=0):
    stamp = str(int(time.time()) - age)
    proof = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={proof}"}


async def test_case_042_a_request_that_slack_did_not_sign_just_now_is_turned_away_and_leaves_no_trace(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        payload = press_of(card, "decide.approve", value=button(card, "decide.approve")["value"])
        body = urlencode({"payload": json.dumps(payload)})
        secret = office.settings.slack_signing_secret
        good = signed_by(secret, body)
        bad = [
            {},
            {**good, "X-Slack-Signature": ""},
            {**good, "X-Slack-Signature": "v0=" + "0" * 64},
            {**good, "X-Slack-Request-Timestamp": "soon"},
            {"X-Slack-Signature": good["X-Slack-Signature"]},
            signed_by(secret, body, age=301),
            signed_by(secret, body, age=-301),
            signed_by("another-apps-secret", body),
            signed_by("", body),
            signed_by(secret, body + " "),
        ]
        form = {"content-type": "application/x-www-form-urlencoded"}
        answers = [await office.bots[0].post("/slack/events", content=body, headers={**form, **one}) for one in bad]

        assert [answer.status_code for answer in answers] == [401] * len(bad)
        assert await events(office, "decision.made", "press.refused") == []
        assert await undecided(office, thread)

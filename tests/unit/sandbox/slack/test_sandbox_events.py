"""Events: the envelope, the retries, and which change tells the app what."""

import pytest
from starlette.responses import Response

from bot.sandbox.slack.seed import EVENTS, add_team, make_world
from tests.kit.slack_sandbox import FAST, home, open_workspace


def types(slack):
    return [payload["event"]["type"] for payload in slack.bot.seen]


@pytest.mark.asyncio
async def test_event_comes_in_its_outer_envelope(slack):
    answer = await slack.do("event", event={"type": "channel_shared", "channel": "C0APPROVALS"})

    (payload,) = slack.bot.seen
    assert answer == {"status": 200}
    assert (payload["type"], payload["team_id"], payload["api_app_id"]) == ("event_callback", "T0DEMO", "A0PLACET")
    assert (payload["event"]["type"], payload["event"]["channel"]) == ("channel_shared", "C0APPROVALS")
    assert payload["event_id"].startswith("Ev")
    assert payload["authorizations"] == [
        {
            "enterprise_id": None,
            "team_id": "T0DEMO",
            "user_id": "U0BOT",
            "is_bot": True,
            "is_enterprise_install": False,
        }
    ]


@pytest.mark.asyncio
async def test_failed_event_is_tried_three_times_more_with_the_same_id():
    async with open_workspace(reply=lambda payload: 500) as slack:
        await slack.do("event", event={"type": "user_change"})
        assert await slack.world.bell.until(lambda: len(slack.world.deliveries) == 4, 5)

    assert len({payload["event_id"] for payload in slack.bot.seen}) == 1
    headers = [request.headers for request in slack.bot.requests]
    assert [h.get("x-slack-retry-num") for h in headers] == [None, "1", "2", "3"]
    assert [h.get("x-slack-retry-reason") for h in headers[1:]] == ["http_error"] * 3


@pytest.mark.asyncio
async def test_retries_end_with_the_first_success():
    answers = iter([500, 202])
    async with open_workspace(reply=lambda payload: next(answers)) as slack:
        await slack.do("event", event={"type": "user_change"})
        assert await slack.world.bell.until(lambda: len(slack.world.deliveries) == 2, 5)

    assert slack.world.deliveries[-1].status == 202


@pytest.mark.asyncio
async def test_app_can_decline_retries():
    async with open_workspace(reply=lambda p: Response("", 500, headers={"x-slack-no-retry": "1"})) as slack:
        await slack.do("event", event={"type": "user_change"})
        await slack.do("event", event={"type": "user_change"})

    assert len(slack.bot.seen) == 2


@pytest.mark.asyncio
async def test_opening_the_home_tab_tells_the_app_and_shows_what_it_publishes():
    async def reply(payload):
        await slack.call("views.publish", user_id=payload["event"]["user"], view=home())

    async with open_workspace(reply=reply) as slack:
        first = await slack.look("home", user="U0ADA")
        second = await slack.look("home", user="U0ADA")

    assert first["view"]["type"] == "home"
    assert second["view"]["hash"] != first["view"]["hash"]
    assert types(slack) == ["app_home_opened", "app_home_opened"]
    assert slack.bot.seen[1]["event"]["view"]["id"] == first["view"]["id"]
    assert slack.bot.seen[0]["event"]["tab"] == "home"


@pytest.mark.asyncio
async def test_changed_account_is_told_and_a_silent_change_is_not(slack):
    await slack.do("people", id="U0DAN", deleted=True)
    await slack.do("people", id="U0DAN", deleted=False, silent=True)

    assert types(slack) == ["user_change"]
    assert slack.bot.seen[0]["event"]["user"]["deleted"] is True
    assert slack.world.people["U0DAN"].deleted is False


@pytest.mark.asyncio
async def test_changed_group_tells_who_came_and_went_and_then_the_group(slack):
    await slack.do("people", id="U0BEN", groups=[])
    await slack.do("people", id="U0DAN", groups=["S0SUPPORT"])

    delta, group, *_ = (payload["event"] for payload in slack.bot.seen)
    assert types(slack) == ["subteam_members_changed", "subteam_updated"] * 2
    assert (delta["removed_users"], delta["added_users"], delta["removed_users_count"]) == (["U0BEN"], [], 1)
    assert (group["subteam"]["users"], group["subteam"]["user_count"]) == ([], 0)
    assert slack.world.groups["S0SUPPORT"].users == ("U0DAN",)


@pytest.mark.asyncio
async def test_archiving_is_told_once():
    async with open_workspace(
        make_world(rules=FAST, events=[*EVENTS, "channel_archive", "channel_unarchive"])
    ) as slack:
        await slack.do("channels", id="C0APPROVALS", archived=True)
        await slack.do("channels", id="C0APPROVALS", archived=True, remove=["U0GUS"])
        await slack.do("channels", id="C0APPROVALS", archived=False)

    assert types(slack) == ["channel_archive", "channel_unarchive"]
    assert "U0GUS" not in slack.world.channels["C0APPROVALS"].members


@pytest.mark.asyncio
async def test_deleted_message_is_told_to_those_who_subscribe():
    async with open_workspace(make_world(rules=FAST, events=[*EVENTS, "message.channels"])) as slack:
        ts = await slack.post()
        await slack.do("delete-message", channel="C0APPROVALS", ts=ts)

    (payload,) = slack.bot.seen
    event = payload["event"]
    assert (event["type"], event["subtype"], event["deleted_ts"]) == ("message", "message_deleted", ts)


@pytest.mark.asyncio
async def test_deleted_message_is_not_told_to_others(slack):
    await slack.do("delete-message", channel="C0APPROVALS", ts=await slack.post())

    assert slack.bot.seen == []


@pytest.mark.asyncio
async def test_uninstalling_says_farewell_and_then_nothing_more(slack):
    await slack.do("installation", team="T0DEMO", status="account_inactive")
    await slack.do("people", id="U0DAN", deleted=True)

    assert types(slack) == ["app_uninstalled", "tokens_revoked"]
    assert slack.bot.seen[1]["event"]["tokens"] == {"oauth": [], "bot": ["U0BOT"]}


@pytest.mark.asyncio
async def test_event_goes_to_the_workspace_it_belongs_to():
    world = make_world(rules=FAST)
    add_team(world, "T0OTHER")
    async with open_workspace(world) as slack:
        await slack.do("event", event={"type": "user_change"}, team="T0OTHER")

    assert slack.bot.seen[0]["authorizations"][0]["team_id"] == "T0OTHER"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("people", {"id": "U0NOBODY", "deleted": True}),
        ("people", {"id": "U0DAN", "groups": ["S0NONE"]}),
        ("channels", {"id": "C0NOWHERE"}),
        ("delete-message", {"channel": "C0APPROVALS", "ts": "1.000001"}),
        ("event", {"event": {"type": "x"}, "team": "T0NONE"}),
        ("installation", {"team": "T0NONE"}),
    ],
)
async def test_changing_what_is_not_there_is_refused(slack, name, body):
    response = await slack.http.post(f"/sandbox/{name}", json=body)

    assert response.status_code == 404
    assert "exists" in response.json()

"""auth.test, conversations.*, users.*, usergroups.*: tokens, scopes, rates, pages, and who can see what."""

from dataclasses import replace

import pytest

from bot.sandbox.slack.records import Channel, Group, Member
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import add_foreigner, add_team, make_world
from tests.kit.slack_sandbox import EVERY_SCOPE, FAST, Clock, open_workspace

META = {"event_type": "placet_review", "event_payload": {"review": "r_1"}}


@pytest.mark.asyncio
async def test_auth_test_says_whose_token_it_is(slack):
    answer = await slack.call("auth.test")

    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T0DEMO", "U0BOT", "B0PLACET")


@pytest.mark.asyncio
async def test_answers_name_the_tokens_scopes_in_a_header(slack):
    response = await slack.http.post("/api/auth.test", headers={"authorization": "Bearer xoxb-demo"})

    assert set(response.headers["x-oauth-scopes"].split(",")) == EVERY_SCOPE


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-wrong", "invalid_auth"), ("xapp-demo", "not_allowed_token_type")],
    ids=["none", "unknown", "app-level"],
)
async def test_bad_token_is_refused(slack, token, error):
    assert (await slack.call("auth.test", token=token))["error"] == error


@pytest.mark.asyncio
@pytest.mark.parametrize("status", ["token_revoked", "account_inactive"])
async def test_dead_token_is_answered_with_what_became_of_it(slack, status):
    await slack.do("installation", team="T0DEMO", status=status)

    assert (await slack.call("chat.postMessage", channel="C0APPROVALS", text="x"))["error"] == status
    await slack.do("installation", team="T0DEMO", status="active")
    assert (await slack.call("chat.postMessage", channel="C0APPROVALS", text="x"))["ok"]


@pytest.mark.asyncio
async def test_missing_scope_is_named_with_what_the_token_has(slack):
    await slack.do("installation", team="T0DEMO", scopes=["commands"])

    answer = await slack.call("users.info", user="U0ADA")

    assert (answer["error"], answer["needed"], answer["provided"]) == ("missing_scope", "users:read", "commands")


@pytest.mark.asyncio
async def test_unknown_method_is_named(slack):
    answer = await slack.call("chat.shout")

    assert (answer["error"], answer["req_method"]) == ("unknown_method", "chat.shout")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("content", "kind", "error"),
    [
        ("{", "application/json", "invalid_json"),
        ("[]", "application/json", "json_not_object"),
        ("x", "text/plain", "invalid_post_type"),
    ],
    ids=["cut off", "list", "plain text"],
)
async def test_body_that_is_no_arguments_is_refused(slack, content, kind, error):
    headers = {"authorization": "Bearer xoxb-demo", "content-type": kind}

    answer = (await slack.http.post("/api/auth.test", content=content, headers=headers)).json()

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_history_is_newest_first_without_replies_and_tells_metadata_only_on_request(slack):
    first = await slack.post(metadata=META)
    second = await slack.post()
    await slack.call("chat.postMessage", channel="C0APPROVALS", text="reply", thread_ts=first)

    short = await slack.call("conversations.history", channel="C0APPROVALS")
    full = await slack.call("conversations.history", channel="C0APPROVALS", include_all_metadata=True)

    assert [m["ts"] for m in short["messages"]] == [second, first]
    assert short["messages"][1]["metadata"] == {"event_type": "placet_review"}
    assert full["messages"][1]["metadata"] == META


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({"oldest": 1}, [2]),
        ({"oldest": 1, "inclusive": True}, [2, 1]),
        ({"latest": 1}, [0]),
        ({"latest": 1, "inclusive": True}, [1, 0]),
        ({"oldest": 0, "latest": 2}, [1]),
    ],
    ids=["oldest", "oldest inclusive", "latest", "latest inclusive", "both"],
)
async def test_history_bounds_are_exclusive_unless_inclusive(slack, bounds, found):
    posted = [await slack.post() for _ in range(3)]
    times = {key: posted[value] if key != "inclusive" else value for key, value in bounds.items()}

    answer = await slack.call("conversations.history", channel="C0APPROVALS", **times)

    assert [m["ts"] for m in answer["messages"]] == [posted[i] for i in found]


@pytest.mark.asyncio
async def test_history_bound_in_whole_seconds_is_understood(slack):
    ts = await slack.post()
    second = int(ts.partition(".")[0])

    answer = await slack.call("conversations.history", channel="C0APPROVALS", oldest=str(second - 60))

    assert [m["ts"] for m in answer["messages"]] == [ts]


@pytest.mark.asyncio
async def test_history_is_read_a_page_at_a_time(slack):
    posted = [await slack.post() for _ in range(5)]
    seen, cursor = [], None
    while cursor != "":
        args = {"cursor": cursor} if cursor else {}
        answer = await slack.call("conversations.history", channel="C0APPROVALS", limit=2, **args)
        seen += [m["ts"] for m in answer["messages"]]
        cursor = answer.get("response_metadata", {}).get("next_cursor", "")
        assert answer["has_more"] == bool(cursor)

    assert seen == posted[::-1]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"channel": "C0GENERAL"}, "not_in_channel"),
        ({"channel": "C0NOWHERE"}, "channel_not_found"),
        ({"channel": "C0SECRET"}, "channel_not_found"),
        ({"oldest": "yesterday"}, "invalid_ts_oldest"),
        ({"latest": "now"}, "invalid_ts_latest"),
        ({"cursor": "!!"}, "invalid_cursor"),
        ({"limit": 1000}, "invalid_limit"),
        ({"limit": "many"}, "invalid_arguments"),
    ],
    ids=["no member", "no channel", "private", "oldest", "latest", "cursor", "limit", "no number"],
)
async def test_history_is_refused_with_slacks_error(slack, args, error):
    slack.world.add(Channel("C0SECRET", "secret", "T0DEMO", frozenset({"U0ADA"}), "private"))

    answer = await slack.call("conversations.history", **{"channel": "C0APPROVALS", **args})

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_private_channels_need_their_own_scope():
    async with open_workspace(make_world(scopes=["channels:history", "channels:read"])) as slack:
        slack.world.add(Channel("C0SECRET", "secret", "T0DEMO", frozenset({"U0BOT"}), "private"))

        history = await slack.call("conversations.history", channel="C0SECRET")
        info = await slack.call("conversations.info", channel="C0SECRET")

    assert (history["error"], history["needed"]) == ("missing_scope", "groups:history")
    assert (info["error"], info["needed"]) == ("missing_scope", "groups:read")


@pytest.mark.asyncio
async def test_replies_of_no_thread_are_not_found(slack):
    answer = await slack.call("conversations.replies", channel="C0APPROVALS", ts="1.000001")

    assert answer["error"] == "thread_not_found"


@pytest.mark.asyncio
async def test_conversations_info_tells_archived_and_shared_channels(slack):
    add_foreigner(slack.world, Member("U0EVE", "Eve", "T0OTHER"), channel="C0APPROVALS")
    await slack.do("channels", id="C0APPROVALS", archived=True)

    channel = (await slack.call("conversations.info", channel="C0APPROVALS"))["channel"]

    assert (channel["is_archived"], channel["is_ext_shared"], channel["is_member"]) == (True, True, True)


@pytest.mark.asyncio
async def test_members_are_listed_in_pages(slack):
    first = await slack.call("conversations.members", channel="C0APPROVALS", limit=4)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await slack.call("conversations.members", channel="C0APPROVALS", limit=4, cursor=cursor)

    assert first["members"] + rest["members"] == ["U0ADA", "U0BEN", "U0BOT", "U0CLEO", "U0DAN", "U0GUS"]


@pytest.mark.asyncio
async def test_conversations_open_gives_the_channel_that_posting_uses(slack):
    opened = await slack.call("conversations.open", users="U0ADA")
    posted = await slack.call("chat.postMessage", channel="U0ADA", text="hi")

    assert opened["channel"]["id"] == posted["channel"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("users", "error"),
    [
        ("", "users_list_not_supplied"),
        ("U0NOBODY", "user_not_found"),
        ("U0ADA,U0BEN", "too_many_users"),
        ("U0DAN", "user_disabled"),
    ],
    ids=["none", "unknown", "two", "deactivated"],
)
async def test_conversations_open_is_refused_with_slacks_error(slack, users, error):
    await slack.do("people", id="U0DAN", deleted=True)

    assert (await slack.call("conversations.open", users=users))["error"] == error


@pytest.mark.asyncio
async def test_users_info_tells_guests_deactivated_people_and_bots_apart(slack):
    await slack.do("people", id="U0DAN", deleted=True)

    found = {user: (await slack.call("users.info", user=user))["user"] for user in ("U0ADA", "U0GUS", "U0DAN", "U0BOT")}

    assert (found["U0ADA"]["is_restricted"], found["U0ADA"]["deleted"]) == (False, False)
    assert found["U0GUS"]["is_restricted"] is True
    assert found["U0DAN"]["deleted"] is True
    assert found["U0BOT"]["is_bot"] is True


@pytest.mark.asyncio
async def test_users_info_tells_people_from_outside(slack):
    add_foreigner(slack.world, Member("U0EVE", "Eve", "T0OTHER"), channel="C0APPROVALS")
    slack.world.add(Member("U0MAL", "Mal", "T0OTHER"))

    eve = (await slack.call("users.info", user="U0EVE"))["user"]
    mal = (await slack.call("users.info", user="U0MAL"))["user"]

    assert (eve["team_id"], eve["is_stranger"], mal["is_stranger"]) == ("T0OTHER", False, True)


@pytest.mark.asyncio
async def test_people_of_an_organisation_carry_its_id_and_workspaces():
    world = make_world()
    person = Member("W0ORG", "Ora", "T0ORGA")
    add_team(world, "T0ORGA", people=[person], enterprise="E0ORG")
    add_team(world, "T0ORGB", enterprise="E0ORG")
    async with open_workspace(world) as slack:
        user = (await slack.call("users.info", user="W0ORG", token="xoxb-orga"))["user"]

    assert user["enterprise_user"] == {"id": "W0ORG", "enterprise_id": "E0ORG", "teams": ["T0ORGA", "T0ORGB"]}


@pytest.mark.asyncio
async def test_locale_is_told_only_where_asked_for(slack):
    plain = await slack.call("users.info", user="U0ADA")
    asked = await slack.call("users.info", user="U0ADA", include_locale=True)

    assert ("locale" in plain["user"], asked["user"]["locale"]) == (False, "en-US")


@pytest.mark.asyncio
async def test_group_members_leave_deactivated_people_out(slack):
    slack.world.add(Group("S0SUPPORT", "support", "T0DEMO", ("U0BEN", "U0DAN")))
    await slack.do("people", id="U0DAN", deleted=True)

    assert (await slack.call("usergroups.users.list", usergroup="S0SUPPORT"))["users"] == ["U0BEN"]


@pytest.mark.asyncio
async def test_disabled_group_is_no_group_unless_asked_for(slack):
    slack.world.add(replace(slack.world.groups["S0SUPPORT"], date_delete=1))

    gone = await slack.call("usergroups.users.list", usergroup="S0SUPPORT")
    there = await slack.call("usergroups.users.list", usergroup="S0SUPPORT", include_disabled="true")
    listed = await slack.call("usergroups.list")

    assert (gone["error"], there["users"], listed["usergroups"]) == ("no_such_subteam", ["U0BEN"], [])


@pytest.mark.asyncio
async def test_another_workspaces_group_is_none():
    world = make_world()
    other = add_team(world, "T0OTHER")
    async with open_workspace(world) as slack:
        answer = await slack.call("usergroups.users.list", usergroup="S0SUPPORT", token=other.token)

    assert answer["error"] == "no_such_subteam"


@pytest.mark.asyncio
async def test_twenty_first_group_read_in_a_minute_is_limited_until_the_minute_is_over():
    clock = Clock()
    async with open_workspace(make_world(clock=clock)) as slack:
        for _ in range(20):
            assert (await slack.call("usergroups.users.list", usergroup="S0SUPPORT"))["ok"]
        clock.now += 20
        refused = await slack.http.post(
            "/api/usergroups.users.list",
            json={"usergroup": "S0SUPPORT"},
            headers={"authorization": "Bearer xoxb-demo"},
        )
        clock.now += 40
        later = await slack.call("usergroups.users.list", usergroup="S0SUPPORT")

    assert (refused.status_code, refused.json()["error"], refused.headers["retry-after"]) == (429, "ratelimited", "40")
    assert later["ok"]


@pytest.mark.asyncio
async def test_strict_rates_hold_back_posts_to_one_channel_but_not_to_another():
    rules = Rules(strict_rates=True)
    async with open_workspace(make_world(clock=Clock(), rules=rules)) as slack:
        burst = [await slack.call("chat.postMessage", channel="C0APPROVALS", text="x") for _ in range(6)]
        elsewhere = await slack.call("chat.postMessage", channel="U0ADA", text="x")

    assert [answer.get("error") for answer in burst] == [None] * 5 + ["ratelimited"]
    assert elsewhere["ok"]


@pytest.mark.asyncio
async def test_strict_rates_hold_updates_to_fifty_a_minute_over_all_channels():
    async with open_workspace(make_world(clock=Clock(), rules=replace(FAST, strict_rates=True))) as slack:
        ts = await slack.post()
        answers = [await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text=str(n)) for n in range(51)]

    assert [a["ok"] for a in answers] == [True] * 50 + [False]


@pytest.mark.asyncio
async def test_calls_are_kept_with_their_errors(slack):
    await slack.call("chat.postMessage", channel="C0NOWHERE", text="x")

    (call,) = await slack.look("calls", method="chat.postMessage")
    assert (call["error"], call["team_id"], call["args"]["channel"]) == ("channel_not_found", "T0DEMO", "C0NOWHERE")


@pytest.mark.asyncio
async def test_unknown_person_is_not_found(slack):
    assert (await slack.call("users.info", user="U0NOBODY"))["error"] == "user_not_found"


@pytest.mark.asyncio
async def test_number_of_members_is_told_where_asked_for(slack):
    answer = await slack.call("conversations.info", channel="C0APPROVALS", include_num_members="true")

    assert answer["channel"]["num_members"] == 6


@pytest.mark.asyncio
async def test_direct_conversation_has_no_name(slack):
    channel = (await slack.call("conversations.open", users="U0ADA"))["channel"]["id"]

    info = (await slack.call("conversations.info", channel=channel))["channel"]

    assert (info["is_im"], "name" in info) == (True, False)


@pytest.mark.asyncio
async def test_auth_test_names_the_organisation():
    world = make_world()
    add_team(world, "T0ORGA", enterprise="E0ORG")
    async with open_workspace(world) as slack:
        assert (await slack.call("auth.test", token="xoxb-orga"))["enterprise_id"] == "E0ORG"


@pytest.mark.asyncio
async def test_groups_are_listed_with_their_members_where_asked_for(slack):
    (short,) = (await slack.call("usergroups.list", include_count=True))["usergroups"]
    (full,) = (await slack.call("usergroups.list", include_users=True))["usergroups"]

    assert ("users" in short, short["user_count"], full["users"]) == (False, 1, ["U0BEN"])

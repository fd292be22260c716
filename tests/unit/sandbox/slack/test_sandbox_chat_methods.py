"""chat.*: what is stored, what is refused, and with which of Slack's errors."""

import json
from dataclasses import replace

import pytest

from bot.sandbox.slack.records import Member
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import add_foreigner, add_team, make_world
from tests.kit.slack_sandbox import EVERY_SCOPE, actions, button, open_workspace, section

META = {"event_type": "placet_review", "event_payload": {"review": "r_1"}}


def rich(text="x"):
    elements = [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}]
    return {"type": "rich_text", "block_id": "r", "elements": elements}


@pytest.mark.asyncio
async def test_post_is_shown_in_its_channel_with_ids_and_defaults_filled_in(slack):
    answer = await slack.call("chat.postMessage", channel="C0APPROVALS", text="hi", blocks=[section("*hi*")])

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert (message["ts"], message["user"], message["text"]) == (answer["ts"], "U0BOT", "hi")
    assert message["blocks"][0]["block_id"]
    assert message["blocks"][0]["text"] == {"type": "mrkdwn", "text": "*hi*", "verbatim": False}


@pytest.mark.asyncio
async def test_form_body_with_json_strings_is_taken_like_a_json_body(slack):
    form = {"token": "xoxb-demo", "channel": "C0APPROVALS", "text": "hi", "blocks": json.dumps([section()])}

    answer = (await slack.http.post("/api/chat.postMessage", data=form)).json()

    assert answer["ok"]
    assert answer["message"]["blocks"][0]["type"] == "section"


@pytest.mark.asyncio
async def test_refused_blocks_are_answered_in_slacks_shape(slack):
    answer = await slack.call("chat.postMessage", channel="C0APPROVALS", text="t", blocks=[section("x" * 3001)])

    assert answer["ok"] is False
    assert answer["error"] == "invalid_blocks"
    line = "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    assert answer["response_metadata"]["messages"] == [line]
    assert await slack.look("messages", channel="C0APPROVALS") == []


@pytest.mark.asyncio
async def test_text_over_forty_thousand_characters_is_cut_with_a_warning(slack):
    answer = await slack.call("chat.postMessage", channel="C0APPROVALS", text="x" * 40_001)

    assert answer["warning"] == "message_truncated"
    assert len(answer["message"]["text"]) == 40_000


POST_ERRORS = {
    "no such channel": ({"channel": "C0NOWHERE"}, "channel_not_found"),
    "bot not in the channel": ({"channel": "C0GENERAL"}, "not_in_channel"),
    "no such person": ({"channel": "U0NOBODY"}, "channel_not_found"),
    "nothing to show": ({"text": ""}, "no_text"),
    "blocks that are no JSON": ({"blocks": "[{"}, "invalid_blocks_format"),
    "unknown thread": ({"thread_ts": "1.000001"}, "cannot_reply_to_message"),
    "metadata without payload": ({"metadata": {"event_type": "x"}}, "invalid_metadata_format"),
    "metadata that is no object": ({"metadata": [1]}, "invalid_metadata_format"),
    "nested metadata": ({"metadata": {"event_type": "x", "event_payload": {"a": {"b": 1}}}}, "invalid_metadata_schema"),
    "list of objects": ({"metadata": {"event_type": "x", "event_payload": {"a": [{}]}}}, "invalid_metadata_schema"),
    "large metadata": ({"metadata": {"event_type": "x", "event_payload": {"a": "x" * 9000}}}, "metadata_too_large"),
    "attachments": ({"attachments": [{"text": "x"}]}, "invalid_arguments"),
    "no channel": ({"channel": ""}, "invalid_arguments"),
    "text over the total": ({"blocks": [section("x" * 3000) for _ in range(5)]}, "msg_blocks_too_long"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", POST_ERRORS)
async def test_post_is_refused_with_slacks_error(slack, name):
    args, error = POST_ERRORS[name]

    answer = await slack.call("chat.postMessage", **{"channel": "C0APPROVALS", "text": "hi", **args})

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_post_into_an_archived_channel_is_refused_and_so_is_an_update(slack):
    ts = await slack.post()
    await slack.do("channels", id="C0APPROVALS", archived=True)

    posted = await slack.call("chat.postMessage", channel="C0APPROVALS", text="hi")
    updated = await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="hi")

    assert (posted["error"], updated["error"]) == ("is_archived", "is_inactive")


@pytest.mark.asyncio
async def test_post_to_a_person_goes_to_one_direct_channel(slack):
    first = await slack.call("chat.postMessage", channel="U0ADA", text="hi")
    second = await slack.call("chat.postMessage", channel="U0ADA", text="again")

    assert first["channel"].startswith("D")
    assert first["channel"] == second["channel"]


@pytest.mark.asyncio
async def test_post_to_a_deactivated_person_finds_no_channel(slack):
    await slack.do("people", id="U0DAN", deleted=True)

    assert (await slack.call("chat.postMessage", channel="U0DAN", text="hi"))["error"] == "channel_not_found"


@pytest.mark.asyncio
async def test_public_scope_lets_the_bot_post_where_it_is_no_member():
    world = make_world(scopes=["chat:write", "chat:write.public"])
    async with open_workspace(world) as slack:
        assert (await slack.call("chat.postMessage", channel="C0GENERAL", text="hi"))["ok"]


@pytest.mark.asyncio
async def test_reply_stands_in_its_thread_and_marks_the_parent(slack):
    parent = await slack.post()
    reply = await slack.call("chat.postMessage", channel="C0APPROVALS", text="done", thread_ts=parent)

    answer = await slack.call("conversations.replies", channel="C0APPROVALS", ts=parent)

    assert [m["ts"] for m in answer["messages"]] == [parent, reply["ts"]]
    assert answer["messages"][0]["reply_count"] == 1


@pytest.mark.asyncio
async def test_reply_to_a_reply_is_refused(slack):
    parent = await slack.post()
    reply = await slack.call("chat.postMessage", channel="C0APPROVALS", text="done", thread_ts=parent)

    answer = await slack.call("chat.postMessage", channel="C0APPROVALS", text="x", thread_ts=reply["ts"])

    assert answer["error"] == "cannot_reply_to_message"


@pytest.mark.asyncio
async def test_update_with_text_alone_deletes_the_blocks_and_marks_the_message_edited(slack):
    ts = await slack.post()

    await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="settled")

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert (message["text"], message["blocks"], message["edited"]) == ("settled", [], True)


@pytest.mark.asyncio
async def test_update_with_blocks_replaces_both_without_an_edited_mark(slack):
    ts = await slack.post()

    await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="new", blocks=[section("new", block_id="n")])

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert (message["text"], message["blocks"][0]["block_id"], message["edited"]) == ("new", "n", False)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("args", "kept"), [({}, META), ({"metadata": {}}, None), ({"metadata": "{}"}, None)], ids=["left out", "{}", "form"]
)
async def test_update_keeps_metadata_that_is_left_out_and_removes_it_for_an_empty_object(slack, args, kept):
    ts = await slack.post(metadata=META)

    await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="x", blocks=[section()], **args)

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert message["metadata"] == kept


UPDATE_ERRORS = {
    "no such message": ({"ts": "1.000001"}, "message_not_found"),
    "no such channel": ({"channel": "C0NOWHERE"}, "channel_not_found"),
    "a person's id for a channel": ({"channel": "U0ADA"}, "channel_not_found"),
    "text over 4,000": ({"text": "x" * 4001}, "msg_too_long"),
    "bad blocks": ({"blocks": [{"type": "nope"}]}, "invalid_blocks"),
    "nothing left": ({"text": ""}, "no_text"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", UPDATE_ERRORS)
async def test_update_is_refused_with_slacks_error(slack, name):
    args, error = UPDATE_ERRORS[name]
    ts = await slack.post()

    answer = await slack.call("chat.update", **{"channel": "C0APPROVALS", "ts": ts, "text": "x", **args})

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_rich_text_may_not_give_way_to_other_blocks_where_the_rules_say_so():
    async with open_workspace(make_world(rules=Rules(block_mismatch=True))) as slack:
        ts = await slack.post(rich())
        args = {"channel": "C0APPROVALS", "ts": ts, "text": "x"}

        assert (await slack.call("chat.update", blocks=[section()], **args))["error"] == "block_mismatch"
        assert (await slack.call("chat.update", blocks=[rich("y"), section()], **args))["ok"]


@pytest.mark.asyncio
async def test_delete_of_a_lone_message_removes_it(slack):
    ts = await slack.post()

    assert (await slack.call("chat.delete", channel="C0APPROVALS", ts=ts))["ok"]

    assert await slack.look("messages", channel="C0APPROVALS") == []
    assert (await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="x"))["error"] == "message_not_found"


@pytest.mark.asyncio
async def test_deleted_parent_of_a_thread_leaves_a_tombstone_that_cannot_be_updated(slack):
    parent = await slack.post()
    await slack.call("chat.postMessage", channel="C0APPROVALS", text="reply", thread_ts=parent)

    await slack.call("chat.delete", channel="C0APPROVALS", ts=parent)

    replies = await slack.call("conversations.replies", channel="C0APPROVALS", ts=parent)
    assert replies["messages"][0]["subtype"] == "tombstone"
    updated = await slack.call("chat.update", channel="C0APPROVALS", ts=parent, text="x")
    assert updated["error"] == "message_not_found"


@pytest.mark.asyncio
async def test_ephemeral_is_seen_by_its_person_only_and_no_method_reaches_it(slack):
    sent = {"channel": "C0APPROVALS", "user": "U0DAN", "text": "not you", "blocks": [section("not you")]}
    answer = await slack.call("chat.postEphemeral", **sent)

    assert [e["text"] for e in await slack.look("ephemerals", user="U0DAN")] == ["not you"]
    assert await slack.look("ephemerals", user="U0ADA") == []
    assert await slack.look("messages", channel="C0APPROVALS") == []
    update = await slack.call("chat.update", channel="C0APPROVALS", ts=answer["message_ts"], text="x")
    assert update["error"] == "message_not_found"


@pytest.mark.asyncio
async def test_ephemeral_in_a_thread_is_seen_only_once_the_thread_has_a_reply(slack):
    parent = await slack.post()
    sent = {"channel": "C0APPROVALS", "user": "U0DAN", "text": "psst", "thread_ts": parent}

    await slack.call("chat.postEphemeral", **sent)
    assert await slack.look("ephemerals", user="U0DAN") == []
    await slack.call("chat.postMessage", channel="C0APPROVALS", text="reply", thread_ts=parent)
    await slack.call("chat.postEphemeral", **sent)

    assert len(await slack.look("ephemerals", user="U0DAN")) == 1


EPHEMERAL_ERRORS = {
    "no member": ({"user": "U0NOBODY"}, "user_not_in_channel"),
    "too long": ({"text": "x" * 4001}, "msg_too_long"),
    "nothing to show": ({"text": ""}, "no_text"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", EPHEMERAL_ERRORS)
async def test_ephemeral_is_refused_with_slacks_error(slack, name):
    args, error = EPHEMERAL_ERRORS[name]

    answer = await slack.call("chat.postEphemeral", **{"channel": "C0APPROVALS", "user": "U0DAN", "text": "x", **args})

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_permalink_names_workspace_channel_and_message(slack):
    ts = await slack.post(actions(button()))

    answer = await slack.call("chat.getPermalink", channel="C0APPROVALS", message_ts=ts)

    assert answer["permalink"] == f"https://demo.slack.com/archives/C0APPROVALS/p{ts.replace('.', '')}"


@pytest.mark.asyncio
async def test_lone_surrogate_in_a_text_survives_the_way_there_and_back(slack):
    body = json.dumps({"channel": "C0APPROVALS", "text": "a\ud800b"})
    headers = {"authorization": "Bearer xoxb-demo", "content-type": "application/json; charset=utf-8"}

    await slack.http.post("/api/chat.postMessage", content=body, headers=headers)

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert message["text"] == "a\ud800b"


@pytest.mark.asyncio
async def test_message_of_another_bot_can_be_neither_updated_nor_deleted():
    world = make_world()
    other = add_team(world, "T0OTHER")
    place = world.channels["C0APPROVALS"]
    world.add(replace(place, members=place.members | {other.bot_user}, shared_with=("T0OTHER",)))
    async with open_workspace(world) as slack:
        ts = await slack.post()
        named = {"channel": "C0APPROVALS", "ts": ts, "token": other.token}

        updated = await slack.call("chat.update", text="mine", **named)
        deleted = await slack.call("chat.delete", **named)

    assert (updated["error"], deleted["error"]) == ("cant_update_message", "cant_delete_message")


@pytest.mark.asyncio
async def test_app_without_a_messages_tab_cannot_write_to_people():
    world = make_world(scopes=EVERY_SCOPE)
    world.app = replace(world.app, messages_tab=False)
    async with open_workspace(world) as slack:
        to_person = await slack.call("chat.postMessage", channel="U0ADA", text="hi")
        channel = (await slack.call("conversations.open", users="U0ADA"))["channel"]["id"]
        to_channel = await slack.call("chat.postMessage", channel=channel, text="hi")

    assert (to_person["error"], to_channel["error"]) == ("messages_tab_disabled", "messages_tab_disabled")


@pytest.mark.asyncio
async def test_person_of_another_workspace_is_written_to_only_where_a_channel_is_shared(slack):
    add_foreigner(slack.world, Member("U0EVE", "Eve", "T0OTHER"), channel="C0APPROVALS")
    slack.world.add(Member("U0MAL", "Mal", "T0OTHER"))

    assert (await slack.call("chat.postMessage", channel="U0EVE", text="hi"))["ok"]
    assert (await slack.call("chat.postMessage", channel="U0MAL", text="hi"))["error"] == "channel_not_found"


@pytest.mark.asyncio
async def test_permalink_of_no_message_is_refused(slack):
    answer = await slack.call("chat.getPermalink", channel="C0APPROVALS", message_ts="1.000001")

    assert answer["error"] == "message_not_found"

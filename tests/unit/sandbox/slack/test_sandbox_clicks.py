"""Clicking: the payloads that the app gets, and what the person sees afterwards."""

import asyncio

import pytest
from starlette.responses import Response

from bot.sandbox.slack.client import WARNING
from bot.sandbox.slack.records import Channel, Member
from bot.sandbox.slack.seed import add_foreigner, add_team, make_world
from tests.kit.slack_sandbox import (
    FAST,
    actions,
    button,
    choice,
    field_block,
    home,
    modal,
    open_workspace,
    option,
    plain,
    section,
    text_input,
)


@pytest.mark.asyncio
async def test_click_on_a_message_sends_block_actions(slack):
    ts = await slack.post(actions(button(style="primary")))

    outcome = await slack.click(ts, wait_s=0)

    (payload,) = slack.bot.seen
    assert outcome == {"acked": True, "status": 200, "error": None, "view": None, "errors": {}}
    assert payload["type"] == "block_actions"
    assert payload["team"] == {"id": "T0DEMO", "domain": "demo"}
    assert payload["user"] == {"id": "U0ADA", "username": "ada", "name": "ada", "team_id": "T0DEMO"}
    assert payload["api_app_id"] == "A0PLACET"
    assert (payload["enterprise"], payload["is_enterprise_install"]) == (None, False)
    assert payload["container"] == {
        "type": "message",
        "message_ts": ts,
        "channel_id": "C0APPROVALS",
        "is_ephemeral": False,
    }
    assert payload["channel"] == {"id": "C0APPROVALS", "name": "approvals"}
    assert (payload["message"]["ts"], payload["message"]["bot_id"]) == (ts, "B0PLACET")
    assert payload["state"] == {"values": {}}
    assert payload["response_url"].startswith("http://127.0.0.1/actions/T0DEMO/")
    (action,) = payload["actions"]
    assert action.pop("action_ts")
    assert action == {
        "type": "button",
        "action_id": "go",
        "block_id": "act",
        "text": {"type": "plain_text", "text": "Go", "emoji": True},
        "value": "s_1",
        "style": "primary",
    }


@pytest.mark.asyncio
async def test_metadata_does_not_travel_with_a_click(slack):
    ts = await slack.post(metadata={"event_type": "x", "event_payload": {"id": "1"}})

    await slack.click(ts, wait_s=0)

    assert "metadata" not in slack.bot.seen[0]["message"]


@pytest.mark.asyncio
async def test_click_in_a_thread_names_the_thread(slack):
    parent = await slack.post()
    reply = await slack.post(thread_ts=parent)

    await slack.click(reply, wait_s=0)

    payload = slack.bot.seen[0]
    assert (payload["container"]["thread_ts"], payload["message"]["thread_ts"]) == (parent, parent)


@pytest.mark.asyncio
async def test_click_on_an_ephemeral_shows_the_app_a_reduced_message(slack):
    sent = {"channel": "C0APPROVALS", "user": "U0ADA", "text": "only you", "blocks": [actions()]}
    ts = (await slack.call("chat.postEphemeral", **sent))["message_ts"]

    outcome = await slack.click(ts, wait_s=0)
    refused = await slack.click(ts, user="U0BEN", wait_s=0)

    payload = slack.bot.seen[0]
    assert outcome["acked"]
    assert payload["container"]["is_ephemeral"] is True
    assert payload["message"] == {"type": "message", "ts": ts}
    assert "no message" in refused["error"]


@pytest.mark.asyncio
async def test_click_in_a_modal_carries_the_view_and_no_channel(slack):
    view = await slack.open(modal(field_block(), actions(button("more"))))

    await slack.do("click", user="U0ADA", view_id=view["id"], action_id="more", wait_s=0)

    payload = slack.bot.seen[-1]
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert payload["view"]["state"]["values"] == {"f": {"v": {"type": "plain_text_input", "value": None}}}
    assert (payload["view"]["hash"], payload["view"]["app_installed_team_id"]) == (view["hash"], "T0DEMO")
    assert not {"channel", "message", "response_url"} & set(payload)


@pytest.mark.asyncio
async def test_click_in_the_home_tab_opens_a_modal_with_its_trigger(slack):
    view = (await slack.call("views.publish", user_id="U0ADA", view=home(actions())))["view"]

    await slack.do("click", user="U0ADA", view_id=view["id"], action_id="go", wait_s=0)
    opened = await slack.call("views.open", trigger_id=slack.bot.seen[-1]["trigger_id"], view=modal())

    assert slack.bot.seen[-1]["view"]["type"] == "home"
    assert opened["ok"]


@pytest.mark.asyncio
async def test_person_from_outside_keeps_their_own_team_in_the_payload(slack):
    add_foreigner(slack.world, Member("U0EVE", "Eve", "T0OTHER"), channel="C0APPROVALS")

    await slack.click(await slack.post(), user="U0EVE", wait_s=0)

    payload = slack.bot.seen[0]
    assert (payload["team"]["id"], payload["user"]["team_id"]) == ("T0DEMO", "T0OTHER")


@pytest.mark.asyncio
async def test_two_clicks_have_two_triggers_and_two_times(slack):
    ts = await slack.post()

    await asyncio.gather(slack.click(ts, wait_s=0), slack.click(ts, wait_s=0))

    first, second = slack.bot.seen
    assert first["trigger_id"] != second["trigger_id"]
    assert first["actions"][0]["action_ts"] != second["actions"][0]["action_ts"]


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [404, 500, 204])
async def test_other_status_than_200_shows_a_warning_at_the_button(status):
    async with open_workspace(reply=lambda payload: status) as slack:
        outcome = await slack.click(await slack.post())

    assert (outcome["acked"], outcome["status"], outcome["error"]) == (False, status, WARNING)


@pytest.mark.asyncio
async def test_late_ack_shows_a_warning_at_the_button():
    async def never(payload):
        await asyncio.Event().wait()

    async with open_workspace(reply=never) as slack:
        outcome = await slack.click(await slack.post())

    assert (outcome["acked"], outcome["status"], outcome["error"]) == (False, None, WARNING)


@pytest.mark.asyncio
async def test_click_waits_for_the_modal_that_the_app_opens_after_its_ack():
    opening = []

    def reply(payload):
        if payload["type"] == "block_actions":
            view = slack.call("views.open", trigger_id=payload["trigger_id"], view=modal(callback_id="edit"))
            opening.append(asyncio.get_running_loop().create_task(view))

    async with open_workspace(reply=reply) as slack:
        outcome = await slack.click(await slack.post())
        await asyncio.gather(*opening)

    assert outcome["view"]["callback_id"] == "edit"


@pytest.mark.asyncio
async def test_click_goes_on_waiting_while_the_opening_call_is_under_way():
    opening = []

    def reply(payload):
        view = slack.call("views.open", trigger_id=payload["trigger_id"], view=modal())
        opening.append(asyncio.get_running_loop().create_task(view))

    async with open_workspace(reply=reply) as slack:
        await slack.do("faults", method="views.open", delay_s=4 * FAST.quiet_seconds)
        outcome = await slack.click(await slack.post())
        await asyncio.gather(*opening)

    assert outcome["view"] is not None


@pytest.mark.asyncio
async def test_click_in_a_modal_shows_the_view_as_the_app_updated_it():
    def reply(payload):
        if payload.get("view"):
            update = slack.call("views.update", view_id=payload["view"]["id"], view=modal(section("new")))
            updating.append(asyncio.get_running_loop().create_task(update))

    updating = []
    async with open_workspace(reply=reply) as slack:
        view = await slack.open(modal(actions(button("more"))))
        outcome = await slack.do("click", user="U0ADA", view_id=view["id"], action_id="more")
        await asyncio.gather(*updating)

    assert outcome["view"]["blocks"][0]["text"]["text"] == "new"


@pytest.mark.asyncio
async def test_choice_in_a_dispatching_input_is_sent_and_kept(slack):
    view = await slack.open(modal(field_block(element=choice("radio_buttons", "a", "b"), dispatch_action=True)))

    await slack.do("click", user="U0ADA", view_id=view["id"], action_id="v", selected_option="b", wait_s=0)

    payload = slack.bot.seen[-1]
    chosen = option("b") | {"text": plain("b") | {"emoji": True}}
    assert payload["actions"][0]["selected_option"] == chosen
    assert payload["view"]["state"]["values"]["f"]["v"] == {"type": "radio_buttons", "selected_option": chosen}


@pytest.mark.asyncio
async def test_choice_in_an_input_that_does_not_dispatch_cannot_be_clicked(slack):
    view = await slack.open(modal(field_block(element=choice())))

    refused = await slack.do("click", user="U0ADA", view_id=view["id"], action_id="v", value="b")

    assert "dispatch_action" in refused["error"]


ELEMENTS = {
    "select": (choice("static_select", "a", "b"), "b", {"selected_option": option("b")}),
    "checkboxes": (choice("checkboxes", "a", "b"), ["a", "b"], {"selected_options": [option("a"), option("b")]}),
    "overflow": (choice("overflow", "a", "b"), "a", {"selected_option": option("a")}),
    "users": ({"type": "users_select", "action_id": "v"}, "U0BEN", {"selected_user": "U0BEN"}),
    "date": ({"type": "datepicker", "action_id": "v"}, "2026-12-01", {"selected_date": "2026-12-01"}),
    "untouched date": (
        {"type": "datepicker", "action_id": "v", "initial_date": "2026-12-01"},
        None,
        {"selected_date": "2026-12-01"},
    ),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ELEMENTS)
async def test_each_kind_of_element_sends_its_own_value(slack, name):
    element, value, expected = ELEMENTS[name]
    ts = await slack.post(actions(element))

    await slack.click(ts, action_id="v", value=value, wait_s=0)

    (action,) = slack.bot.seen[0]["actions"]
    sent = {key: action[key] for key in expected}
    assert _without_emoji(sent) == expected


def _without_emoji(node):
    if isinstance(node, list):
        return [_without_emoji(item) for item in node]
    if isinstance(node, dict):
        return {key: _without_emoji(value) for key, value in node.items() if key != "emoji"}
    return node


@pytest.mark.asyncio
async def test_state_of_a_message_holds_its_inputs_initial_values(slack):
    ts = await slack.post(field_block(element=text_input(initial_value="x")), actions())

    await slack.click(ts, wait_s=0)

    assert slack.bot.seen[0]["state"]["values"] == {"f": {"v": {"type": "plain_text_input", "value": "x"}}}


NOWHERE = {
    "person": ({"user": "U0NOBODY"}, 404, "U0ADA"),
    "channel": ({"channel": "C0NOWHERE"}, 404, "C0APPROVALS"),
    "message": ({"ts": "1.000001"}, 404, "no message"),
    "button": ({"action_id": "stop"}, 404, "act/go"),
    "block": ({"block_id": "elsewhere"}, 404, "act/go"),
    "view": ({"view_id": "V1", "channel": None, "ts": None}, 404, "no view"),
    "place": ({"channel": None}, 422, "a click is in a message"),
    "unknown key": ({"button": "go"}, 422, "button"),
    "number for a ts": ({"ts": 1.5}, 422, "ts"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NOWHERE)
async def test_click_on_what_is_not_there_says_what_is(slack, name):
    change, status, says = NOWHERE[name]
    body = {"user": "U0ADA", "channel": "C0APPROVALS", "ts": await slack.post(), "action_id": "go", **change}

    response = await slack.http.post("/sandbox/click", json=body)

    assert response.status_code == status
    assert says in response.json()["error"]
    assert slack.bot.seen == []


@pytest.mark.asyncio
async def test_message_in_a_private_channel_cannot_be_clicked_by_others(slack):
    slack.world.add(Channel("C0SECRET", "secret", "T0DEMO", frozenset({"U0BOT", "U0ADA"}), "private"))
    ts = await slack.post(channel="C0SECRET")

    response = await slack.http.post(
        "/sandbox/click", json={"user": "U0DAN", "channel": "C0SECRET", "ts": ts, "action_id": "go"}
    )

    assert response.status_code == 422


@pytest.mark.asyncio
async def test_covered_modal_cannot_be_clicked(slack):
    root = await slack.open(modal(actions(button("more"))))
    await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=modal())

    response = await slack.http.post(
        "/sandbox/click", json={"user": "U0ADA", "view_id": root["id"], "action_id": "more"}
    )

    assert response.status_code == 404


@pytest.mark.asyncio
async def test_first_of_several_buttons_with_one_action_id_is_pressed_unless_a_block_is_named(slack):
    ts = await slack.post(actions(button(value="1"), block_id="one"), actions(button(value="2"), block_id="two"))

    await slack.click(ts, wait_s=0)
    await slack.click(ts, block_id="two", wait_s=0)

    assert [payload["actions"][0]["value"] for payload in slack.bot.seen] == ["1", "2"]


@pytest.mark.asyncio
async def test_app_without_an_address_never_answers():
    world = make_world(rules=FAST)
    async with open_workspace(world) as slack:
        ts = await slack.post()
        world.app = type(world.app)("A0PLACET", "xapp-demo", "secret", None)
        outcome = await slack.click(ts)

    assert (outcome["acked"], outcome["status"]) == (False, None)


@pytest.mark.asyncio
async def test_body_of_an_ack_to_a_click_is_of_no_interest():
    async with open_workspace(reply=lambda payload: Response("whatever")) as slack:
        outcome = await slack.click(await slack.post(), wait_s=0)

    assert outcome["acked"]


@pytest.mark.asyncio
async def test_payload_names_the_organisation_of_the_workspace():
    world = make_world(rules=FAST)
    add_team(world, "T0ORGA", people=[Member("W0ORG", "Ora", "T0ORGA")], enterprise="E0ORG")
    async with open_workspace(world) as slack:
        ts = await slack.post(channel="C0ORGAAPPROVALS", token="xoxb-orga")
        await slack.do("click", user="W0ORG", channel="C0ORGAAPPROVALS", ts=ts, action_id="go", wait_s=0)
        await slack.do("command", user="W0ORG", channel="C0ORGAAPPROVALS", command="/placet")

    clicked, typed = slack.bot.seen
    assert (clicked["team"]["enterprise_id"], clicked["enterprise"]["id"]) == ("E0ORG", "E0ORG")
    assert typed["enterprise_id"] == "E0ORG"


@pytest.mark.asyncio
async def test_person_whom_the_app_cannot_meet_has_no_home(slack):
    slack.world.add(Member("U0MAL", "Mal", "T0NOWHERE"))

    response = await slack.http.get("/sandbox/home", params={"user": "U0MAL"})

    assert response.status_code == 404


@pytest.mark.asyncio
async def test_option_that_is_not_offered_cannot_be_chosen(slack):
    ts = await slack.post(actions(choice("static_select", "a", "b")))

    assert "there are ['a', 'b']" in (await slack.click(ts, action_id="v", value="z"))["error"]

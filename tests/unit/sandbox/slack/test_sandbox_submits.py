"""Submitting and closing modals: what the client checks, what is sent, and what each answer does."""

import asyncio

import pytest
from starlette.responses import Response

from bot.sandbox.slack.client import REQUIRED, TROUBLE
from tests.kit.slack_sandbox import (
    actions,
    button,
    choice,
    field_block,
    modal,
    open_workspace,
    option,
    plain,
    section,
    text_input,
)


def answering(answer):
    """An app that acknowledges clicks and gives this answer to submissions."""
    return lambda payload: answer if payload["type"] == "view_submission" else None


def number(**more):
    return {"type": "number_input", "action_id": "v", "is_decimal_allowed": True, **more}


@pytest.mark.asyncio
async def test_submission_carries_view_and_state_but_no_channel(slack):
    view = await slack.open(modal(callback_id="edit", private_metadata="s_1"))

    outcome = await slack.do("submit", user="U0ADA", values={"Why": "because"})

    payload = slack.bot.seen[-1]
    assert outcome == {"acked": True, "status": 200, "error": None, "view": None, "errors": {}}
    assert payload["type"] == "view_submission"
    assert payload["view"]["id"] == view["id"]
    assert (payload["view"]["callback_id"], payload["view"]["private_metadata"]) == ("edit", "s_1")
    assert payload["view"]["state"]["values"] == {"f": {"v": {"type": "plain_text_input", "value": "because"}}}
    assert payload["response_urls"] == []
    assert payload["trigger_id"]
    assert not {"channel", "message", "response_url", "container"} & set(payload)


UNTOUCHED = {
    "text": (text_input(), "value", None),
    "text with initial value": (text_input(initial_value="x"), "value", "x"),
    "number": (number(initial_value="12.70"), "value", "12.70"),
    "radio": (choice(initial_option=option("b")), "selected_option", option("b")),
    "select": (choice("static_select"), "selected_option", None),
    "checkboxes": (choice("checkboxes"), "selected_options", []),
    "user": ({"type": "users_select", "action_id": "v"}, "selected_user", None),
    "date": ({"type": "datepicker", "action_id": "v"}, "selected_date", None),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", UNTOUCHED)
async def test_untouched_field_comes_back_as_its_initial_value_or_null(slack, name):
    element, key, value = UNTOUCHED[name]
    await slack.open(modal(field_block(element=element, optional=True)))

    await slack.do("submit", user="U0ADA")

    sent = slack.bot.seen[-1]["view"]["state"]["values"]["f"]["v"][key]
    if isinstance(sent, dict):
        sent["text"].pop("emoji")
    assert sent == value


ENTERED = {
    "by value": (choice(), "b", "selected_option", "b"),
    "by text": (choice(options=[option("a", "Yes"), option("b", "No")]), "No", "selected_option", "b"),
    "select": (choice("static_select"), "a", "selected_option", "a"),
    "number as text": (number(), "12.70", "value", "12.70"),
    "number": (number(), 5, "value", "5"),
    "user": ({"type": "users_select", "action_id": "v"}, "U0BEN", "selected_user", "U0BEN"),
    "moment": ({"type": "datetimepicker", "action_id": "v"}, 1796040000, "selected_date_time", 1796040000),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ENTERED)
async def test_entered_value_is_sent_in_the_elements_own_shape(slack, name):
    element, entered, key, value = ENTERED[name]
    await slack.open(modal(field_block(element=element)))

    await slack.do("submit", user="U0ADA", values={"f": entered})

    sent = slack.bot.seen[-1]["view"]["state"]["values"]["f"]["v"][key]
    assert (sent["value"] if isinstance(sent, dict) else sent) == value


@pytest.mark.asyncio
async def test_several_checkboxes_are_ticked_with_a_list(slack):
    await slack.open(modal(field_block(element=choice("checkboxes", "a", "b", "c"))))

    await slack.do("submit", user="U0ADA", values={"f": ["a", "c"]})

    ticked = slack.bot.seen[-1]["view"]["state"]["values"]["f"]["v"]["selected_options"]
    assert [o["value"] for o in ticked] == ["a", "c"]


@pytest.mark.asyncio
async def test_emptied_field_is_null(slack):
    await slack.open(modal(field_block(element=text_input(initial_value="x"), optional=True)))

    await slack.do("submit", user="U0ADA", values={"f": ""})

    assert slack.bot.seen[-1]["view"]["state"]["values"]["f"]["v"]["value"] is None


CLIENT_ERRORS = {
    "required": (text_input(), "", REQUIRED),
    "required choice": (choice(), None, REQUIRED),
    "required ticks": (choice("checkboxes"), [], REQUIRED),
    "too long": (text_input(max_length=3), "abcd", "Please use at most 3 characters."),
    "too short": (text_input(min_length=3), "ab", "Please use at least 3 characters."),
    "no number": (number(), "five", "Please enter a valid number."),
    "not a number": (number(), "NaN", "Please enter a valid number."),
    "no whole number": (number(is_decimal_allowed=False), "5.5", "Please enter a whole number."),
    "too small": (number(min_value="1"), "0", "Please enter a number of at least 1."),
    "too large": (number(max_value="9"), "10", "Please enter a number of at most 9."),
    "no email": ({"type": "email_text_input", "action_id": "v"}, "ada", "Please enter a valid email address."),
    "no url": ({"type": "url_text_input", "action_id": "v"}, "example", "Please enter a valid URL."),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", CLIENT_ERRORS)
async def test_client_refuses_before_anything_is_sent(slack, name):
    element, entered, error = CLIENT_ERRORS[name]
    await slack.open(modal(field_block(element=element)))

    outcome = await slack.do("submit", user="U0ADA", values={"f": entered})

    assert (outcome["acked"], outcome["status"], outcome["errors"]) == (False, None, {"f": error})
    assert [payload["type"] for payload in slack.bot.seen] == ["block_actions"]


@pytest.mark.asyncio
async def test_errors_in_the_answer_stand_at_their_fields_and_the_modal_stays():
    answer = {"response_action": "errors", "errors": {"f": "Too short"}}
    async with open_workspace(reply=answering(answer)) as slack:
        view = await slack.open()
        outcome = await slack.do("submit", user="U0ADA", values={"f": "x"})
        shown = await slack.look("modal", user="U0ADA")

    assert (outcome["acked"], outcome["error"], outcome["errors"]) == (True, None, {"f": "Too short"})
    assert outcome["view"]["id"] == view["id"]
    assert (shown["errors"], shown["state"]["f"]["v"]["value"]) == ({"f": "Too short"}, "x")


@pytest.mark.asyncio
async def test_errors_are_gone_once_the_next_submission_is_taken():
    answers = iter([{"response_action": "errors", "errors": {"f": "no"}}, 500])
    reply = lambda payload: next(answers) if payload["type"] == "view_submission" else None  # noqa: E731
    async with open_workspace(reply=reply) as slack:
        await slack.open()
        await slack.do("submit", user="U0ADA", values={"f": "x"})
        outcome = await slack.do("submit", user="U0ADA")

    assert outcome["errors"] == {}


TROUBLES = {
    "a body of ok": "ok",
    "status 500": 500,
    "status 404": 404,
    "status 201": Response("", 201),
    "empty object": {},
    "list": [1],
    "unknown action": {"response_action": "explode"},
    "errors for no input": {"response_action": "errors", "errors": {"elsewhere": "no"}},
    "errors for a button's block": {"response_action": "errors", "errors": {"act": "no"}},
    "errors by action_id": {"response_action": "errors", "errors": {"v": "no"}},
    "no errors": {"response_action": "errors", "errors": {}},
    "errors left out": {"response_action": "errors"},
    "errors that are no text": {"response_action": "errors", "errors": {"f": 5}},
    "invalid update": {"response_action": "update", "view": modal(title=plain("x" * 25))},
    "update without a view": {"response_action": "update"},
    "invalid push": {"response_action": "push", "view": {"type": "modal"}},
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", TROUBLES)
async def test_answer_that_slack_cannot_act_on_is_trouble_and_the_modal_stays(name):
    async with open_workspace(reply=answering(TROUBLES[name])) as slack:
        view = await slack.open(modal(field_block(), actions()))
        outcome = await slack.do("submit", user="U0ADA", values={"f": "x"})
        shown = await slack.look("modal", user="U0ADA")

    assert (outcome["error"], outcome["view"]["id"]) == (TROUBLE, view["id"])
    assert (shown["notice"], shown["state"]["f"]["v"]["value"]) == (TROUBLE, "x")


@pytest.mark.asyncio
async def test_late_answer_is_trouble_and_pressing_again_sends_a_second_submission():
    async def late(payload):
        if payload["type"] == "view_submission" and len(slack.bot.seen) == 2:
            await asyncio.Event().wait()

    async with open_workspace(reply=late) as slack:
        view = await slack.open()
        first = await slack.do("submit", user="U0ADA", values={"f": "x"})
        second = await slack.do("submit", user="U0ADA")

    assert (first["error"], first["status"]) == (TROUBLE, None)
    assert (second["error"], second["view"]) == (None, None)
    assert [p["view"]["id"] for p in slack.bot.seen[1:]] == [view["id"], view["id"]]


@pytest.mark.asyncio
async def test_update_in_the_answer_replaces_the_view_under_its_id():
    answer = {"response_action": "update", "view": modal(section("done"), callback_id="done")}
    async with open_workspace(reply=answering(answer)) as slack:
        view = await slack.open()
        outcome = await slack.do("submit", user="U0ADA", values={"f": "x"})

    assert (outcome["view"]["id"], outcome["view"]["callback_id"]) == (view["id"], "done")
    assert outcome["view"]["hash"] != view["hash"]


@pytest.mark.asyncio
async def test_push_in_the_answer_stacks_a_view_and_closing_it_shows_the_one_below():
    answer = {"response_action": "push", "view": modal(section("sure?"), callback_id="confirm")}
    async with open_workspace(reply=answering(answer)) as slack:
        view = await slack.open()
        pushed = await slack.do("submit", user="U0ADA", values={"f": "x"})
        slack.bot.reply = answering(None)
        closed = await slack.do("submit", user="U0ADA")

    assert (pushed["view"]["callback_id"], pushed["view"]["previous_view_id"]) == ("confirm", view["id"])
    assert closed["view"]["id"] == view["id"]


@pytest.mark.asyncio
async def test_fourth_view_in_an_answer_is_trouble():
    answer = {"response_action": "push", "view": modal(section())}
    async with open_workspace(reply=answering(answer)) as slack:
        await slack.open(modal(section()))
        outcomes = [await slack.do("submit", user="U0ADA") for _ in range(3)]

    assert [o["error"] for o in outcomes] == [None, None, TROUBLE]


@pytest.mark.asyncio
async def test_clear_in_the_answer_closes_the_whole_stack():
    async with open_workspace(reply=answering({"response_action": "clear"})) as slack:
        await slack.open(modal(actions(button("more"))))
        await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=modal(section()))
        outcome = await slack.do("submit", user="U0ADA")
        shown = await slack.look("modal", user="U0ADA")

    assert outcome["view"] is None
    assert shown["stack"] == 0


@pytest.mark.asyncio
async def test_choice_in_a_dispatching_input_is_sent_before_later_values_are_entered():
    def reply(payload):
        if payload["type"] == "block_actions" and payload.get("view"):
            shown = modal(decision, field_block("m", "Reason"))
            later.append(asyncio.ensure_future(slack.call("views.update", view_id=payload["view"]["id"], view=shown)))

    later = []
    decision = field_block("d", "Decision", choice("radio_buttons", "approve", "reject"), dispatch_action=True)
    async with open_workspace(reply=reply) as slack:
        await slack.open(modal(decision))
        outcome = await slack.do("submit", user="U0ADA", values={"Decision": "reject", "Reason": "wrong account"})
        await asyncio.gather(*later)

    assert outcome["error"] is None
    assert [payload["type"] for payload in slack.bot.seen[1:]] == ["block_actions", "view_submission"]
    values = slack.bot.seen[-1]["view"]["state"]["values"]
    assert values["d"]["v"]["selected_option"]["value"] == "reject"
    assert values["m"]["v"]["value"] == "wrong account"


@pytest.mark.asyncio
async def test_text_in_a_dispatching_input_is_sent_only_where_it_dispatches_on_every_character(slack):
    config = {"trigger_actions_on": ["on_character_entered"]}
    await slack.open(
        modal(
            field_block("enter", dispatch_action=True),
            field_block("typed", element=text_input(dispatch_action_config=config), dispatch_action=True),
        )
    )

    await slack.do("submit", user="U0ADA", values={"enter": "x", "typed": "y"})

    clicks = [p for p in slack.bot.seen if p["type"] == "block_actions" and p.get("view")]
    assert [p["actions"][0]["block_id"] for p in clicks] == ["typed"]
    assert clicks[0]["actions"][0]["value"] == "y"


NOT_THERE = {
    "no modal": (None, {"f": "x"}, 404, "no modal open"),
    "no such field": (modal(), {"Reason": "x"}, 404, "f (Why)"),
    "two fields of one label": (modal(field_block("f1"), field_block("f2")), {"Why": "x"}, 422, "f1"),
    "no such option": (modal(field_block(element=choice())), {"f": "z"}, 422, "there are ['a', 'b']"),
    "a list for a text": (modal(), {"f": ["x"]}, 422, "takes a string"),
    "no submit button": ({"type": "modal", "title": plain(), "blocks": [section()]}, {}, 422, "no submit button"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", NOT_THERE)
async def test_submitting_what_is_not_there_says_what_is(slack, name):
    view, values, status, says = NOT_THERE[name]
    if view:
        await slack.open(view)

    response = await slack.http.post("/sandbox/submit", json={"user": "U0ADA", "values": values})

    assert response.status_code == status
    assert says in response.json()["error"]


@pytest.mark.asyncio
async def test_closing_is_told_only_where_the_view_asks_for_it(slack):
    await slack.open()
    quiet = await slack.do("close", user="U0ADA")
    seen = len(slack.bot.seen)
    view = await slack.open(modal(field_block(), notify_on_close=True))
    told = await slack.do("close", user="U0ADA")

    assert (quiet["acked"], told["acked"], told["view"]) == (False, True, None)
    assert len(slack.bot.seen) == seen + 2
    payload = slack.bot.seen[-1]
    assert (payload["type"], payload["view"]["id"], payload["is_cleared"]) == ("view_closed", view["id"], False)


@pytest.mark.asyncio
async def test_state_of_a_closed_view_leaves_inputs_out(slack):
    pick = choice("static_select") | {"action_id": "pick"}
    await slack.open(modal(field_block(), actions(pick, block_id="p"), notify_on_close=True))

    await slack.do("close", user="U0ADA")

    assert list(slack.bot.seen[-1]["view"]["state"]["values"]) == ["p"]


@pytest.mark.asyncio
async def test_closing_everything_names_the_root_view(slack):
    root = await slack.open(modal(actions(button("more")), notify_on_close=True))
    await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=modal(notify_on_close=True))

    outcome = await slack.do("close", user="U0ADA", all=True)

    payload = slack.bot.seen[-1]
    assert outcome["view"] is None
    assert (payload["view"]["id"], payload["is_cleared"]) == (root["id"], True)


@pytest.mark.asyncio
async def test_cancelling_the_top_view_shows_the_one_below(slack):
    root = await slack.open(modal(actions(button("more"))))
    await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=modal())

    outcome = await slack.do("close", user="U0ADA")

    assert outcome["view"]["id"] == root["id"]


@pytest.mark.asyncio
async def test_view_that_clears_on_close_takes_the_stack_along(slack):
    await slack.open(modal(actions(button("more"))))
    await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=modal(clear_on_close=True))

    assert (await slack.do("close", user="U0ADA"))["view"] is None


@pytest.mark.asyncio
async def test_answer_to_a_view_closed_meanwhile_changes_nothing():
    async def reply(payload):
        if payload["type"] == "view_submission":
            await slack.do("close", user="U0ADA")
            return {"response_action": "push", "view": modal()}
        return None

    async with open_workspace(reply=reply) as slack:
        await slack.open()
        outcome = await slack.do("submit", user="U0ADA", values={"f": "x"})

    assert (outcome["error"], outcome["view"]) == (None, None)


@pytest.mark.asyncio
async def test_cleared_choice_in_a_dispatching_input_is_sent_as_null(slack):
    select = choice("static_select", "a", "b", initial_option=option("a"))
    await slack.open(modal(field_block(element=select, dispatch_action=True, optional=True)))

    await slack.do("submit", user="U0ADA", values={"f": None})

    clicks = [p for p in slack.bot.seen if p["type"] == "block_actions" and p.get("view")]
    assert clicks[0]["actions"][0]["selected_option"] is None


@pytest.mark.asyncio
async def test_select_among_actions_is_sent_when_it_is_chosen(slack):
    await slack.open(modal(field_block(), actions(choice("static_select", "a", "b"), block_id="pick")))

    await slack.do("submit", user="U0ADA", values={"pick": "b", "f": "x"})

    assert [p["type"] for p in slack.bot.seen[1:]] == ["block_actions", "view_submission"]
    assert slack.bot.seen[-1]["view"]["state"]["values"]["pick"]["v"]["selected_option"]["value"] == "b"


@pytest.mark.asyncio
async def test_option_given_as_an_object_is_found_by_its_value(slack):
    await slack.open(modal(field_block(element=choice())))

    await slack.do("submit", user="U0ADA", values={"f": option("b")})

    chosen = slack.bot.seen[-1]["view"]["state"]["values"]["f"]["v"]["selected_option"]
    assert chosen["value"] == "b"

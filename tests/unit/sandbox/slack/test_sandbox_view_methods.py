"""views.*: triggers, the stack of three, hashes, external ids, and what stays of what was typed."""

from dataclasses import replace

import pytest

from bot.sandbox.slack.seed import add_team, make_world
from tests.kit.slack_sandbox import (
    FAST,
    Clock,
    actions,
    button,
    choice,
    field_block,
    home,
    modal,
    open_workspace,
    section,
    text_input,
)


@pytest.mark.asyncio
async def test_trigger_opens_a_modal_for_the_one_who_clicked(slack):
    view = await slack.open(modal(callback_id="edit", private_metadata="s_1"))

    shown = await slack.look("modal", user="U0ADA")
    assert shown["view"]["id"] == view["id"]
    assert (shown["stack"], shown["view"]["callback_id"], shown["view"]["private_metadata"]) == (1, "edit", "s_1")
    assert (await slack.look("modal", user="U0BEN"))["view"] is None


@pytest.mark.asyncio
async def test_trigger_works_once(slack):
    trigger_id = await slack.trigger()

    await slack.call("views.open", trigger_id=trigger_id, view=modal())
    again = await slack.call("views.open", trigger_id=trigger_id, view=modal())

    assert again["error"] == "exchanged_trigger_id"


@pytest.mark.asyncio
@pytest.mark.parametrize(("seconds", "error"), [(3.0, None), (3.001, "expired_trigger_id")], ids=["in time", "late"])
async def test_trigger_lives_three_seconds(seconds, error):
    clock = Clock()
    async with open_workspace(make_world(clock=clock, rules=FAST)) as slack:
        trigger_id = await slack.trigger()
        clock.now += seconds

        answer = await slack.call("views.open", trigger_id=trigger_id, view=modal())

    assert answer.get("error") == error


@pytest.mark.asyncio
async def test_trigger_that_never_was_or_is_another_workspaces_is_invalid():
    world = make_world(rules=FAST)
    other = add_team(world, "T0OTHER")
    async with open_workspace(world) as slack:
        trigger_id = await slack.trigger()

        made_up = await slack.call("views.open", trigger_id="1.2.x", view=modal())
        foreign = await slack.call("views.open", trigger_id=trigger_id, view=modal(), token=other.token)

    assert (made_up["error"], foreign["error"]) == ("invalid_trigger_id", "invalid_trigger_id")


@pytest.mark.asyncio
async def test_bad_view_is_refused_with_pointers_and_does_not_use_the_trigger_up(slack):
    trigger_id = await slack.trigger()

    bad = await slack.call(
        "views.open", trigger_id=trigger_id, view=modal(title={"type": "plain_text", "text": "x" * 25})
    )
    good = await slack.call("views.open", trigger_id=trigger_id, view=modal())

    assert bad["error"] == "invalid_arguments"
    assert bad["response_metadata"]["messages"] == [
        "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"
    ]
    assert good["ok"]


@pytest.mark.asyncio
async def test_home_view_cannot_be_opened_as_a_modal(slack):
    answer = await slack.call("views.open", trigger_id=await slack.trigger(), view=home())

    assert answer["error"] == "invalid_arguments"


@pytest.mark.asyncio
async def test_stack_holds_three_views(slack):
    layer = modal(actions(button("more")))
    root = await slack.open(layer)
    for _ in range(2):
        pushed = await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=layer)
        assert pushed["ok"]

    fourth = await slack.call("views.push", trigger_id=await slack.trigger_in_modal(), view=layer)

    assert fourth["error"] == "push_limit_reached"
    shown = await slack.look("modal", user="U0ADA")
    assert (shown["stack"], shown["view"]["root_view_id"]) == (3, root["id"])
    assert shown["view"]["previous_view_id"] != root["id"]


@pytest.mark.asyncio
async def test_push_with_a_messages_trigger_finds_no_modal(slack):
    answer = await slack.call("views.push", trigger_id=await slack.trigger(), view=modal())

    assert answer["error"] == "not_found"


@pytest.mark.asyncio
async def test_update_keeps_the_id_and_changes_the_hash(slack):
    view = await slack.open()

    updated = await slack.call("views.update", view_id=view["id"], hash=view["hash"], view=modal(section()))

    assert updated["view"]["id"] == view["id"]
    assert updated["view"]["hash"] != view["hash"]


@pytest.mark.asyncio
async def test_update_with_an_old_hash_conflicts(slack):
    view = await slack.open()
    await slack.call("views.update", view_id=view["id"], view=modal())

    answer = await slack.call("views.update", view_id=view["id"], hash=view["hash"], view=modal())

    assert answer["error"] == "hash_conflict"


@pytest.mark.asyncio
async def test_update_of_a_closed_view_is_not_found(slack):
    view = await slack.open()
    await slack.do("close", user="U0ADA")

    answer = await slack.call("views.update", view_id=view["id"], view=modal())

    assert answer["error"] == "not_found"


@pytest.mark.asyncio
async def test_update_finds_a_view_by_its_external_id(slack):
    view = await slack.open(modal(external_id="e1"))

    answer = await slack.call("views.update", external_id="e1", view=modal(external_id="e1"))

    assert answer["view"]["id"] == view["id"]


@pytest.mark.asyncio
async def test_external_id_is_unique_in_the_workspace(slack):
    await slack.open(modal(external_id="e1"))

    answer = await slack.call("views.open", trigger_id=await slack.trigger("U0BEN"), view=modal(external_id="e1"))

    assert answer["error"] == "duplicate_external_id"


async def _typed(slack, view):
    """Let Ada type into `f` and be refused by the app, so that the modal stays with what she typed."""
    slack.bot.reply = lambda payload: (
        {"response_action": "errors", "errors": {"f": "no"}} if payload["type"] == "view_submission" else None
    )
    opened = await slack.open(view)
    await slack.do("submit", user="U0ADA", values={"f": "typed"})
    return opened


KEPT = {
    "same ids": (field_block(), "typed"),
    "same ids, new initial value": (field_block(element=text_input(initial_value="new")), "typed"),
    "other action_id": (field_block(element=text_input() | {"action_id": "w"}), None),
    "other action_id with an initial value": (
        field_block(element=text_input(initial_value="new") | {"action_id": "w"}),
        "new",
    ),
    "other kind of element": (field_block(element={"type": "email_text_input", "action_id": "v"}), None),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", KEPT)
async def test_typed_text_stays_only_where_both_ids_do(slack, name):
    block, value = KEPT[name]
    view = await _typed(slack, modal())

    await slack.call("views.update", view_id=view["id"], view=modal(block))

    state = (await slack.look("modal", user="U0ADA"))["state"]
    (field,) = state["f"].values()
    assert field["value"] == value


@pytest.mark.asyncio
async def test_other_block_id_loses_what_was_typed(slack):
    view = await _typed(slack, modal())

    await slack.call("views.update", view_id=view["id"], view=modal(field_block("g")))

    assert (await slack.look("modal", user="U0ADA"))["state"] == {
        "g": {"v": {"type": "plain_text_input", "value": None}}
    }


@pytest.mark.asyncio
async def test_kept_choice_that_is_no_longer_offered_falls_back(slack):
    view = await slack.open(modal(field_block(element=choice("radio_buttons", "a", "b"), dispatch_action=True)))
    await slack.do("click", user="U0ADA", view_id=view["id"], action_id="v", value="b", wait_s=0)

    await slack.call("views.update", view_id=view["id"], view=modal(field_block(element=choice("radio_buttons", "a"))))

    state = (await slack.look("modal", user="U0ADA"))["state"]
    assert state["f"]["v"]["selected_option"] is None


@pytest.mark.asyncio
async def test_errors_and_notice_go_with_an_update(slack):
    view = await _typed(slack, modal())

    await slack.call("views.update", view_id=view["id"], view=modal())

    shown = await slack.look("modal", user="U0ADA")
    assert (shown["errors"], shown["notice"]) == ({}, None)


@pytest.mark.asyncio
async def test_home_is_published_for_one_person_and_keeps_its_id(slack):
    first = await slack.call("views.publish", user_id="U0ADA", view=home())
    second = await slack.call("views.publish", user_id="U0ADA", view=home(section("new")), hash=first["view"]["hash"])

    assert second["view"]["id"] == first["view"]["id"]
    shown = (await slack.look("home", user="U0ADA", look=1))["view"]
    assert shown["blocks"][0]["text"]["text"] == "new"
    assert (await slack.look("home", user="U0BEN", look=1))["view"] is None


@pytest.mark.asyncio
async def test_publish_with_an_old_hash_conflicts(slack):
    first = await slack.call("views.publish", user_id="U0ADA", view=home())
    await slack.call("views.publish", user_id="U0ADA", view=home())

    answer = await slack.call("views.publish", user_id="U0ADA", view=home(), hash=first["view"]["hash"])

    assert answer["error"] == "hash_conflict"


@pytest.mark.asyncio
async def test_second_opening_takes_the_place_of_the_first(slack):
    first = await slack.open()
    second = await slack.open()

    shown = await slack.look("modal", user="U0ADA")
    assert (shown["stack"], shown["view"]["id"]) == (1, second["id"])
    assert (await slack.call("views.update", view_id=first["id"], view=modal()))["error"] == "not_found"


@pytest.mark.asyncio
async def test_app_without_a_home_tab_cannot_publish():
    world = make_world(rules=FAST)
    world.app = replace(world.app, home_enabled=False)
    async with open_workspace(world) as slack:
        assert (await slack.call("views.publish", user_id="U0ADA", view=home()))["error"] == "not_enabled"


@pytest.mark.asyncio
async def test_home_of_nobody_cannot_be_published(slack):
    assert (await slack.call("views.publish", user_id="U0NOBODY", view=home()))["error"] == "user_not_found"


@pytest.mark.asyncio
@pytest.mark.parametrize("view", [None, "[]", "{", [1]], ids=["none", "list", "cut off", "no object"])
async def test_view_that_is_no_object_is_refused(slack, view):
    answer = await slack.call("views.open", trigger_id=await slack.trigger(), view=view)

    assert answer["error"] == "invalid_arguments"


@pytest.mark.asyncio
async def test_push_from_a_modal_that_was_closed_meanwhile_finds_none(slack):
    await slack.open(modal(actions(button("more"))))
    trigger_id = await slack.trigger_in_modal()
    await slack.do("close", user="U0ADA")

    assert (await slack.call("views.push", trigger_id=trigger_id, view=modal()))["error"] == "not_found"

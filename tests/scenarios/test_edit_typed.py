"""Editing a call: one input for each argument, the difference before the decision, and nothing typed is lost."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, BEN
from tests.kit.steps import call, opened

pytestmark = pytest.mark.asyncio

PAY = call("refund", order_id=4471, amount=12.7, currency="EUR-17", notify=True, labels=None)


def labels(view):
    return [block["label"]["text"] for block in view["blocks"] if block["type"] == "input"]


def inputs(view):
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


async def edit_form(office, user=ADA, **proposed):
    thread = await office.propose(turns=[[proposed or PAY]])
    (review,) = await opened(office, thread)
    card = await office.card_of(review, button="decide.edit")
    answer = await office.click(user, card, "decide.edit")
    return thread, answer["view"]


async def test_each_argument_has_an_input_under_its_own_name(office_of):
    async with office_of() as office:
        _, view = await edit_form(office)

        assert labels(view) == ["order_id", "amount", "currency", "notify", "labels"]
        assert [element["type"] for element in inputs(view).values()][3] == "radio_buttons"
        assert inputs(view)["f.0.1"]["initial_value"] == "12.7"


async def test_one_changed_value_changes_nothing_else(office_of):
    async with office_of() as office:
        thread, _ = await edit_form(office)

        shown = await office.submit(ADA, {"amount": "12.70"})
        await office.submit(ADA)
        await office.settled(thread)

        assert shown["view"]["callback_id"] == "edit.confirm"
        (effect,) = office.effects(thread)
        assert effect["args"] == {**PAY["args"], "amount": 12.7}
        body = next(one for one in office.agent.heard if b"edited_action" in one.body)
        assert b'"amount":12.70' in body.body.replace(b" ", b"")


async def test_a_bad_value_is_an_error_at_its_input_and_the_rest_stays_typed(office_of):
    async with office_of() as office:
        thread, _ = await edit_form(office)

        answer = await office.submit(ADA, {"amount": "9223372036854775808", "labels": "[1,]", "currency": "USD"})
        again = await office.submit(ADA, {"amount": "13", "labels": '["vip", 2]'})
        await office.submit(ADA)
        await office.settled(thread)

        assert answer["errors"] == {
            "f.0.1": "9223372036854775808 does not fit 64 bits.",
            "f.0.4": "Line 1, column 4: a comma stands before the closing bracket.",
        }
        assert again["view"]["callback_id"] == "edit.confirm"
        (effect,) = office.effects(thread)
        assert effect["args"] == {**PAY["args"], "amount": 13, "labels": ["vip", 2], "currency": "USD"}


async def test_back_to_editing_shows_what_was_typed(office_of):
    async with office_of() as office:
        _, _ = await edit_form(office)
        shown = (await office.submit(ADA, {"currency": "B-1"}))["view"]

        back = await office.press(ADA, shown, "edit.back", "back")

        assert back["view"]["callback_id"] == "edit"
        assert inputs(back["view"])["f.0.2"]["initial_value"] == "B-1"


async def test_typing_can_go_on_as_json_and_keeps_what_was_typed(office_of):
    async with office_of() as office:
        thread, _ = await edit_form(office)
        await office.submit(ADA, {"amount": "x", "currency": "B-2"})
        confirm = (await office.submit(ADA, {"amount": "3"}))["view"]
        shown = await office.press(ADA, confirm, "edit.back", "back")

        form = (await office.press(ADA, shown["view"], "edit.json", "form"))["view"]
        assert list(inputs(form)) == ["e.0"]
        assert '"B-2"' in inputs(form)["e.0"]["initial_value"]
        curly = await office.submit(
            ADA, {"e.0": '{“order_id”: 1, "amount": 2, "currency": “C-3”, "notify": false, "labels": []}'}
        )
        await office.submit(ADA)
        await office.settled(thread)

        assert "Curly quotes" in str(curly["view"])
        (effect,) = office.effects(thread)
        assert effect["args"] == {"order_id": 1, "amount": 2, "currency": "C-3", "notify": False, "labels": []}


async def test_a_tools_schema_makes_choices_and_lets_an_argument_be_null(office_of):
    schema = (
        '{"type": "object", "required": ["order_id", "labels"], "properties": {"order_id": {"type": "integer"}, '
        '"currency": {"enum": ["EUR", "USD"]}, "labels": {"type": ["array", "null"]}}}'
    )
    tools = f"      refund: {{schema: {schema}}}\n"
    async with office_of(tools=tools) as office:
        thread, view = await edit_form(office, **call("refund", **{**PAY["args"], "currency": "EUR", "labels": ["a"]}))

        assert inputs(view)["f.0.2"]["type"] == "static_select"
        assert labels(view)[2:] == ["currency", "currency: value or none", "notify", "labels", "labels: value or none"]
        refused = await office.submit(ADA, {"order_id": "1.5"})
        await office.submit(ADA, {"order_id": "15", "currency": '"USD"', "labels: value or none": "null"})
        await office.submit(ADA)
        await office.settled(thread)

        assert refused["errors"] == {"f.0.0": "This must be a whole number."}
        (effect,) = office.effects(thread)
        assert effect["args"] == {**PAY["args"], "order_id": 15, "currency": "USD", "labels": None}


async def test_a_value_that_the_policy_hides_is_kept_unless_it_is_typed_anew(office_of):
    tools = "      refund: {redact: [currency]}\n"
    async with office_of(tools=tools) as office:
        thread, view = await edit_form(office)

        assert "EUR-17" not in str(view)
        shown = await office.submit(ADA, {"amount": "1"})
        assert "EUR-17" not in str(shown["view"])
        await office.submit(ADA)
        await office.settled(thread)

        (effect,) = office.effects(thread)
        assert effect["args"] == {**PAY["args"], "amount": 1}
        assert all("EUR-17" not in str(message) for message in await office.messages())


async def test_a_hidden_value_that_was_typed_anew_stands_only_in_the_view_where_it_was_typed(office_of):
    tools = "      refund: {redact: [currency]}\n"
    async with office_of(tools=tools) as office:
        thread, _ = await edit_form(office, user=BEN)

        shown = await office.submit(BEN, {"currency": "Z-99"})
        assert "Z-99" in str(shown["view"])
        await office.submit(BEN)
        await office.settled(thread)

        settled = await office.card("hidden value was changed")
        assert "Z-99" not in str(settled)
        (effect,) = office.effects(thread)
        assert effect["args"]["currency"] == "Z-99"


async def test_nothing_is_edited_when_nothing_was_typed(office_of):
    async with office_of() as office:
        thread, _ = await edit_form(office)

        shown = await office.submit(ADA)
        await office.submit(ADA)
        await office.settled(thread)

        assert "Nothing was changed." in str(shown["view"])
        (effect,) = office.effects(thread)
        assert effect["args"] == PAY["args"]

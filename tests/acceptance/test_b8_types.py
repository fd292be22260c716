"""B8 types: an edit keeps every value's type, and what no server could hold is an error at its field."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA
from tests.kit.steps import call, opened, sent

pytestmark = pytest.mark.asyncio

PAY = {
    "order_id": 9007199254740993,
    "amount": 12.7,
    "currency": "5",
    "notify": False,
    "labels": [1, "1", None, {"k": 1.5}, ""],
}
BAD = [
    ("order_id", "9223372036854775808", "64 bits"),
    ("amount", "1e400", "too large"),
    ("amount", "NaN", "number"),
    ("amount", "0.10000000000000000000001", "rounding"),
    ("labels", "[1e400]", "too large"),
    ("labels", "[NaN]", "NaN"),
    ("labels", '["\\u0000"]', "NUL"),
    ("labels", '["\\ud800"]', "half a character"),
    ("labels", "[1, 2", "Line 1"),
    ("labels", "[True]", "true, false and null"),
]


async def form(office):
    thread = await office.propose(turns=[[call("refund", **PAY)]])
    (review,) = await opened(office, thread)
    await office.click(ADA, await office.card_of(review, button="decide.edit"), "decide.edit")
    return thread


async def test_b8_types_of_untouched_values_are_kept_and_a_number_stays_as_written(office_of):
    async with office_of() as office:
        thread = await form(office)
        await office.submit(ADA, {"amount": "12.70"})
        await office.submit(ADA)
        await office.settled(thread)

        (body,) = [one for one in office.agent.heard if b"edited_action" in one.body]
        assert b"12.70" in body.body
        edited = sent(office, thread)[0]["command"]["resume"]
        (decision,) = next(iter(edited.values()))["decisions"]
        assert decision["edited_action"]["args"] == PAY
        (effect,) = office.effects(thread)
        assert effect["args"] == PAY
        assert effect["args"]["currency"] == "5"


async def test_b8_types_that_no_server_could_hold_are_field_errors_and_the_thread_stays_answerable(office_of):
    async with office_of() as office:
        thread = await form(office)
        for name, text, said in BAD:
            answer = await office.submit(ADA, {"order_id": "7", "amount": "1", "labels": "[]"} | {name: text})
            assert said in json.dumps(answer["errors"]), (name, text)
            assert answer["view"]["callback_id"] == "edit"
        assert office.ran(thread) == []

        await office.submit(ADA, {"order_id": "-9223372036854775808", "amount": "1e3", "labels": '["", null]'})
        await office.submit(ADA)
        await office.settled(thread)

        (effect,) = office.effects(thread)
        assert effect["args"] == {**PAY, "order_id": -(2**63), "amount": 1000, "labels": ["", None]}

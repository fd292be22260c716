"""A1 edit: what a reviewer edited and then saw as final values is what runs, and the record keeps both."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA
from tests.kit.steps import call, heard, opened, says, stands

pytestmark = pytest.mark.asyncio

PROPOSED = {
    "order_id": 9007199254740993,
    "amount": 12.7,
    "currency": "EUR",
    "notify": True,
    "labels": ["späte Lieferung", {"deep": [1, 2.5, None, ""]}],
}


async def test_a1_edit_runs_with_exactly_the_final_values_and_the_record_keeps_both(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[[call("refund", **PROPOSED)]])
        (review,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(review, button="decide.edit"), "decide.edit")

        shown = await office.submit(ADA, {"amount": "11.50", "currency": "USD"})
        closed = await office.submit(ADA)
        after = await stands(office, review, "resumed")

        assert "11.50" in str(shown["view"]["blocks"])
        assert closed["view"] is None
        (effect,) = office.effects(thread)
        assert effect["args"] == {**PROPOSED, "amount": 11.5, "currency": "USD"}
        assert json.loads(after.actions[0].args) == PROPOSED
        decided = after.actions[0].decision
        assert json.loads(decided.final_args) == effect["args"]
        (made,) = [
            json.loads(event.content) for event in await office.events(review.id) if event.kind == "decision.made"
        ]
        assert made["proposed"] == review.actions[0].digest
        assert made["decided"] == decided.digest != made["proposed"]
        assert "Approved with an edit" in says(await office.card("Ran", without="decide.edit"))


async def test_a1_edit_leaves_the_source_of_untouched_fields_as_it_was(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[[call("refund", **PROPOSED)]])
        (review,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(review, button="decide.edit"), "decide.edit")

        await office.submit(ADA, {"amount": "11.50"})
        await office.submit(ADA)
        await stands(office, review, "resumed")

        (sent,) = heard(office, thread)
        for name, value in PROPOSED.items():
            told = f"{json.dumps(name)}:{'11.50' if name == 'amount' else json.dumps(value, separators=(',', ':'))}"
            assert told in sent.body.decode().replace(", ", ",").replace(": ", ":")

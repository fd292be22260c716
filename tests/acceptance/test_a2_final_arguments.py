"""A2 final arguments: a condition is judged on what would run, and the stricter reading counts."""

from __future__ import annotations

import json

import pytest

from tests.kit.crossing import ONE_AND_TWO
from tests.kit.office import ADA, BEN
from tests.kit.steps import start

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

SMALL = """\
      - {user: U0ADA, tools: [refund], may: [approve, edit, reject], when: {amount: {lt: 500}}}
      - {user: U0BEN, tools: [refund], may: [approve, edit, reject]}
"""


async def refund(office, **args):
    """A proposed refund and its card."""
    call = {"name": "refund", "args": {"currency": "EUR", "notify": True, "labels": None, **args}}
    given = {"messages": [{"role": "user", "content": json.dumps({"turns": [[call]]})}]}
    thread = await start(office, "ops", given)
    return thread, await office.card("refund", button="decide.reject")


async def edit(office, user, card, args):
    """Edit as JSON and confirm; answers what the last window says."""
    answer = await office.click(user, card, "decide.edit")
    blocks = [block for block in answer["view"]["blocks"] if block["type"] == "input"]
    named = {block["label"]["text"]: block["block_id"] for block in blocks}
    as_json = any(block_id.startswith("e.") for block_id in named.values())
    typed = {name: json.dumps(value) for name, value in args.items() if name in named}
    values = (
        {next(iter(named.values())): json.dumps(args)}
        if as_json
        else {named[name]: text for name, text in typed.items()}
    )
    shown = await office.submit(user, values)
    return shown if shown["errors"] else await office.submit(user)


async def test_a2_final_arguments_within_the_bound_are_approved(office_of):
    async with office_of(reviewers=SMALL) as office:
        thread, card = await refund(office, order_id=1, amount=100)
        await office.click(ADA, card, "decide.approve")
        await office.settled(thread)
        assert office.ran(thread) == ["refund"]


async def test_a2_final_arguments_beyond_the_bound_are_refused_after_an_edit(office_of):
    async with office_of(reviewers=SMALL) as office:
        thread, card = await refund(office, order_id=1, amount=100)

        answer = await edit(office, ADA, card, {"order_id": 1, "amount": 900})

        assert "not with these arguments" in json.dumps(answer)
        assert (await office.review(thread)).state.value == "open"
        assert office.ran(thread) == []


@pytest.mark.parametrize("args", [{"order_id": 1, "amount": 900}, {"order_id": 1, "amount": "100"}, {"order_id": 1}])
async def test_a2_final_arguments_that_do_not_meet_the_condition_are_refused(office_of, args):
    """Too much, of another type, or missing: none of them is known to be below the bound."""
    async with office_of(reviewers=SMALL) as office:
        thread, card = await refund(office, **args)

        await office.click(ADA, card, "decide.approve")
        await office.told(ADA, "not with these arguments")

        assert office.ran(thread) == []


async def test_a2_final_arguments_proposed_beyond_the_bound_cannot_be_edited_into_it(office_of):
    """Judged on both: an edit of what one may not decide is left to somebody who may."""
    async with office_of(reviewers=SMALL) as office:
        thread, card = await refund(office, order_id=1, amount=900)

        await office.click(ADA, card, "decide.edit")
        await office.told(ADA, "not with these arguments")
        await edit(office, BEN, card, {"order_id": 1, "amount": 10})
        await office.settled(thread)

        assert [one["args"]["amount"] for one in office.effects(thread)] == [10]

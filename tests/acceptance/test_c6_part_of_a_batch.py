"""C6 no dead end: whoever may decide only some calls of an interrupt sends those from `Review all`, and is never stuck."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.kit.forging import chosen, forge, submitted
from tests.kit.office import ADA, BEN
from tests.kit.steps import call, heard, opened, rewrite, sent, stands, told_directly

pytestmark = pytest.mark.asyncio

MINE, THEIRS = call("disable_user", user_id="u_1", reason="r"), call("execute_sql", query="select 1")
WITHOUT_REFUND = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: [disable_user], may: [approve, edit, reject]}
"""
TWO_APPROVALS = "      execute_sql: {approvals: 2}\n"


async def batch(office, calls):
    thread = await office.propose(turns=[calls])
    (review,) = await opened(office, thread)
    return thread, review, await office.card_of(review, None, button="review.open")


def inputs(view):
    return [block["block_id"] for block in view["blocks"] if block["type"] == "input"]


@pytest.mark.parametrize("count", [3, 11])
async def test_c6_a_part_is_stored_and_nothing_leaves_until_the_last_is_decided(office_of, count):
    async with office_of() as office:
        calls = [MINE if at % 2 == 0 else THEIRS for at in range(count - 1)] + [THEIRS]
        mine = [at for at, one in enumerate(calls) if one is MINE]
        thread, review, root = await batch(office, calls)

        answer = await office.click(BEN, root, "review.open")
        assert f"You decide {len(mine)} of the {count} calls" in str(answer["view"])
        while answer["view"] is not None:
            assert {int(block[2:]) for block in inputs(answer["view"])} <= set(mine)
            answer = await office.submit(BEN, dict.fromkeys(inputs(answer["view"]), "approve"))
        part = await stands(office, review, "open")

        assert [action.position for action in part.actions if action.decision] == mine
        assert {action.decision.by.user for action in part.actions if action.decision} == {BEN}
        assert heard(office, thread) == []
        assert office.ran(thread) == []

        root = await office.card_of(review, None, button="review.open")
        answer = await office.click(ADA, root, "review.open")
        while answer["view"] is not None:
            answer = await office.submit(ADA, dict.fromkeys(inputs(answer["view"]), "approve"))
        await stands(office, review, "resumed")

        assert len(sent(office, thread)) == 1
        assert len(office.effects(thread)) == count


async def test_c6_what_somebody_has_approved_already_does_not_keep_them_from_sending_the_rest(office_of):
    async with office_of(tools=TWO_APPROVALS) as office:
        thread, review, root = await batch(office, [THEIRS, MINE, THEIRS])
        first = await office.card_of(review, 0, button="decide.approve")
        await office.click(ADA, first, "decide.approve")

        async def counted():
            (now,) = await office.reviews(thread)
            return now.actions[0].approvals

        await office.until(counted, "her approval")
        view = (await office.click(ADA, root, "review.open"))["view"]
        done = await office.submit(ADA, {"d.1": "approve", "d.2": "reject"})

        assert "You have approved this" in str(view)
        assert done["view"] is None
        now = await stands(office, review, "open")
        assert [bool(action.decision) for action in now.actions] == [False, True, True]
        assert [one.by.user for one in now.actions[0].approvals] == [ADA]


async def test_c6_a_right_that_is_lost_while_the_window_is_open_is_told_and_the_rest_goes_on(office_of):
    async with office_of() as office:
        pay = call("refund", order_id=1, amount=12.7, currency="EUR", notify=True, labels=[])
        _, review, root = await batch(office, [MINE, pay, THEIRS])
        view = (await office.click(BEN, root, "review.open"))["view"]
        for block in ("d.0", "d.1"):
            view = (await office.press(BEN, view, "decision", block, value="reject"))["view"]

        await rewrite(office, reviewers=WITHOUT_REFUND)
        told = await office.submit(BEN)
        assert "not a reviewer" in str(told["view"]["blocks"])
        assert inputs(told["view"]) == ["d.0", "m.0"]
        done = await office.submit(BEN)

        assert done["view"] is None
        now = await stands(office, review, "open")
        assert [bool(action.decision) for action in now.actions] == [True, False, False]


FORGED = {
    "a value that is no element": {"d.0": 7},
    "an option that is none": {"d.0": {"decision": {"type": "radio_buttons", "selected_option": "approve"}}},
    "nothing that we ask": {"zzz": {"x": {"type": "plain_text_input", "value": "?"}}},
    "no values": {},
}


@pytest.mark.parametrize("callback", ["batch", "review", "edit.confirm", "batch.keep", "notice", "operate.settle"])
async def test_c6_a_forged_or_malformed_submission_is_told_and_never_closes_the_window(office_of, callback):
    async with office_of() as office:
        thread, review, root = await batch(office, [MINE, THEIRS])
        window = (await office.click(ADA, root, "review.open"))["view"]["private_metadata"]

        for what, values in FORGED.items():
            answer = (await forge(office, submitted(ADA, window, callback, values))).json()
            assert answer["response_action"] in ("update", "push", "errors"), what
        strange = submitted(ADA, window, callback, {"d.0": chosen("approve")})
        strange["view"]["id"] = None
        answer = (await forge(office, strange)).json()

        assert "could not be read" in str(answer["view"]["blocks"])
        assert (await stands(office, review, "open")).actions[0].decision is None
        assert office.ran(thread) == []


async def test_c6_a_database_that_is_away_is_told_in_the_window_which_goes_on_when_it_is_back(office_of):
    async with office_of() as office:
        thread, review, root = await batch(office, [MINE, MINE])
        view = (await office.click(ADA, root, "review.open"))["view"]
        for block in ("d.0", "d.1"):
            view = (await office.press(ADA, view, "decision", block, value="reject"))["view"]

        await rename(office, "drafts", "drafts_away")
        await office.press(ADA, view, "decision", "d.0", value="approve", wait_s=0)
        await told_directly(office, ADA, "went wrong on our side")
        failed = await office.submit(ADA, {"m.0": "No."})
        await rename(office, "drafts_away", "drafts")

        assert "went wrong on our side" in str(failed["errors"])
        assert heard(office, thread) == []
        done = await office.submit(ADA, {"d.0": "reject", "d.1": "reject"})
        await stands(office, review, "resumed")
        assert done["view"] is None
        assert office.ran(thread) == []


async def rename(office, table, name):
    """Take a table away, or bring it back: as good as a database that cannot be asked."""
    async with office.stores[0].begin() as tx:
        await tx.conn.execute(text(f"ALTER TABLE {table} RENAME TO {name}"))

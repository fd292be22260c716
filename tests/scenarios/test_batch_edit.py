"""Editing one of several calls: the form lies on the list, what it came to goes back there, and all is sent together."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA
from tests.kit.steps import call, opened, told_directly

pytestmark = pytest.mark.asyncio

PAYS = [call("refund", order_id=at, amount=12.7, currency="EUR", notify=True, labels=["vault-77"]) for at in range(3)]
HIDES = "      refund: {redact: [labels]}\n"


def inputs(view):
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


async def batch(office, calls=PAYS):
    thread = await office.propose(turns=[calls])
    (review,) = await opened(office, thread)
    root = await office.card_of(review, None, button="review.open")
    return thread, review, (await office.click(ADA, root, "review.open"))["view"]


async def top_is(office, callback):
    """Wait until the view in front of her is this one."""

    async def there():
        view = (await office.slack.get("/sandbox/modal", params={"user": ADA})).json()["view"]
        return view if view and view["callback_id"] == callback else None

    return await office.until(there, f"the view {callback}")


async def shows(office, containing):
    async def there():
        view = (await office.slack.get("/sandbox/modal", params={"user": ADA})).json()["view"]
        return view if view and containing in str(view) else None

    return await office.until(there, f"a view with {containing}")


async def test_an_edit_with_a_hidden_value_goes_back_to_the_list_and_runs_with_the_other_calls(office_of):
    async with office_of(tools=HIDES) as office:
        thread, review, view = await batch(office)

        await office.press(ADA, view, "decision", "d.1", value="edit")
        form = await top_is(office, "batch.edit")
        shown = (await office.submit(ADA, {"amount": "12.70", "currency": "USD"}))["view"]
        await office.submit(ADA)
        listed = await shows(office, "Edit again")
        done = await office.submit(ADA, {"d.0": "approve", "d.2": "reject"})
        await office.settled(thread)

        assert (form["callback_id"], shown["callback_id"], listed["callback_id"]) == (
            "batch.edit",
            "batch.keep",
            "batch",
        )
        assert "vault-77" not in str((form, shown, listed))
        assert done["view"] is None
        ran = sorted(office.effects(thread), key=lambda one: one["args"]["order_id"])
        assert [one["args"] for one in ran] == [PAYS[0]["args"], {**PAYS[1]["args"], "currency": "USD"}]
        (review,) = await office.reviews(thread)
        kinds = [(action.decision.type.value, action.decision.final_args is not None) for action in review.actions]
        assert kinds == [("approve", False), ("edit", True), ("reject", False)]


async def test_a_closed_form_leaves_the_list_which_leads_to_it_again(office_of):
    async with office_of() as office:
        thread, _, view = await batch(office)
        await office.press(ADA, view, "decision", "d.1", value="edit")
        await top_is(office, "batch.edit")
        await office.slack.post("/sandbox/close", json={"user": ADA})
        listed = await shows(office, "Nothing is edited yet")

        gap = await office.submit(ADA, {"d.0": "approve", "d.2": "approve"})
        await office.press(ADA, listed, "decide.edit", "o.1")
        form = await top_is(office, "batch.edit")

        assert list(gap["errors"]) == ["d.1"]
        assert "keep the edit" in gap["errors"]["d.1"]
        assert inputs(form)["f.1.2"]["initial_value"] == "EUR"
        assert office.ran(thread) == []


async def test_a_kept_edit_survives_closing_and_a_restart_in_front_of_another_replica(office_of):
    async with office_of(replicas=2) as office:
        thread, review, view = await batch(office)
        await office.press(ADA, view, "decision", "d.0", value="edit")
        await top_is(office, "batch.edit")
        await office.submit(ADA, {"currency": "CHF"})
        await office.submit(ADA)
        await shows(office, "Edit again")
        await office.slack.post("/sandbox/close", json={"user": ADA})

        root = await office.card_of(review, None, button="review.open")
        again = (await office.click(ADA, root, "review.open"))["view"]
        await office.submit(ADA, {"d.1": "approve", "d.2": "approve"})
        await office.settled(thread)

        assert "becomes" in str(again)
        assert inputs(again)["d.0"]["initial_option"]["value"] == "edit"
        assert {one["args"]["currency"] for one in office.effects(thread)} == {"CHF", "EUR"}


async def test_an_edit_of_a_long_call_goes_from_its_full_view_and_never_lies_three_deep(office_of):
    async with office_of() as office:
        long = call("refund", order_id=7, amount=1, currency="EUR " * 600, notify=False, labels=None)
        thread, _, view = await batch(office, [long, PAYS[0]])

        await office.press(ADA, view, "review.open", "r.0")
        full = await top_is(office, "review")
        form = (await office.submit(ADA, {"d.0": "edit"}))["view"]
        shown = (await office.submit(ADA, {"amount": "12.70"}))["view"]
        depth = len(office.world.modals(ADA))
        await office.submit(ADA)
        listed = await shows(office, "*Decided*")
        await office.submit(ADA, {"d.1": "approve"})
        await office.settled(thread)

        assert (full["callback_id"], form["callback_id"], shown["callback_id"]) == ("review", "edit", "edit.confirm")
        assert depth == 2
        assert listed["callback_id"] == "batch"
        assert sorted(one["args"]["amount"] for one in office.effects(thread)) == [12.7, 12.7]


async def test_an_edit_on_the_last_of_several_pages_is_sent_with_what_was_chosen_on_the_pages_before(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{at}", reason="r") for at in range(7)]
        thread, _, _ = await batch(office, calls)
        last = (await office.submit(ADA, {f"d.{at}": "approve" for at in range(5)}))["view"]

        await office.press(ADA, last, "decision", "d.5", value="edit")
        await top_is(office, "batch.edit")
        await office.submit(ADA, {"reason": "fraud"})
        await office.submit(ADA)
        listed = await shows(office, "Edit again")
        done = await office.submit(ADA, {"d.6": "approve"})
        await office.settled(thread)

        assert "Page 2 of 2" in str(listed)
        assert done["view"] is None
        assert sorted((one["args"]["user_id"], one["args"]["reason"]) for one in office.effects(thread)) == [
            (f"u_{at}", "fraud" if at == 5 else "r") for at in range(7)
        ]


async def test_a_list_that_slack_did_not_redraw_sends_the_kept_edit_all_the_same(office_of):
    async with office_of() as office:
        thread, _, view = await batch(office)
        await office.press(ADA, view, "decision", "d.1", value="edit")
        await top_is(office, "batch.edit")
        await office.submit(ADA, {"currency": "USD"})
        await office.fault("views.update", error="internal_error", times=3)
        await office.submit(ADA)

        stale = await top_is(office, "batch")
        done = await office.submit(ADA, {"d.0": "reject", "d.2": "reject"})
        await office.settled(thread)

        assert "Nothing is edited yet" in str(stale)
        assert "did not let this window change" in str(await told_directly(office, ADA))
        assert done["view"] is None
        assert [one["args"]["currency"] for one in office.effects(thread)] == ["USD"]

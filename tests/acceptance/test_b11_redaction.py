"""B11 redaction: a secret stands in no place that many people or machines read, and hides nothing from who decides."""

from __future__ import annotations

import json

import pytest

from bot.cli.audit import _line
from bot.store.audit.seal import chained_events
from tests.kit.office import ADA, BEN, buttons
from tests.kit.steps import call, opened, says, stands

pytestmark = pytest.mark.asyncio

DECLARED = "SEEDED-declared-41x"
SUSPECTED = "SEEDED-suspected-77y"
HIDES = {
    "tools": "      send_email: {redact: [subject], result: first_lines}\n      execute_sql: {result: first_lines}\n",
    "reviewers": (
        '      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond, reveal]}\n'
        "      - {group: S0SUPPORT, tools: [send_email, execute_sql], may: [approve, edit, reject]}\n"
    ),
}


async def everywhere(office):
    """All that leaves us for many eyes: messages with their text, private words, Home, metrics, the exported record."""
    found = [json.dumps(await office.messages(), ensure_ascii=False)]
    found += [text for user in (ADA, BEN) for text in await office.ephemerals(user)]
    found += [(await bot.get("/metrics")).text for bot in office.bots]
    found += [json.dumps(await home(office, user), ensure_ascii=False) for user in (ADA, BEN)]
    async with office.stores[0].read() as tx:
        found += [json.dumps(_line(event)) async for page in chained_events(tx, tenant=None) for event in page]
    return "\n".join(found)


async def home(office, user, containing=""):
    """The person's Home tab, once it says this."""

    async def there():
        view = (await office.slack.get("/sandbox/home", params={"user": user})).json()["view"]
        return view if view and view["blocks"] and containing in json.dumps(view) else None

    return await office.until(there, f"the Home tab of {user} to say {containing!r}")


async def proposed(office, **args):
    thread = await office.propose(turns=[[call("send_email", **args)]])
    (review,) = await opened(office, thread)
    return thread, review


async def test_b11_redaction_of_a_declared_value_leaves_the_call_approvable_and_runs_the_real_one(
    office_of, caplog, capsys
):
    async with office_of(**HIDES) as office:
        args = {"to": "a@x.example", "subject": DECLARED, "body": "hello"}
        thread, review = await proposed(office, **args)
        card = await office.card_of(review, button="decide.approve")
        assert "1 value hidden" in says(card)
        assert DECLARED not in json.dumps(await home(office, BEN, "Awaiting you: 1 call"))

        await office.click(BEN, card, "decide.approve")
        await office.settled(thread)
        await office.card("Ran")

        (effect,) = office.effects(thread)
        assert effect["args"] == args
        assert DECLARED not in await everywhere(office)
        assert DECLARED not in caplog.text + capsys.readouterr().out


async def test_b11_redaction_of_a_suspected_value_sends_the_approver_to_a_view_that_shows_it(office_of, caplog, capsys):
    async with office_of(**HIDES) as office:
        body = f"password={SUSPECTED}; rm -rf /"
        thread, review = await proposed(office, to="a", subject="s", body=body)
        card = await office.card_of(review, button="review.open")
        assert "decide.approve" not in buttons(card)
        assert "may be a secret" in says(card)
        assert SUSPECTED not in json.dumps(await home(office, BEN, "Awaiting you: 1 call"))

        view = (await office.click(BEN, card, "review.open"))["view"]
        assert f"{SUSPECTED}; rm -rf /" in json.dumps(view["blocks"])
        await office.submit(BEN, {"Decision": "approve"})
        await office.settled(thread)
        await office.card("Ran")

        (effect,) = office.effects(thread)
        assert effect["args"]["body"] == body
        assert SUSPECTED not in await everywhere(office)
        assert SUSPECTED not in caplog.text + capsys.readouterr().out


async def test_b11_redaction_stands_after_an_edit_a_reason_and_a_failure(office_of):
    async with office_of(**HIDES) as office:
        thread, review = await proposed(office, to="a", subject=DECLARED, body="b")
        card = await office.card_of(review, button="decide.edit")
        await office.click(BEN, card, "decide.edit")
        await office.submit(BEN, {"body": f"token={SUSPECTED}"})
        await office.submit(BEN)
        await office.settled(thread)
        await office.card("Approved with an edit")

        rejected, other = await proposed(office, to="a", subject=DECLARED, body="b")
        await office.click(BEN, await office.card_of(other, button="decide.reject"), "decide.reject")
        await office.submit(BEN, {"m.0": f"it says {DECLARED} and password={SUSPECTED}"})
        await office.settled(rejected)
        await office.card("Rejected")

        wrong = await office.propose(turns=[[call("execute_sql", query=f"SELECT '{SUSPECTED}' -- token={SUSPECTED}")]])
        (third,) = await opened(office, wrong)
        view = (await office.click(BEN, await office.card_of(third, button="review.open"), "review.open"))["view"]
        assert SUSPECTED in json.dumps(view)
        await office.submit(BEN, {"Decision": "approve"})
        await stands(office, third, "resumed")
        await office.card_of(third)

        (effect,) = office.effects(thread)
        assert effect["args"] == {"to": "a", "subject": DECLARED, "body": f"token={SUSPECTED}"}
        seen = await everywhere(office)
        assert DECLARED not in seen
        assert SUSPECTED not in seen


async def test_b11_redaction_is_lifted_in_private_for_who_may_and_the_record_says_so(office_of):
    async with office_of(**HIDES) as office:
        _, review = await proposed(office, to="a", subject=DECLARED, body="b")
        card = await office.card_of(review, button="review.open")

        mine = (await office.click(ADA, card, "review.open"))["view"]
        theirs = (await office.click(BEN, card, "review.open"))["view"]
        assert DECLARED not in json.dumps([mine, theirs])
        assert "review.reveal" not in json.dumps(theirs)
        shown = (await office.press(ADA, mine, "review.reveal", "pages"))["view"]
        forged = (
            (await office.press(BEN, theirs, "review.reveal", "pages"))
            if "review.reveal" in json.dumps(theirs)
            else None
        )

        assert DECLARED in json.dumps(shown)
        assert forged is None
        assert [event.actor for event in await office.events(review.id) if event.kind == "secret.revealed"] == [
            "slack:T0DEMO/U0ADA"
        ]

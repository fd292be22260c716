"""No log line, at any level, of either logging world, holds a secret, an argument or what a person typed."""

from __future__ import annotations

import io
import logging

import pytest

from bot import logs
from bot.sandbox.slack.seed import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from tests.kit.forging import forge, post, pressed
from tests.kit.office import ADA, BEN, DAN, local_agent, open_office

SEEDED = "seeded-7f3a91"
ARGUMENT, REASON, KEY = f"arg-{SEEDED}", f"why-{SEEDED}", f"key-{SEEDED}"


@pytest.fixture
def heard():
    """Everything that is logged from DEBUG up, set up as `serve` does and put back afterwards."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    levels = {name: logging.getLogger(name).level for name in logs.QUIET}
    logs.configure("json", level=logging.DEBUG)
    stream = io.StringIO()
    for handler in root.handlers:
        handler.setStream(stream)
    yield stream
    root.handlers[:], root.level = before[0], before[1]
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


async def busy_day(office):
    """Decisions of every kind, refusals, faults of Slack's and requests that nobody should send."""
    for preset in range(2):
        turns = [[{"name": "disable_user", "args": {"user_id": ARGUMENT, "reason": f"{KEY}-{preset}"}}]]
        thread = await office.propose(turns=turns)
        card = await office.card_of(await office.review(thread), button="decide.approve")
        if preset:
            answer = await office.click(ADA, card, "decide.reject")
            field = next(block["block_id"] for block in answer["view"]["blocks"] if block["type"] == "input")
            await office.submit(ADA, {field: REASON})
        else:
            await office.click(DAN, card, "decide.approve")
            await office.fault("chat.update", error="internal_error", times=1)
            await office.click(BEN, card, "decide.approve")
        await office.settled(thread)
    await edited(office)
    await forge(office, pressed(ADA, ARGUMENT, "decide.approve"))
    await post(office, f"payload={ARGUMENT}", secret="wrong")
    await post(office, f"payload={ARGUMENT}")
    await office.bots[0].post(
        "/v1/tenants/demo/threads/t-1/sync", json={"user_id": ARGUMENT}, headers={"Authorization": f"Bearer {KEY}"}
    )


async def edited(office):
    """What somebody types into a form, shown as a difference, and run; first with a value that cannot be sent."""
    turns = [
        [{"name": "refund", "args": {"order_id": 7, "amount": 1, "currency": ARGUMENT, "notify": True, "labels": None}}]
    ]
    thread = await office.propose(turns=turns)
    review = await office.review(thread)
    answer = await office.click(ADA, await office.card_of(review, button="decide.edit"), "decide.edit")
    named = {one["label"]["text"]: one["block_id"] for one in answer["view"]["blocks"] if one["type"] == "input"}
    refused = await office.submit(ADA, {named["amount"]: f"{SEEDED}-no-number"})
    assert refused["errors"]
    await office.submit(ADA, {named["amount"]: "2", named["currency"]: f"typed-{SEEDED}"})
    await office.submit(ADA)
    await office.settled(thread)


@pytest.mark.asyncio
async def test_a_full_run_at_debug_logs_no_secret_and_no_argument(heard, tmp_path):
    async with (
        local_agent(tmp_path) as agent,
        open_office(f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}", agent) as office,
    ):
        await busy_day(office)
        ran = office.ran()

    said = heard.getvalue()
    assert ran[0] == "disable_user"
    assert len(ran) == 2
    assert '"action"' in said
    secrets = (SEEDED, BOT_TOKEN, APP_TOKEN, SIGNING_SECRET, "demo-intake-token")
    assert [line for line in said.splitlines() if any(secret in line for secret in secrets)] == []

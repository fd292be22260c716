"""An operator's commands: as a request to the running replicas, or as the command line itself carries them."""

from __future__ import annotations

import json
from dataclasses import replace

from bot.cli_operate import Wish, carry
from bot.store import requests

OPERATOR = "operator:ops"


async def ask(office, kind, *, tenant=None, review=None, **content):
    """Leave a request, as the command line does, and wait for the answer of whichever replica takes it."""
    review_id = review.id if review else None
    async with office.stores[0].begin() as tx:
        asked = await requests.ask(tx, kind=kind, by=OPERATOR, tenant=tenant, review_id=review_id, content=content)
    office.wake()

    async def answered():
        async with office.stores[0].read() as tx:
            return await requests.answer_of(tx, asked)

    return json.loads(await office.until(answered, f"an answer to {kind}"))


async def command(office, database, kind, *, tenant=None):
    """The whole command: on a SQLite file that no other process holds it may act by itself."""
    return await carry(replace(office.settings, database_url=database), Wish(kind, tenant), by=OPERATOR)

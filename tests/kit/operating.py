"""What an operator does: a request to the running replicas, the command line itself, the menu on a card."""

from __future__ import annotations

import json
from dataclasses import replace

from bot.cli.operators import Wish, carry
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


def offered(card):
    """What the operators' menu holds."""
    menus = [block["accessory"] for block in card["blocks"] if block.get("block_id") == "operate"]
    return {option["value"].partition(":")[0]: option["value"] for menu in menus for option in menu["options"]}


async def chosen(office, user, card, operation):
    """Choose in the menu; the window that opens, or None."""
    return (await office.click(user, card, "operate", value=offered(card)[operation]))["view"]

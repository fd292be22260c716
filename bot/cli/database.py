"""The database as commands read it: opened for one question, closed after it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from bot.settings import read

if TYPE_CHECKING:
    from bot.store.engine import Tx

Found = TypeVar("Found")


async def reading(work: Callable[[Tx], Awaitable[Found]]) -> Found:
    """What `work` finds in one read transaction on the environment's database. Raises `StoreError`."""
    from bot.store.upgrade import open_store

    store = await open_store(read(os.environ).database_url)
    try:
        async with store.read() as tx:
            return await work(tx)
    finally:
        await store.close()

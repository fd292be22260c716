"""Opening the database, or one clear line why not.

Whatever is wrong (missing, cut, foreign, too old, too new, held, away) is found before the first worker starts. This
module must not change anything but by `migrate`, and that only for the one process that holds a SQLite file.
"""

from __future__ import annotations

from bot.store.address import SQLITE, Address, read_address
from bot.store.engine import Store
from bot.store.files import FileLock, require_whole
from bot.store.upgrade import require_current, upgrade


async def open_store(url: str, offset_ms: int = 0, *, exclusive: bool = False) -> Store:
    """An open store whose schema is the code's.

    `exclusive` (serve, demo) takes SQLite's file lock and creates or migrates the file; on PostgreSQL it changes
    nothing, because replicas share that. Raises `StoreError`.
    """
    address = read_address(url)
    lock = FileLock(address.path) if exclusive and address.path else None
    try:
        return await _open(address, offset_ms, lock)
    except BaseException:
        if lock:
            lock.release()
        raise


async def _open(address: Address, offset_ms: int, lock: FileLock | None) -> Store:
    if lock:
        await upgrade(address)
    if address.dialect == SQLITE and address.path:
        require_whole(address.path)
    store = Store(address, offset_ms=offset_ms, lock=lock)
    try:
        async with store.read() as tx:
            await tx.conn.run_sync(require_current, address.label)
    except BaseException:
        await store.close()
        raise
    return store

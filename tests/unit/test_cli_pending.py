"""`placet pending`: beside the reviews that wait, it names threads of which nobody can tell what waits there."""

from __future__ import annotations

import asyncio
import shutil

from typer.testing import CliRunner

from bot.cli.main import app
from bot.store.threads import note_unreadable
from bot.store.upgrade import open_store


async def leave_unreadable(url, thread):
    store = await open_store(url)
    async with store.begin() as tx:
        place = {"tenant": "demo", "identity": "approvals", "thread_id": thread}
        await note_unreadable(tx, **place, fault="read state: HTTP 500")
    await store.close()


def test_threads_that_cannot_be_read_are_named_beside_what_waits(migrated_file, tmp_path, monkeypatch):
    path = tmp_path / "placet.db"
    shutil.copy(migrated_file, path)
    path.chmod(0o600)
    url = f"sqlite:///{path}"
    monkeypatch.setenv("PLACET_DATABASE_URL", url)
    asyncio.run(leave_unreadable(url, "t\x1b1"))

    result = CliRunner().invoke(app, ["pending"])

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "0 not settled",
        "demo  Thread t\\x1b1 of approvals could not be read (once): read state: HTTP 500",
    ]

"""`placet repair --cancel-run`: nothing is stopped before it was said what is not known, and meant."""

from __future__ import annotations

import asyncio
import shutil

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from bot.cli.main import app
from bot.store.tables import requests
from bot.store.upgrade import open_store


@pytest.fixture
def asked(migrated_file, tmp_path, monkeypatch):
    """Run the command on a database of its own; what it left there, and what it said."""
    path = tmp_path / "placet.db"
    shutil.copy(migrated_file, path)
    path.chmod(0o600)
    monkeypatch.setenv("PLACET_DATABASE_URL", f"sqlite:///{path}")

    def run(*arguments, typed=""):
        result = CliRunner().invoke(app, ["repair", "r_gone", *arguments], input=typed)
        return result, asyncio.run(kinds(f"sqlite:///{path}"))

    return run


async def kinds(url):
    store = await open_store(url)
    async with store.read() as tx:
        found = list(await tx.conn.scalars(select(requests.c.kind)))
    await store.close()
    return found


def test_who_does_not_mean_it_stops_nothing(asked):
    result, left = asked("--cancel-run", typed="n\n")

    assert result.exit_code == 1
    assert "is not known" in result.stderr
    assert left == []


@pytest.mark.parametrize(("arguments", "typed"), [(["--cancel-run"], "y\n"), (["--cancel-run", "--yes"], "")])
def test_who_means_it_leaves_the_request_to_stop_the_run(asked, arguments, typed):
    result, left = asked(*arguments, typed=typed)

    assert left == ["cancel"]
    assert "There is no review r_gone" in result.stdout


def test_without_the_flag_it_is_a_repair(asked):
    assert asked()[1] == ["repair"]

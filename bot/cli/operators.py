"""Commands by which an operator acts: `pause`, `resume`, `settle`, `reopen`, `repair`.

Each leaves a request in the database for the process that serves and waits for its answer. Where nobody serves, it is
carried out here, in the same way. On the command line the operator is whoever the system says runs it.
"""

from __future__ import annotations

import asyncio
import getpass
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.errors import ConfigurationError, StoreError
from bot.settings import Settings, read

if TYPE_CHECKING:
    from bot.store.connection import FileLock
    from bot.store.engine import Store, Tx


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ReviewId = Annotated[str, typer.Argument(metavar="REVIEW", help="A review's id, r_…")]
TenantName = Annotated[str | None, typer.Argument(metavar="TENANT", help="The tenant's name.")]
AllOfThem = Annotated[bool, typer.Option("--all", help="Every tenant, those of a later policy too.")]

SURE = (
    "The run is interrupted on the agent server. What it has done by then is not known: the tool may have had its effect "
    "already, and stopping takes nothing back. Stop it?"
)
TAKEN_WITHIN_S = 5.0
ANSWERED_WITHIN_S = 60.0
ASK_EVERY_S = 0.1


class SettledAs(StrEnum):
    """What an operator found out about an unknown outcome."""

    EXECUTED = "executed"
    NOT_EXECUTED = "not-executed"


@dataclass(frozen=True, slots=True)
class Wish:
    """What an operator wants done."""

    kind: str
    tenant: str | None = None
    review_id: str | None = None
    content: Mapping[str, Any] = field(default_factory=dict)


async def carry(settings: Settings, wish: Wish, *, by: str) -> dict[str, Any]:
    """Have a wish carried out; the answer is `{"ok": …, "text": …}`. Raises `StoreError`."""
    from bot.store import requests
    from bot.store.upgrade import open_store

    store = await open_store(settings.database_url)
    try:
        async with store.begin() as tx:
            await _require_tenant(tx, wish.tenant)
            asked = await requests.ask(
                tx, kind=wish.kind, by=by, tenant=wish.tenant, review_id=wish.review_id, content=wish.content
            )
        answer = await _answered(settings, store, asked)
    finally:
        await store.close()
    return dict(json.loads(answer)) if answer else {"ok": False, "text": "No answer yet: it goes on without this."}


async def _answered(settings: Settings, store: Store, asked: str) -> str | None:
    from bot.store import requests
    from bot.store.connection import read_address

    lock = _nobody_serves(settings)
    try:
        if lock is None and await _wait(store, asked, TAKEN_WITHIN_S):
            return await _answer(store, asked)
        async with store.read() as tx:
            untaken = await requests.untaken(tx, asked)
        # Another process may hold a SQLite file without serving; two must not act on one.
        if untaken and (lock is not None or read_address(settings.database_url).path is None):
            await _ourselves(settings, store, asked)
    finally:
        if lock is not None:
            lock.release()
    await _wait(store, asked, ANSWERED_WITHIN_S)
    return await _answer(store, asked)


def _nobody_serves(settings: Settings) -> FileLock | None:
    """The right to act on a SQLite file, if no other process has it. PostgreSQL is shared by any number."""
    from bot.store.connection import FileLock, read_address

    path = read_address(settings.database_url).path
    try:
        return FileLock(path) if path else None
    except StoreError:
        return None


async def _answer(store: Store, asked: str) -> str | None:
    from bot.store import requests

    async with store.read() as tx:
        return await requests.answer_of(tx, asked)


async def _wait(store: Store, asked: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if await _answer(store, asked) is not None:
            return True
        await asyncio.sleep(ASK_EVERY_S)
    return False


async def _ourselves(settings: Settings, store: Store, asked: str) -> None:
    """Act as one more replica until the wish is answered, then be gone."""
    from bot.loops import Tasks
    from bot.operators.executor import make_requests
    from bot.runtimes.langgraph.client import Agents
    from bot.runtimes.langgraph.watch import Watcher
    from bot.store.policies import Policies

    agents, tasks = Agents(settings.secret), Tasks()
    watcher = Watcher(store, Policies(), agents, time.monotonic, _nothing, tasks)
    worker = make_requests(watcher, owner=f"cli-{secrets.token_hex(4)}", hint=_no_hint)
    try:
        while await _answer(store, asked) is None and await worker.step():
            pass
    finally:
        await tasks.stop(0)
        await agents.close()


def _nothing() -> None:
    """Nobody here draws cards: whoever serves next does."""


def _no_hint(tenant: str, identity: str, thread: str) -> None:
    """Nobody here reads threads unasked."""


async def _require_tenant(tx: Tx, name: str | None) -> None:
    """A name that nobody knows must not open an audit chain of its own. A tenant that left the policy may be paused still."""
    from bot.store.policies import require_tenant
    from bot.store.tenants import ALL, paused

    if name is None or name == ALL or name in await paused(tx):
        return
    await require_tenant(tx, name)


def _run(wish: Wish, *, as_json: bool) -> None:
    from bot import logs

    settings = read(os.environ)
    logs.configure(settings.log_format, level=logging.WARNING)
    told = asyncio.run(carry(settings, wish, by=f"operator:{getpass.getuser()}"))
    typer.echo(json.dumps(told) if as_json else told["text"])
    if not told["ok"]:
        raise typer.Exit(1)


def _tenant(name: str | None, *, all_of_them: bool) -> str:
    from bot.store.tenants import ALL

    if (name is None) != all_of_them:
        raise ConfigurationError("Name one tenant, or say --all.")
    return name or ALL


def pause(tenant: TenantName = None, all_of_them: AllOfThem = False, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Stop sending decisions of a tenant, or of all. Deciding stays open; nothing is lost."""
    _run(Wish("pause", _tenant(tenant, all_of_them=all_of_them)), as_json=as_json)


def resume(tenant: TenantName = None, all_of_them: AllOfThem = False, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Let decisions go out again; those that are still valid are sent."""
    _run(Wish("resume", _tenant(tenant, all_of_them=all_of_them)), as_json=as_json)


def settle(
    review: ReviewId,
    as_: Annotated[SettledAs, typer.Option("--as", help="What you found in the target system.")],
    note: Annotated[str, typer.Option(help="How you know. It stays in the audit.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Say what became of a call whose outcome is unknown. Not executed and still waiting: it is sent again."""
    if not note.strip():
        raise ConfigurationError("--note is empty: say how you know.")
    _run(Wish("settle", review_id=review, content={"as": as_.value, "note": note}), as_json=as_json)


def reopen(review: ReviewId, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Open a held review again, with new time to decide."""
    _run(Wish("reopen", review_id=review), as_json=as_json)


def repair(
    review: ReviewId,
    cancel_run: Annotated[bool, typer.Option("--cancel-run", help="Stop a stuck review's run instead.")] = False,  # noqa: FBT002
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether the run is to be stopped.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Fork a broken review's thread where that is provably safe, so that the agent asks again."""
    if cancel_run and not yes and not typer.confirm(SURE, err=True):
        raise typer.Exit(1)
    _run(Wish("cancel" if cancel_run else "repair", review_id=review), as_json=as_json)


def after_restore(*, as_json: bool) -> None:
    """Compare every unsettled review with its thread before anything is sent: for `doctor --after-restore`."""
    _run(Wish("restore"), as_json=as_json)

"""`placet audit verify|export|head`: what an auditor asks for. They read, and change nothing."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.database import reading
from bot.errors import ConfigurationError
from bot.settings import read

if TYPE_CHECKING:
    from bot.store.audit.events import RecordedEvent
    from bot.store.audit.verify import GivenHead, Report
    from bot.store.engine import Tx


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Tenant = Annotated[str | None, typer.Option(help="Only this tenant's chain; * is the one of the policy and of people.")]


def _given(texts: list[str]) -> list[GivenHead]:
    from bot.store.audit.verify import GivenHead

    found = {text: GivenHead.read(text) for text in texts}
    for text, head in found.items():
        if head is None:
            raise ConfigurationError(f"--head {text} is no head: write SEQ:HASH as `placet audit head` prints it.")
    return [head for head in found.values() if head is not None]


@app.command(name="verify")
def verify_command(
    head: Annotated[
        list[str] | None, typer.Option(help="A head kept elsewhere, SEQ:HASH; once for each chain.")
    ] = None,
    tenant: Tenant = None,
    as_json_: AsJson = False,  # noqa: FBT002
) -> None:
    """Walk the audit's chains. Exit 1 where something was changed, removed, moved or put in."""
    from bot.store.audit.verify import VerifyRequest, as_json, verify

    asked = VerifyRequest(tenant, _given(head or []), read(os.environ).secret_key)

    async def work(tx: Tx) -> Report:
        return await verify(tx, asked)

    report = asyncio.run(reading(work))
    typer.echo(as_json(report) if as_json_ else _told(report))
    if not report.holds:
        raise typer.Exit(1)


def _told(report: Report) -> str:
    lines = [
        f"{walk.tenant}: {walk.head.seq} events in order, head {walk.head}"
        + (f", {walk.unsealed} not sealed yet" if walk.unsealed else "")
        for walk in report.chains
    ]
    lines += [f"WRONG  {one.tenant or 'audit'}: {one.kind}: {one.text}" for one in report.findings]
    lines += [f"unproven  {one}" for one in report.unproven]
    return "\n".join([*lines, "The audit holds." if report.holds else "The audit does not hold."])


@app.command()
def export(tenant: Tenant = None) -> None:
    """Print every event as one line of JSON, in the order in which they were written."""
    from bot.store.audit.seal import chained_events

    async def work(tx: Tx) -> None:
        async for page in chained_events(tx, tenant=tenant):
            for event in page:
                typer.echo(json.dumps(_line(event)))

    asyncio.run(reading(work))


def _line(event: RecordedEvent) -> dict[str, Any]:
    """As it is hashed: `content` stays the text that the hash is over."""
    from bot.store.audit.events import RecordedEvent

    return {name: getattr(event, name) for name in RecordedEvent.__slots__}


@app.command()
def head(as_json_: AsJson = False) -> None:  # noqa: FBT002
    """Print each chain's head, to be kept where nobody who can write the database can write."""
    from bot.store.audit.chain import head_mac
    from bot.store.audit.seal import heads

    secret = read(os.environ).secret_key
    found = asyncio.run(reading(heads))
    rows = [
        {"tenant": tenant, "head": str(one), "mac": head_mac(secret, tenant, one) if secret else None}
        for tenant, one in found.items()
    ]
    if as_json_:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['tenant']}  {row['head']}" + (f":{row['mac']}" if row["mac"] else ""))

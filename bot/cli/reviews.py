"""Commands that look at reviews: `pending`, `show`, `stats`. They read, and change nothing."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blocks.ids import digest_groups
from bot.cli.database import reading
from bot.core.digest import shown
from bot.core.model import Action, Review
from bot.errors import ConfigurationError

if TYPE_CHECKING:
    from bot.store import threads
    from bot.store.audit import events as audit
    from bot.store.engine import Tx


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LISTED = 200


def moment(at: int | None) -> str | None:
    """Database milliseconds as ISO 8601 in UTC."""
    return None if at is None else datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")


def action_json(action: Action) -> dict[str, Any]:
    """One action without its arguments: those stand in Slack and in the agent server."""
    decision = action.decision
    return {
        "position": action.position,
        "tool": action.tool,
        "allowed": [kind.value for kind in action.allowed],
        "problem": action.problem or None,
        "digest": action.digest,
        "decision": None
        if decision is None
        else {"type": decision.type.value, "by": decision.by.user, "at": moment(decision.at), "rule": decision.rule},
        "outcome": action.outcome.value if action.outcome else None,
    }


def review_json(review: Review) -> dict[str, Any]:
    """One review as the commands print it."""
    return {
        "id": review.id,
        "tenant": review.tenant,
        "state": review.state.value,
        "why": review.why or None,
        "problem": review.problem or None,
        "server": review.target.url,
        "identity": review.target.identity,
        "thread_id": review.thread_id,
        "interrupt_id": review.interrupt_id,
        "requester": review.requester,
        "opened_at": moment(review.opened_at),
        "delivered_at": moment(review.delivered_at),
        "decide_by": moment(review.decide_by),
        "settled_at": moment(review.settled_at),
        "actions": [action_json(action) for action in review.actions],
    }


def pending(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List reviews that are not settled, oldest first, and threads that cannot be read."""
    from bot.doctor.report import unreadable_line
    from bot.store import reviews, threads
    from bot.store.policies import require_tenant

    async def work(tx: Tx) -> tuple[list[Review], list[threads.Unreadable]]:
        if tenant is not None:
            await require_tenant(tx, tenant)
        return (
            await reviews.list_pending(tx, tenant=tenant, limit=LISTED),
            await threads.unreadable(tx, tenant=tenant),
        )

    found, unread = asyncio.run(reading(work))
    if as_json:
        typer.echo(json.dumps([review_json(review) for review in found], indent=2))
        return
    for review in found:
        tools = ", ".join(ascii(action.tool)[1:-1] for action in review.actions)
        typer.echo(f"{review.id}  {review.tenant}  {review.state.value:10}  {moment(review.opened_at)}  {tools}")
    typer.echo(f"{len(found)} not settled" + (" (the oldest are shown)" if len(found) == LISTED else ""))
    for one in unread:
        typer.echo(f"{one.tenant}  {unreadable_line(one)}")


def show(review: Annotated[str, typer.Argument(help="A review's id, r_…")], as_json: AsJson = False) -> None:  # noqa: FBT002
    """Show one review and its audit events."""
    from bot.store import reviews
    from bot.store.audit import events as audit

    async def work(tx: Tx) -> tuple[Review | None, list[audit.RecordedEvent]]:
        return await reviews.load_review(tx, review), await audit.events_of(tx, review)

    found, events = asyncio.run(reading(work))
    if found is None:
        raise ConfigurationError(f"There is no review {review}: `placet pending` lists those that wait.")
    told = [
        {
            "at": moment(one.at),
            "kind": one.kind,
            "actor": one.actor,
            "position": one.position,
            **json.loads(one.content),
        }
        for one in events
    ]
    if as_json:
        typer.echo(json.dumps({**review_json(found), "events": told}, indent=2))
        return
    typer.echo(f"{found.id}  {found.tenant}  {found.state.value}{f' ({found.why})' if found.why else ''}")
    for action in found.actions:
        typer.echo(
            f"  {action.position + 1}. {ascii(action.tool)[1:-1]}  digest {digest_groups(shown(_digest(action)))}{_fate(action)}"
        )
    for one in events:
        typer.echo(f"  {moment(one.at)}  {one.kind}  {one.actor}")


def _digest(action: Action) -> str:
    """Of what was decided, or what an approval would decide now: after an edit, of its final arguments."""
    return action.decision.digest if action.decision else action.standing_digest


def _fate(action: Action) -> str:
    decided = f"  {action.decision.type.value} by {action.decision.by.user}" if action.decision else ""
    return decided + (f"  -> {action.outcome.value}" if action.outcome else "")


def stats(as_json: AsJson = False) -> None:  # noqa: FBT002
    """Count what is not settled, by tenant and state, with each tenant's faults and pauses."""
    from bot.store import reviews, tenants

    async def work(tx: Tx) -> dict[str, Any]:
        found = await reviews.list_pending(tx, limit=100_000)
        faults, paused = await tenants.faults(tx), await tenants.paused(tx)
        counted = Counter((review.tenant, review.state.value) for review in found)
        return {
            "reviews": [
                {"tenant": name, "state": state, "count": count} for (name, state), count in sorted(counted.items())
            ],
            "faults": [
                {"tenant": name, "code": fault.code, "channel": fault.channel, "at": moment(fault.at)}
                for name, fault in faults.items()
            ],
            "paused": [{"tenant": name, "by": pause.by, "at": moment(pause.at)} for name, pause in paused.items()],
        }

    told = asyncio.run(reading(work))
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    if not any(told.values()):
        typer.echo("Nothing waits, and no tenant has a fault.")
    for row in told["reviews"]:
        typer.echo(f"{row['tenant']}  {row['state']:10}  {row['count']}")
    for row in told["faults"]:
        where = f" in {row['channel']}" if row["channel"] else ""
        typer.echo(f"{row['tenant']}  fault: {row['code']}{where} since {row['at']}")
    for row in told["paused"]:
        typer.echo(f"{row['tenant']}  paused by {row['by']} since {row['at']}")

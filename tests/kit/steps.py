"""Steps that several acceptance rows share: holding decisions back, changing who people are, letting an agent go on.

Each speaks to the office as somebody outside would, or is an operator's act on the store. Nothing of ours is replaced.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from sqlalchemy import select

from bot.sandbox.slack.records import Channel, Member
from bot.store import messages, people, tenants
from bot.store.tables import audit_events
from bot.store.tables import refusals as counted
from tests.kit.office import CHANNEL, CLEO, Office, buttons, policy_text
from tests.kit.wiretap import Heard, resumes

TENANT = "demo"
SUPPORT = "S0SUPPORT"


# -- between a click and its dispatch


async def pause(office: Office) -> None:
    """Hold every decision of the tenant back from now on."""
    async with office.stores[0].begin() as tx:
        await tenants.pause(tx, TENANT, by="test")


async def resume(office: Office) -> None:
    """Let them go."""
    async with office.stores[0].begin() as tx:
        await tenants.resume(tx, TENANT, by="test")
    office.wake()


def blindfold(office: Office) -> None:
    """Stop reading agent servers, so that only the dispatch itself can notice what changed there."""
    for placet in office.replicas:
        for task in placet._running:
            if task.get_name() == "loop watch":
                task.cancel()


def unblind(office: Office) -> None:
    """Read agent servers again."""
    for placet in office.replicas:
        placet._running.append(asyncio.create_task(placet.loops["watch"].run(), name="loop watch"))


async def rewrite(office: Office, **lines: str) -> None:
    """Put another policy in force, made as the first one was."""
    await office.apply_policy(policy_text(lines.pop("url", office.agent.url), kind=office.agent.kind, **lines))


# -- the agent's side


async def start(
    office: Office, assistant: str, given: dict[str, Any], *, user: str = CLEO, identity: str = "approvals"
) -> str:
    """Start any assistant on a new thread."""
    headers = {"X-User-Id": identity}
    made = await office.agents.post("/threads", json={"metadata": {"slack_user": user}}, headers=headers)
    thread = str(made.raise_for_status().json()["thread_id"])
    await run_on(office, thread, {"assistant_id": assistant, "input": given}, identity=identity)
    return thread


async def run_on(office: Office, thread: str, body: dict[str, Any], *, identity: str = "approvals") -> None:
    """Start a run as some other client of the agent server would."""
    answer = await office.agents.post(f"/threads/{thread}/runs", json=body, headers={"X-User-Id": identity})
    answer.raise_for_status()


async def paused(office: Office, thread: str) -> None:
    """Wait until a thread waits for people, and tell the bot."""

    async def there() -> bool:
        return (await office.thread(thread))["status"] not in ("busy", "idle")

    await office.until(there, f"thread {thread} to pause")
    await office.hint(thread)


async def propose_instead(office: Office, thread: str, *calls: dict[str, Any]) -> None:
    """Have the agent drop what it proposed and propose this: what a new message in a waiting thread does."""
    before = {one["id"] for one in await pending(office, thread)}
    said = json.dumps({"turns": [list(calls)]})
    given = {"messages": [{"role": "user", "content": said}]}
    await run_on(office, thread, {"assistant_id": "ops", "input": given})

    async def replaced() -> bool:
        now = {one["id"] for one in await pending(office, thread)}
        return bool(now - before)

    await office.until(replaced, "another proposal")
    await paused(office, thread)


async def pending(office: Office, thread: str) -> list[dict[str, Any]]:
    """The interrupts that the thread's state lists."""
    return [one for task in (await office.state(thread))["tasks"] for one in task["interrupts"]]


def call(name: str, **args: Any) -> dict[str, Any]:
    """One call for a script."""
    return {"name": name, "args": args}


def sent(office: Office, thread: str) -> list[dict[str, Any]]:
    """The bodies of the answers that Placet sent to a thread, in order."""
    return [one.json for one in heard(office, thread)]


def heard(office: Office, thread: str) -> list[Heard]:
    """The same with their bytes and times."""
    return resumes(office.agent.heard, thread)


# -- people


def hire(office: Office, user: str, *, group: bool = False, **facts: Any) -> None:
    """Add somebody to the workspace, the channel and, with `group`, the reviewers' group."""
    world = office.world
    channel = world.channels[CHANNEL]
    members = channel.members | {user}
    world.add(
        Member(user, user[2:].title(), "T0DEMO", **facts),
        Channel(channel.id, channel.name, channel.team_id, members, channel.kind, channel.is_archived),
    )
    if group:
        held = world.groups[SUPPORT]
        world.add(type(held)(held.id, held.handle, held.team_id, (*held.users, user)))


async def change(office: Office, user: str, **facts: Any) -> None:
    """Change an account or its groups; Slack says nothing of it to the bot."""
    body = {"id": user, "silent": True, **facts}
    (await office.slack.post("/sandbox/people", json=body)).raise_for_status()


async def reread(office: Office, *users: str) -> None:
    """Let a minute pass, after which the bot has asked Slack again about the reviewers' group and these people."""
    store = office.stores[0]
    began = await store.now()
    office.advance(61_000)

    async def fresh() -> bool:
        async with store.read() as tx:
            known = await people.group_as_of(tx, "T0DEMO", SUPPORT) or 0
            rows = [await people.person(tx, "T0DEMO", user) for user in users]
        return known > began and all(row is not None and row.as_of > began for row in rows)

    await office.until(fresh, "everybody to be known anew")


async def heal(office: Office) -> None:
    """Take all of Slack's faults back."""
    (await office.slack.post("/sandbox/faults", json={"clear": True})).raise_for_status()


# -- what stands in Slack and in the record


async def directly(office: Office, user: str) -> list[str]:
    """What the app has told somebody so far in their own conversation with it."""
    answer = await office.slack.get("/sandbox/calls", params={"method": "chat.postMessage"})
    made = answer.raise_for_status().json()
    return [one["args"]["text"] for one in made if one["args"].get("channel") == user and one["error"] is None]


async def told_directly(office: Office, user: str, containing: str = "") -> str:
    """Wait for a direct message that says this."""

    async def there() -> str | None:
        return next((text for text in await directly(office, user) if containing in text), None)

    return str(await office.until(there, f"{user} to be told {containing!r}"))


def says(message: dict[str, Any]) -> str:
    """Everything that a message shows, for searching."""
    return json.dumps([message["text"], message["blocks"]], ensure_ascii=False)


async def opened(office: Office, thread: str, count: int = 1) -> list[Any]:
    """Wait for a thread's open reviews, all with their cards posted; oldest first."""

    async def there() -> list[Any] | None:
        found = [one for one in await office.reviews(thread) if one.state.value == "open"]
        return found if len(found) >= count and all([await _posted(office, one) for one in found]) else None

    return list(await office.until(there, f"{count} open reviews of {thread}"))


async def _posted(office: Office, review: Any) -> bool:
    async with office.stores[0].read() as tx:
        rows = await messages.messages_of(tx, review.id)
    return bool(rows) and all(row.ts for row in rows)


async def stands(office: Office, review: Any, *states: str, why: str | None = None) -> Any:
    """Wait until a review is in one of these states; returns it as it then is."""

    async def there() -> Any:
        now = next((one for one in await office.reviews() if one.id == review.id), None)
        return now if now and now.state.value in states and why in (None, now.why) else None

    return await office.until(there, f"{review.id} to be {states} {why or ''}")


async def redrawn(office: Office, review: Any, containing: str, *, position: int | None = 0) -> dict[str, Any]:
    """Wait until a review's card says this."""

    async def there() -> dict[str, Any] | None:
        card = await office.card_of(review, position)
        return card if containing in says(card) else None

    return dict(await office.until(there, f"the card of {review.id} to say {containing!r}"))


def deciding(message: dict[str, Any]) -> list[str]:
    """The decisions that a card offers."""
    return [action_id for action_id in buttons(message) if action_id.startswith("decide.")]


async def decide_in_modal(office: Office, user: str, card: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
    """Press Reject or Respond and say this."""
    answer = await office.click(user, card, f"decide.{kind}")
    field = next(block["block_id"] for block in answer["view"]["blocks"] if block["type"] == "input")
    return await office.submit(user, {field: text})


async def refusals(office: Office) -> list[tuple[str, str]]:
    """Every refused press: who, and for what reason; first those on record, then their repeats, which are counted."""
    columns = select(audit_events.c.actor, audit_events.c.content).where(
        audit_events.c.kind.in_(("press.refused", "press.refused.again"))
    )
    async with office.stores[0].read() as tx:
        rows = (await tx.conn.execute(columns.order_by(audit_events.c.id))).all()
        counting = (await tx.conn.execute(select(counted))).all()
    told = [(row.actor.rpartition("/")[2], json.loads(row.content)) for row in rows]
    first = [(user, content["reason"]) for user, content in told if "count" not in content]
    again = [(user, content["reason"]) for user, content in told for _ in range(content.get("count", 0))]
    return first + again + [(row.user_id, row.reason) for row in counting for _ in range(row.more)]

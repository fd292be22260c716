"""Every pattern of `graphs/patterns.py` through every decision, in one office on one real server, side by side.

A server's start and an agent's run cost seconds, and 60 threads cost hardly more than one; so all of them go through
each step together, and what was seen of each is kept for the tests to read.
"""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.core.model import Review
from bot.store import threads
from tests.kit.office import ADA, CLEO, WHO, Office
from tests.live.offices import office_at
from tests.live.servers import LiveServer

DISABLE = {"name": "disable_user", "args": {"user_id": "u_4821", "reason": "chargeback dispute"}}
BOOM = {"name": "flaky_op", "args": {"why": "the far end hung up"}}
EMAIL = {"name": "send_email", "args": {"to": "ada@example.com", "subject": "Your order", "body": "It left."}}
REASON, ANSWER, EDITED = "Wrong account.", "Ask the owner first.", "fraud review"
ENDED = ("resumed", "superseded", "broken", "unknown")
# A server that does not pass on what a call allows leaves it to the policy.
EVERY_DECISION = '      "*": {decisions: [approve, edit, reject, respond]}\n'
REVIEWER = '      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}\n'


@dataclass(slots=True)
class Seen:
    """One thread from its proposal to its end: what the person read, what the service saw, what was sealed."""

    pattern: str
    decision: str
    thread: str = ""
    review: Review | None = None  # of the call that was decided as `decision` says
    sibling: Review | None = None  # of the other branch, approved before it, where there is one
    effects: list[dict[str, Any]] = field(default_factory=list)
    card: str = ""
    audit: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    unreadable: bool = False  # the server answers 500 when asked for the thread's state
    noted: bool = False  # and Placet keeps the thread among those that it cannot read
    failed: str = ""  # what went wrong on the way
    state: Any = None
    runs: Any = None

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.audit]


def script(pattern: str, decision: str) -> dict[str, Any]:
    """The input of a run that ends in front of the call to decide."""
    call = BOOM if decision == "raise" else DISABLE
    if pattern == "tool_interrupt":
        reason = "raise" if decision == "raise" else DISABLE["args"]["reason"]
        call = {"name": "disable_after_asking", "args": DISABLE["args"] | {"reason": reason}}
    if pattern.startswith("send"):
        return {"scripts": [_turns([call]), _turns([EMAIL])]}
    if pattern == "deep_subagent":
        return _say(_turns([_call("task", description=_turns([call]), subagent_type="worker")]))
    if pattern in ("supervisor", "swarm"):
        return _say(_turns([_call("transfer_to_worker")], [call]))
    return _say(_turns([call]))


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def _turns(*turns: list[dict[str, Any]]) -> str:
    return json.dumps({"turns": turns})


def _say(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def run_all(server: LiveServer, database: Path, cells: list[tuple[str, str]]) -> dict[tuple[str, str], Seen]:
    """What was seen of each (pattern, decision)."""
    seen = [Seen(pattern, decision) for pattern, decision in cells]
    url = f"sqlite+aiosqlite:///{database}"
    async with office_at(server, url, reviewers=REVIEWER, tools=EVERY_DECISION) as office:
        for one in seen:
            await _start(office, one)
        await _until_shown(office, seen)
        await _decide_all(office, seen, siblings=True)
        await _decide_all(office, seen, siblings=False)
        for one in seen:
            await _keep(office, one)
    return {(one.pattern, one.decision): one for one in seen}


async def _start(office: Office, one: Seen) -> None:
    made = await office.agents.post("/threads", json={"metadata": {"slack_user": CLEO}}, headers=WHO)
    one.thread = made.raise_for_status().json()["thread_id"]
    body = {"assistant_id": one.pattern, "input": script(one.pattern, one.decision)}
    (await office.agents.post(f"/threads/{one.thread}/runs", json=body, headers=WHO)).raise_for_status()


async def _reviews(office: Office, seen: list[Seen]) -> None:
    """Read every thread's reviews anew."""
    by_thread: dict[str, list[Review]] = {}
    for review in await office.reviews():
        by_thread.setdefault(review.thread_id, []).append(review)
    for one in seen:
        found = by_thread.get(one.thread, [])
        one.sibling = next((review for review in found if review.actions[0].tool == "send_email"), None)
        one.review = next((review for review in found if review is not one.sibling), None)


async def _wait(office: Office, seen: list[Seen], done: Any, what: str, *, patience: float) -> None:
    """Wait until every thread is there; whichever is not when patience ends is marked as failed, and the rest go on."""

    async def there() -> bool:
        await _reviews(office, seen)
        return all(one.failed or done(one) for one in seen)

    try:
        await office.until(there, what, patience=patience, every=0.3)
    except AssertionError:
        for one in seen:
            if not one.failed and not done(one):
                one.failed = f"waited in vain for {what}"


async def _until_shown(office: Office, seen: list[Seen]) -> None:
    def shown(one: Seen) -> bool:
        return one.review is not None and (not one.pattern.startswith("send") or one.sibling is not None)

    for one in seen:
        one.unreadable = await _unreadable(office, one.thread)
    await _wait(office, [one for one in seen if not one.unreadable], shown, "a card", patience=60)


async def _unreadable(office: Office, thread: str) -> bool:
    """Whether the thread paused and its state cannot be had."""

    async def paused() -> bool:
        return str((await office.thread(thread))["status"]) not in ("busy", "idle")

    await office.until(paused, f"thread {thread} to pause", patience=60)
    return (await office.agents.get(f"/threads/{thread}/state", headers=WHO)).status_code >= 500


async def _decide_all(office: Office, seen: list[Seen], *, siblings: bool) -> None:
    """The siblings first and then the calls that the tests are about: what is told of these is then not in flux."""
    for one in seen:
        review = one.sibling if siblings else one.review
        if one.failed or one.unreadable or review is None:
            continue
        try:
            await _decide(office, review, "approve" if siblings else one.decision)
        except (AssertionError, TypeError) as exc:
            one.failed = f"could not be decided: {exc}"

    def ended(one: Seen) -> bool:
        review = one.sibling if siblings else one.review
        return review is None or review.state.value in ENDED

    await _wait(office, seen, ended, "the end of a review", patience=90)


async def _decide(office: Office, review: Review, decision: str) -> None:
    if decision in ("approve", "raise"):
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        return
    button = f"decide.{decision.removesuffix('-silently')}"
    await office.click(ADA, await office.card_of(review, button=button), button, wait_s=20)
    if decision == "edit":
        await office.submit(ADA, {"reason": EDITED})
        answer = await office.submit(ADA)
    else:
        answer = await office.submit(ADA, {"m.0": {"reject": REASON, "respond": ANSWER}.get(decision, "")})
    if answer["view"] is not None:
        office.world.set_modals(ADA, ())
        raise AssertionError(f"the window stayed open: {json.dumps(answer, ensure_ascii=False)[:2000]}")


async def _keep(office: Office, one: Seen) -> None:
    one.effects = office.effects(one.thread)
    state = await office.agents.get(f"/threads/{one.thread}/state", params={"subgraphs": "true"}, headers=WHO)
    one.state = state.json() if state.status_code == 200 else {"status": state.status_code, "text": state.text}
    one.runs = (await office.agents.get(f"/threads/{one.thread}/runs", headers=WHO)).json()
    if one.review is None:
        async with office.stores[0].read() as tx:
            one.noted = one.thread in {found.thread_id for found in await threads.unreadable(tx)}
        return
    one.card = json.dumps(await office.card_of(one.review), ensure_ascii=False)
    events = await office.events(one.review.id)
    one.audit = [(event.kind, json.loads(event.content)) for event in events]


def fresh_database(migrated_file: Path, folder: Path) -> Path:
    """A SQLite file with the schema and no rows."""
    shutil.copy(migrated_file, folder / "placet.db")
    return folder / "placet.db"

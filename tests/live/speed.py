"""`python -m tests.live.speed`: how long one approval takes on live Aegra, step by step, and what it costs.

Times are the record's own, between the decision and each later event, for approvals one after the other. A bare answer,
posted without Placet, tells how fast the machine and the server are by themselves. Calls and commits are counted for
the dispatch alone.
"""

import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx
from sqlalchemy import event, select

from bot.store.tables import reviews
from tests.kit.office import ADA, Office
from tests.kit.postgres import running_postgres
from tests.live.offices import answered_elsewhere, office_at
from tests.live.servers import aegra_server

APPROVALS = 20
STEPS = {"review.claimed": "claimed", "review.armed": "armed", "review.sent": "accepted", "review.resumed": "outcome"}


async def approve(office: Office) -> dict[str, int]:
    """One approval; milliseconds from the decision to each step."""
    thread = await office.propose("one")
    review = await office.review(thread)
    card = await office.card_of(review, button="decide.approve")
    await office.click(ADA, card, "decide.approve", wait_s=0)
    await office.until(lambda: settled(office, review.id), "the outcome", every=0.25)
    at = {one.kind: one.at for one in await office.events(review.id)}
    return {f"decided -> {name}": at[kind] - at["review.decided"] for kind, name in STEPS.items()}


async def bare(office: Office) -> dict[str, int]:
    """One approval posted to the server and waited for, with nothing around it."""
    thread = await office.propose("one")
    began = time.perf_counter()
    await answered_elsewhere(office, thread, {"decisions": [{"type": "approve"}]})
    return {"bare answer": round((time.perf_counter() - began) * 1000)}


async def settled(office: Office, review_id: str) -> bool:
    """Asked for rarely and cheaply, so that the asking is not what is measured."""
    async with office.stores[0].read() as tx:
        return bool(await tx.conn.scalar(select(reviews.c.settled_at).where(reviews.c.id == review_id)))


@contextlib.contextmanager
def counted(office: Office):
    """What the first replica's dispatches asked of the agent server, and their commits that changed a dispatch."""
    counts: Counter[str] = Counter()
    plain = httpx.AsyncClient.send
    changed: set[str] = set()

    async def send(client, request, **how):
        if task_name().startswith("dispatch "):
            counts[f"{request.method} {request.url.path.rpartition('/')[2]}"] += 1
        return await plain(client, request, **how)

    def executed(_conn, cursor, statement, *_):
        names = statement.split(maxsplit=3)
        if "dispatches" in names[1:3] and cursor.rowcount > 0:
            changed.add(task_name())

    def committed(_conn):
        counts["commit"] += task_name() in changed
        changed.discard(task_name())

    engine = office.stores[0]._writer.sync_engine
    event.listen(engine, "after_cursor_execute", executed)
    event.listen(engine, "commit", committed)
    httpx.AsyncClient.send = send
    try:
        yield counts
    finally:
        httpx.AsyncClient.send = plain
        event.remove(engine, "after_cursor_execute", executed)
        event.remove(engine, "commit", committed)


def task_name() -> str:
    task = asyncio.current_task()
    return "" if task is None else task.get_name()


async def measure(server, database: str) -> None:
    async with office_at(server, database) as office:
        await approve(office)  # the first one also fills caches
        with counted(office) as counts:
            report([await approve(office) for _ in range(APPROVALS)])
        print("a dispatch:", json.dumps({name: round(count / APPROVALS, 1) for name, count in counts.most_common()}))
        report([await bare(office) for _ in range(APPROVALS)])


def report(taken: list[dict[str, int]]) -> None:
    for name in taken[0]:
        times = sorted(one[name] for one in taken)
        p95 = times[round(len(times) * 0.95) - 1]
        print(f"{name:20} p50 {statistics.median(times):5.0f} ms   p95 {p95:5.0f} ms")


def main() -> None:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(running_postgres(folder))
        server = stack.enter_context(aegra_server(folder, postgres))
        print("SQLite")
        asyncio.run(measure(server, f"sqlite+aiosqlite:///{folder / 'placet.db'}"))
        print("PostgreSQL")
        asyncio.run(measure(server, postgres.url(postgres.new_database(), driver="postgresql+asyncpg")))


if __name__ == "__main__":
    main()

"""The whole way, look, send, look, judge: on the sandbox's server in both servers' manners, and on the real ones."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from bot.core.json import dump
from bot.core.model import DecisionType, Outcome
from bot.errors import AgentError, AgentRejected, AgentUnreachable
from bot.runtimes.langgraph.client import AgentClient, ThreadSnapshot
from bot.runtimes.langgraph.outcomes import call_results, tool_call_ids
from bot.runtimes.langgraph.resume import Resume, SendSettings, commands_body, resume_body, send
from bot.runtimes.langgraph.transport import AgentServer, make_http
from bot.runtimes.langgraph.verdict import Observation, Verdict, VerdictKind, judge
from bot.runtimes.langgraph.wire import PendingInterrupt
from bot.sandbox.agents import effects
from bot.sandbox.agents.app import MEMORY, create_app
from bot.sandbox.agents.propose import propose
from bot.sandbox.serving import serving

APPROVE, EDIT, REJECT, RESPOND = DecisionType
KEY = "k"


@dataclass
class Bench:
    """One sandbox server with a client, and what was sent so far."""

    client: AgentClient
    outside: httpx.AsyncClient
    send_settings: SendSettings
    effects: Path
    kind: str

    async def paused(self, **what: Any) -> str:
        """A new thread, waiting."""
        thread = (await propose(self.outside, user="U0REQ", **what))["thread_id"]
        await self.until(
            lambda: self.client.thread(thread), lambda row: row is not None and row.status == "interrupted"
        )
        return thread

    async def until(self, read: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]) -> Any:
        async with asyncio.timeout(20):
            while not holds(found := await read()):  # noqa: ASYNC110 - a server: nothing to wait on but its answer
                await asyncio.sleep(0.01)
        return found

    async def pending(self, thread: str) -> tuple[PendingInterrupt, ...]:
        state = await self.client.state(thread)
        assert state is not None
        return state.pending

    def ran(self, thread: str) -> list[str]:
        return [effect["tool"] for effect in effects.read(self.effects) if effect["thread_id"] == thread]


@dataclass(frozen=True)
class Asked:
    """One interrupt as a review would hold it."""

    thread: str
    interrupt: PendingInterrupt
    call_ids: tuple[str | None, ...]
    dispatch: str

    def observed(self, look: ThreadSnapshot, sent: tuple[DecisionType, ...], kind: str, **more: Any) -> Observation:
        state = look.state
        listed = [one for one in state.pending if one.id == self.interrupt.id] if state else []
        return Observation(
            dispatch=self.dispatch,
            kind=kind,
            sent=sent,
            results=call_results(state.all_messages, self.call_ids, edited=state.edited_tool_calls) if state else (),
            listed=bool(listed),
            same_digest=any(one.value == self.interrupt.value for one in listed),
            task_error=listed[0].task_error if listed else None,
            thread_status=look.thread.status if look.thread else None,
            runs=look.runs,
            errors=state.errors if state else (),
            asks_only=bool(listed) and listed[0].answer_refused,
            mark_seen=state is not None and state.dispatch == self.dispatch,
            others_pending=state is not None and any(one.id != self.interrupt.id for one in state.pending),
            **more,
        )


@asynccontextmanager
async def sandbox(kind: str, folder: Path, tls: ssl.SSLContext) -> AsyncIterator[Bench]:
    counted = folder / "effects.jsonl"
    app = create_app(database=MEMORY, effects_file=counted, kind=kind, api_key=KEY)
    async with serving(app) as url, services(AgentServer(url, kind, "approvals", KEY), counted, tls) as here:
        yield here


@asynccontextmanager
async def services(server: AgentServer, counted: Path, tls: ssl.SSLContext) -> AsyncIterator[Bench]:
    key = {"Authorization": f"Bearer {KEY}"}
    outside = httpx.AsyncClient(base_url=server.url, headers=key, verify=tls, timeout=30)
    async with make_http(tls) as http, outside:
        yield Bench(AgentClient(server, http), outside, SendSettings(tls), counted, server.kind)


REAL = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest_asyncio.fixture(
    params=[
        "sandbox-aegra",
        "sandbox-langgraph",
        pytest.param("aegra", marks=REAL),
        pytest.param("langgraph_dev", marks=REAL),
    ]
)
async def here(request: pytest.FixtureRequest, tmp_path: Path, tls: ssl.SSLContext) -> AsyncIterator[Bench]:
    """A client of each server in turn."""
    kind = "aegra" if "aegra" in request.param else "langgraph"
    if request.param.startswith("sandbox"):
        async with sandbox(kind, tmp_path, tls) as made:
            yield made
        return
    live = request.getfixturevalue(request.param)
    async with services(AgentServer(live.url, kind, "approvals", KEY), live.effects_file, tls) as made:
        yield made


async def review(here: Bench, thread: str, number: int = 0) -> Asked:
    state = await here.client.state(thread)
    assert state is not None
    one = state.pending[number]
    if "action_requests" in one.value:
        calls = [(call["name"], dump(call["args"])) for call in one.value["action_requests"]]
        ids = tool_call_ids(state.messages_for(one), calls)
    else:
        ids = (one.value["tool_call_id"],)
    return Asked(thread, one, ids, f"d_{one.id[:6]}")


def answers(*decisions: dict[str, Any]) -> dict[str, Any]:
    return {"decisions": list(decisions)}


SAYS = {APPROVE: {"type": "approve"}, REJECT: {"type": "reject"}, RESPOND: {"type": "respond", "message": "EU"}}


async def armed() -> None:
    """An arm that commits at once."""


async def dispatch(here: Bench, asked: Asked, answer: Any, *, route: str = "runs", attempt: int = 1) -> None:
    make = commands_body if route == "commands" else resume_body
    body = make(
        assistant="fanout" if "branch" in asked.interrupt.checkpoint_ns else "ops",
        interrupt_id=asked.interrupt.id,
        answer_tree=answer,
        dispatch_id=asked.dispatch,
        attempt=attempt,
        kind=here.kind,
    )
    resume = Resume(asked.thread, body, route, command_id=attempt)
    async with send(here.client.server, resume, arm=armed, send_settings=here.send_settings) as accepted:
        await accepted.until_end()


async def settled(here: Bench, asked: Asked, *sent: DecisionType, **more: Any) -> Verdict:
    """The verdict once our run is over."""

    async def verdict() -> Verdict:
        return judge(asked.observed(await here.client.look(asked.thread), sent, here.kind, **more))

    waiting = (VerdictKind.TAKEN, VerdictKind.WAIT, VerdictKind.RACED)
    found: Verdict = await here.until(verdict, lambda seen: seen.kind not in waiting)
    return found


@pytest.mark.asyncio
async def test_before_anything_is_sent_a_pending_call_is_absent(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="one"))

    assert (await settled(here, asked, APPROVE)).kind is VerdictKind.ABSENT
    assert asked.call_ids[0] is not None


@pytest.mark.asyncio
@pytest.mark.parametrize("route", ["runs", "commands"])
async def test_an_approval_runs_the_tool_once_and_is_done(here: Bench, route: str) -> None:
    asked = await review(here, await here.paused(preset="one"))
    await dispatch(here, asked, answers(SAYS[APPROVE]), route=route)
    verdict = await settled(here, asked, APPROVE)

    assert (verdict.kind, verdict.outcomes, verdict.alarms) == (VerdictKind.DONE, (Outcome.EXECUTED,), ())
    assert here.ran(asked.thread) == ["disable_user"]


@pytest.mark.asyncio
async def test_decisions_of_a_batch_come_back_position_by_position(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="three"))
    await dispatch(here, asked, answers(SAYS[APPROVE], SAYS[REJECT], SAYS[RESPOND]))
    verdict = await settled(here, asked, APPROVE, REJECT, RESPOND)

    assert verdict.kind is VerdictKind.DONE
    assert verdict.outcomes == (Outcome.EXECUTED, Outcome.REJECTED, Outcome.ANSWERED)


@pytest.mark.asyncio
async def test_an_edit_is_seen_as_an_edit_with_its_own_arguments(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="one"))
    final = {"user_id": "u_1", "reason": "fraud"}
    await dispatch(here, asked, answers({"type": "edit", "edited_action": {"name": "disable_user", "args": final}}))

    assert (await settled(here, asked, EDIT, sent_args=(dump(final),))).kind is VerdictKind.DONE
    assert (await settled(here, asked, EDIT, sent_args=('{"user_id":"u_2"}',))).kind is VerdictKind.UNOPPOSED


@pytest.mark.asyncio
async def test_three_parallel_interrupts_end_without_an_unknown(here: Bench) -> None:
    thread = await fan_out(here)
    ended = []
    for decision in (APPROVE, REJECT, APPROVE):
        asked = await review(here, thread)
        await dispatch(here, asked, answers(SAYS[decision]))
        verdict = await settled(here, asked, decision)
        ended.append((verdict.outcomes[0], verdict.alarms))

    expected = {Outcome.EXECUTED, Outcome.TAKEN}
    assert ended[0][0] in expected
    assert ended[1] == (Outcome.REJECTED, ())
    assert ended[2][0] in expected
    assert len(here.ran(thread)) == 2
    assert await here.pending(thread) == ()


async def fan_out(here: Bench) -> str:
    """A thread on which three branches wait at once."""
    made = await here.outside.post("/threads", json={}, headers={"X-User-Id": "approvals"})
    thread: str = made.raise_for_status().json()["thread_id"]
    body = {"assistant_id": "fanout", "input": {"scripts": ["one", "sql", "email"]}}
    started = await here.outside.post(f"/threads/{thread}/runs", json=body, headers={"X-User-Id": "approvals"})
    started.raise_for_status()
    await here.until(lambda: here.client.thread(thread), lambda row: row.status == "interrupted")
    assert len(await here.pending(thread)) == 3
    return thread


@pytest.mark.asyncio
async def test_per_call_interrupts_are_answered_one_by_one(here: Bench) -> None:
    thread = await here.paused(preset="per-call")
    outcomes = []
    while await here.pending(thread):
        asked = await review(here, thread)
        await dispatch_per_call(here, asked)
        verdict = await settled(here, asked, REJECT)
        outcomes.append((verdict.kind, verdict.outcomes))

    assert len(outcomes) >= 2
    assert set(outcomes) == {(VerdictKind.DONE, (Outcome.REJECTED,))}


async def dispatch_per_call(here: Bench, asked: Asked) -> None:
    body = resume_body(
        assistant="ops_per_call",
        interrupt_id=asked.interrupt.id,
        answer_tree=SAYS[REJECT],
        dispatch_id=asked.dispatch,
        attempt=1,
        kind=here.kind,
    )
    async with send(
        here.client.server, Resume(asked.thread, body), arm=armed, send_settings=here.send_settings
    ) as accepted:
        await accepted.until_end()


@pytest.mark.asyncio
async def test_somebody_elses_answer_is_seen_as_answered_elsewhere(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="one"))
    await dispatch(here, replace(asked, dispatch="d_foreign"), answers(SAYS[REJECT]))
    verdict = await settled(here, asked, APPROVE)

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.ELSEWHERE, (Outcome.REJECTED,))


@pytest.mark.asyncio
async def test_a_bad_answer_poisons_and_a_repair_asks_anew(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="one"))
    await dispatch(here, asked, answers(SAYS[APPROVE], SAYS[APPROVE]))
    poisoned = await settled(here, asked, APPROVE)
    state = await here.client.state(asked.thread)
    assert state is not None
    await here.client.fork(asked.thread, state.checkpoint_id or "", "ops")
    again = await here.until(
        lambda: here.pending(asked.thread), lambda found: [one.id for one in found] not in ([], [asked.interrupt.id])
    )

    assert poisoned.kind is VerdictKind.POISONED
    assert again[0].task_error is None
    assert here.ran(asked.thread) == []


@pytest.mark.asyncio
async def test_a_tool_that_raises_leaves_the_call_failed(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="boom"))
    await dispatch(here, asked, answers(SAYS[APPROVE]))
    verdict = await settled(here, asked, APPROVE)

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.RAISED, (Outcome.FAILED,))


@pytest.mark.asyncio
async def test_a_run_that_is_cancelled_in_mid_tool_is_cut_off(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="slow"))
    sending = asyncio.ensure_future(dispatch(here, asked, answers(SAYS[APPROVE])))
    look = await here.until(
        lambda: here.client.look(asked.thread),
        lambda seen: any(run.dispatch == asked.dispatch for run in seen.runs),
    )
    taken = judge(asked.observed(look, (APPROVE,), here.kind))
    run_id = next(run.run_id for run in look.runs if run.dispatch == asked.dispatch)
    await here.client.cancel(asked.thread, run_id)
    await sending

    assert taken.kind is VerdictKind.TAKEN
    assert (await settled(here, asked, APPROVE)).kind is VerdictKind.CUT_OFF


@pytest.mark.asyncio
async def test_a_second_answer_is_refused_or_does_nothing(here: Bench) -> None:
    asked = await review(here, await here.paused(preset="one"))
    await dispatch(here, asked, answers(SAYS[APPROVE]))
    refused = pytest.raises(AgentRejected) if here.kind == "aegra" else nullcontext()
    with refused:
        await dispatch(here, asked, answers(SAYS[APPROVE]), attempt=2)

    assert here.ran(asked.thread) == ["disable_user"]


@pytest.mark.asyncio
async def test_a_fenced_attempt_runs_under_its_own_assistant_and_dies_with_it(here: Bench) -> None:
    fence = "6d1f3c52-8f0a-4a52-9f52-0d8d4d1c9f11"
    asked = await review(here, await here.paused(preset="one"))
    await here.client.create_assistant(fence, graph_id="ops", settings={})
    assert await here.client.assistant(fence) is not None
    await here.client.delete_assistant(fence)
    await here.client.delete_assistant(fence)
    body = resume_body(
        assistant=fence,
        interrupt_id=asked.interrupt.id,
        answer_tree=answers(SAYS[APPROVE]),
        dispatch_id=asked.dispatch,
        attempt=1,
        kind=here.kind,
    )
    with pytest.raises(AgentError):
        async with send(here.client.server, Resume(asked.thread, body), arm=armed, send_settings=here.send_settings):
            pass

    assert (await settled(here, asked, APPROVE)).kind is VerdictKind.ABSENT


@pytest.mark.asyncio
async def test_threads_are_found_and_described(here: Bench) -> None:
    waiting = {await here.paused(preset="one") for _ in range(3)}
    found = [row async for page in here.client.search_threads(status="interrupted", limit=2) for row in page]
    history = await here.client.history(found[0].thread_id)

    assert waiting <= {row.thread_id for row in found}
    assert {row.metadata["slack_user"] for row in found if row.thread_id in waiting} == {"U0REQ"}
    assert history[0].checkpoint_id
    assert history[0].parent_id == history[1].checkpoint_id
    assert (await here.client.info()).kind == here.kind


@pytest.mark.asyncio
async def test_another_identity_sees_nothing_on_aegra(tmp_path: Path, tls) -> None:
    async with sandbox("aegra", tmp_path, tls) as here, make_http(tls) as http:
        thread = await here.paused(preset="one")
        stranger = AgentClient(AgentServer(here.client.server.url, "aegra", "stranger", "k"), http)
        look = await stranger.look(thread)

        assert (look.state, look.thread, look.runs) == (None, None, ())


@pytest.mark.asyncio
async def test_a_wrong_key_is_rejected(tmp_path: Path, tls) -> None:
    async with sandbox("aegra", tmp_path, tls) as here, make_http(tls) as http:
        wrong = AgentClient(AgentServer(here.client.server.url, "aegra", "approvals", "wrong"), http)
        with pytest.raises(AgentRejected) as caught:
            await wrong.thread("t")

        assert caught.value.status == 401


@pytest.mark.asyncio
async def test_a_server_that_stopped_is_unreachable(tmp_path: Path, tls) -> None:
    async with sandbox("aegra", tmp_path, tls) as here:
        url = here.client.server.url
    async with make_http(tls) as http:
        with pytest.raises(AgentUnreachable):
            await AgentClient(AgentServer(url, "aegra", "approvals"), http).look("t")

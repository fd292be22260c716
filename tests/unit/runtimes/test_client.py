import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from bot.errors import AgentError, AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.runtimes.langgraph.client import AgentClient, ServerInfo
from bot.runtimes.langgraph.transport import MAX_BODY, AgentServer
from bot.runtimes.langgraph.wire import ThreadRow
from tests.kit.agent_canned import canned
from tests.kit.agent_raw_server import answering, raw_server, response
from tests.kit.agent_shapes import IID, interrupt, run, state, task

THREAD = {"thread_id": "t", "status": "interrupted", "updated_at": "2026", "metadata": {}}
Doing = Callable[[AgentClient], Awaitable[Any]]


async def pages(client: AgentClient, **how: Any) -> list[tuple[ThreadRow, ...]]:
    return [page async for page in client.search_threads(**how)]


READS: dict[str, tuple[str, Doing]] = {
    "search": ("POST /threads/search", pages),
    "thread": ("GET /threads/t", lambda client: client.thread("t")),
    "state": ("GET /threads/t/state", lambda client: client.state("t")),
    "runs": ("GET /threads/t/runs", lambda client: client.runs("t")),
    "run": ("GET /threads/t/runs/r", lambda client: client.run("t", "r")),
    "history": ("POST /threads/t/history", lambda client: client.history("t")),
    "info": ("GET /info", lambda client: client.info()),
    "assistant": ("GET /assistants/a", lambda client: client.assistant("a")),
}
EFFECTS: dict[str, tuple[str, Doing]] = {
    "cancel": ("POST /threads/t/runs/r/cancel", lambda client: client.cancel("t", "r")),
    "fork": ("POST /threads/t/runs", lambda client: client.fork("t", "cp-2", "ops")),
    "create": ("POST /assistants", lambda client: client.create_assistant("a", graph_id="ops", settings={})),
    "delete": ("DELETE /assistants/a", lambda client: client.delete_assistant("a")),
}
read_calls = pytest.mark.parametrize(("where", "doing"), READS.values(), ids=READS)
effect_calls = pytest.mark.parametrize(("where", "doing"), EFFECTS.values(), ids=EFFECTS)


async def failing(http: httpx.AsyncClient, where: str, doing: Doing, answer: Any) -> AgentError:
    async with canned(**{where: answer}) as server:
        with pytest.raises(AgentError) as caught:
            await doing(AgentClient(server.server(key="s3cret"), http))
    assert "s3cret" not in str(caught.value)
    assert "body" not in str(caught.value)
    return caught.value


# -- errors


@pytest.mark.asyncio
@read_calls
@pytest.mark.parametrize("status", [400, 401, 403, 409, 422, 405])
async def test_a_refused_read_is_rejected_with_its_status(http, where: str, doing: Doing, status: int) -> None:
    error = await failing(http, where, doing, (status, b"body"))

    assert (type(error), getattr(error, "status", None)) == (AgentRejected, status)


@pytest.mark.asyncio
@read_calls
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirected_read_is_rejected_and_not_followed(http, where: str, doing: Doing, status: int) -> None:
    error = await failing(http, where, doing, (status, b"body"))

    assert (type(error), getattr(error, "status", None)) == (AgentRejected, status)


@pytest.mark.asyncio
@read_calls
@pytest.mark.parametrize("status", [500, 502, 503, 504, 408, 429])
async def test_a_read_from_a_server_in_trouble_can_be_tried_again(http, where: str, doing: Doing, status: int) -> None:
    assert type(await failing(http, where, doing, (status, b"body"))) is AgentUnreachable


@pytest.mark.asyncio
@read_calls
@pytest.mark.parametrize("body", [b"<html>body</html>", b"", b"7", b'[{"body": 1}]', b'{"a":1,"a":1}'])
async def test_a_read_of_another_shape_is_rejected(http, where: str, doing: Doing, body: bytes) -> None:
    assert type(await failing(http, where, doing, body)) is AgentRejected


@pytest.mark.asyncio
@effect_calls
@pytest.mark.parametrize("status", [400, 401, 403, 409, 422])
async def test_a_refused_effect_is_rejected(http, where: str, doing: Doing, status: int) -> None:
    assert type(await failing(http, where, doing, (status, b"body"))) is AgentRejected


@pytest.mark.asyncio
@effect_calls
@pytest.mark.parametrize("status", [302, 307, 408, 429, 500, 502, 504])
async def test_an_effect_without_a_clear_answer_is_unknown(http, where: str, doing: Doing, status: int) -> None:
    assert type(await failing(http, where, doing, (status, b"body"))) is OutcomeUnknown


@pytest.mark.asyncio
async def test_a_repair_whose_answer_names_no_run_is_unknown(http) -> None:
    assert type(await failing(http, *EFFECTS["fork"], b"<html>body</html>")) is OutcomeUnknown


@pytest.mark.asyncio
@pytest.mark.parametrize("doing", [one for _, one in (*READS.values(), *EFFECTS.values())])
async def test_without_a_connection_nothing_was_sent(http, doing: Doing) -> None:
    async with raw_server(answering(b"")) as server:
        nobody_there = server.url
    with pytest.raises(AgentUnreachable):
        await doing(AgentClient(AgentServer(nobody_there, "aegra", "approvals"), http))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("doing", "error"), [(READS["state"][1], AgentUnreachable), (EFFECTS["fork"][1], OutcomeUnknown)]
)
async def test_a_connection_lost_halfway_is_told_by_whether_it_had_an_effect(http, doing: Doing, error: type) -> None:
    async with raw_server(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")) as server:
        with pytest.raises(error):
            await doing(AgentClient(AgentServer(server.url, "aegra", "approvals"), http))


@pytest.mark.asyncio
async def test_an_answer_without_end_is_not_read_to_its_end(http, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.runtimes.langgraph.transport.MAX_BODY", 10)
    async with raw_server(answering(response("200 OK", b"x" * 100))) as server:
        with pytest.raises(AgentUnreachable):
            await AgentClient(AgentServer(server.url, "aegra", "approvals"), http).state("t")
    assert MAX_BODY == 64 * 1024 * 1024


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "nothing"),
    [("thread", None), ("state", None), ("runs", ()), ("run", None), ("history", ()), ("assistant", None)],
)
async def test_what_is_gone_or_another_identitys_reads_as_nothing(http, name: str, nothing: Any) -> None:
    async with canned() as server:
        assert await READS[name][1](AgentClient(server.server(), http)) == nothing


@pytest.mark.asyncio
async def test_a_server_without_a_search_is_rejected_not_empty(http) -> None:
    assert type(await failing(http, "GET /nothing", pages, 404)) is AgentRejected


@pytest.mark.asyncio
async def test_an_id_that_would_climb_is_refused_before_anything_is_sent(http) -> None:
    async with canned() as server:
        with pytest.raises(AgentRejected):
            await AgentClient(server.server(), http).state("..")

        assert server.asked == []


# -- requests


@pytest.mark.asyncio
async def test_every_request_names_the_identity_and_the_key(http) -> None:
    async with canned(**{"GET /threads/t": THREAD}) as server:
        await AgentClient(server.server(key="k"), http).thread("t")

        headers = server.asked[0].headers
        assert (headers["x-user-id"], headers["authorization"]) == ("approvals", "Bearer k")


@pytest.mark.asyncio
async def test_ids_are_encoded_whole(http) -> None:
    async with canned() as server:
        await AgentClient(server.server(), http).run("a/../b", "r?x#y")

        assert server.asked[0].path == "/threads/a%2F..%2Fb/runs/r%3Fx%23y"


@pytest.mark.asyncio
async def test_state_is_read_with_its_subgraphs_unless_told_otherwise(http) -> None:
    async with canned(**{"GET /threads/t/state": state()}) as server:
        client = AgentClient(server.server(), http)
        await client.state("t")
        await client.state("t", subgraphs=False)

        assert [one.query for one in server.asked] == ["subgraphs=true", ""]


@pytest.mark.asyncio
async def test_a_repair_runs_on_from_the_checkpoint_without_input(http) -> None:
    async with canned(**{"POST /threads/t/runs": run("run-9", "pending")}) as server:
        run_id = await AgentClient(server.server(), http).fork("t", "cp-2", "ops")

        assert run_id == "run-9"
        assert server.asked[0].body == {
            "assistant_id": "ops",
            "input": None,
            "checkpoint": {"checkpoint_id": "cp-2", "checkpoint_ns": ""},
            "multitask_strategy": "reject",
        }


@pytest.mark.asyncio
async def test_a_run_is_cancelled_by_interrupting_it_and_waiting(http) -> None:
    async with canned(**{"POST /threads/t/runs/r/cancel": {}}) as server:
        await AgentClient(server.server(), http).cancel("t", "r")

        assert server.asked[0].query == "wait=1&action=interrupt"


@pytest.mark.asyncio
async def test_a_fence_is_an_assistant_of_our_own_with_the_originals_settings(http) -> None:
    async with canned(**{"POST /assistants": {}}) as server:
        settings = {"config": {"tags": ["x"]}, "context": {}}
        await AgentClient(server.server(), http).create_assistant("a", graph_id="ops", settings=settings)

        assert server.asked[0].body == {
            "assistant_id": "a",
            "graph_id": "ops",
            "config": {"tags": ["x"]},
            "context": {},
            "name": "Placet: one attempt",
            "metadata": {"made_by": "placet"},
            "if_exists": "do_nothing",
        }


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [200, 204, 404])
async def test_a_fence_that_is_gone_already_counts_as_closed(http, status: int) -> None:
    async with canned(**{"DELETE /assistants/a": status}) as server:
        there = await AgentClient(server.server(), http).delete_assistant("a")

        assert there is (status != 404)
        assert len(server.asked) == 1


# -- search


def listing(total: int) -> Callable[[Any], Any]:
    """Threads as a server with paging lists them."""

    def answer(asked: Any) -> Any:
        start, size = asked.body["offset"], asked.body["limit"]
        return [{"thread_id": f"t{number}"} for number in range(start, min(start + size, total))]

    return answer


@pytest.mark.asyncio
@pytest.mark.parametrize(("total", "requests"), [(0, 1), (1, 1), (2, 2), (5, 3)])
async def test_a_search_reads_page_after_page(http, total: int, requests: int) -> None:
    async with canned(**{"POST /threads/search": listing(total)}) as server:
        found = await pages(AgentClient(server.server(), http), limit=2)

        assert [row.thread_id for page in found for row in page] == [f"t{number}" for number in range(total)]
        assert len(server.asked) == requests


@pytest.mark.asyncio
async def test_a_server_that_ignores_paging_is_not_asked_for_ever(http) -> None:
    async with canned(**{"POST /threads/search": [THREAD, {**THREAD, "thread_id": "u"}]}) as server:
        found = await pages(AgentClient(server.server(), http), limit=2)

        assert (len(found), len(server.asked)) == (1, 2)


@pytest.mark.asyncio
async def test_a_search_without_end_is_given_up(http, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.runtimes.langgraph.client.MAX_PAGES", 3)
    async with canned(**{"POST /threads/search": listing(100)}) as server:
        found = await pages(AgentClient(server.server(), http), limit=2)

        assert (len(found), len(server.asked)) == (3, 3)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "more"), [("aegra", {}), ("langgraph", {"select": ["thread_id", "status", "updated_at", "metadata"]})]
)
async def test_a_search_asks_for_the_newest_first_and_for_no_conversations(http, kind: str, more: Any) -> None:
    async with canned(**{"POST /threads/search": []}) as server:
        await pages(AgentClient(server.server(kind), http), status="interrupted")

        order = {"limit": 100, "offset": 0, "sort_by": "updated_at", "sort_order": "desc"}
        assert server.asked[0].body == {**order, "status": "interrupted", **more}


# -- look


@pytest.mark.asyncio
async def test_a_look_reads_state_then_thread_then_runs(http) -> None:
    answers = {
        "GET /threads/t/state": state(task(interrupt())),
        "GET /threads/t": THREAD,
        "GET /threads/t/runs": [run()],
    }
    async with canned(**answers) as server:
        look = await AgentClient(server.server(), http).look("t")

        assert [one.path for one in server.asked] == ["/threads/t/state", "/threads/t", "/threads/t/runs"]
        assert server.asked[2].query == "limit=50"
        assert look.state is not None
        assert [one.id for one in look.state.pending] == [IID]
        assert look.thread is not None
        assert (look.thread.status, look.runs[0].run_id) == ("interrupted", "run-1")


@pytest.mark.asyncio
@pytest.mark.parametrize(("moments", "quick"), [((10, 10.1, 11.5, 12.9), True), ((10, 10.1, 10.2, 11.7), False)])
async def test_a_look_is_as_quick_as_its_slowest_read(http, moments: Any, quick: bool) -> None:
    begun, *ends = moments
    # Between the look's four readings each read takes two of its own.
    ticks = [begun]
    for end in ends:
        ticks += [ticks[-1], end, end]
    clock = iter(ticks)
    answers = {"GET /threads/t/state": state(), "GET /threads/t": THREAD, "GET /threads/t/runs": []}
    async with canned(**answers) as server:
        look = await AgentClient(server.server(), http, clock=lambda: next(clock)).look("t")

        assert (look.began, look.quick) == (10, quick)


@pytest.mark.asyncio
async def test_a_look_at_a_thread_that_is_gone_shows_nothing(http) -> None:
    async with canned() as server:
        look = await AgentClient(server.server(), http).look("t")

        assert (look.state, look.thread, look.runs) == (None, None, ())


@pytest.mark.asyncio
async def test_many_looks_share_the_client(http) -> None:
    answers = {"GET /threads/t/state": state(), "GET /threads/t": THREAD, "GET /threads/t/runs": []}
    async with canned(**answers) as server:
        client = AgentClient(server.server(), http)
        await asyncio.gather(*(client.look("t") for _ in range(40)))

        assert len(server.asked) == 120


# -- info


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("told", "info"),
    [
        ({"name": "Aegra", "version": "0.11.0"}, ServerInfo("aegra", "0.11.0")),
        ({"version": "0.16.7", "langgraph_py_version": "1.2.24"}, ServerInfo("langgraph", "0.16.7")),
        ({"version": "sandbox", "kind": "langgraph"}, ServerInfo("langgraph", "sandbox")),
        ({"name": 7}, ServerInfo("", "")),
    ],
)
async def test_a_servers_kind_is_guessed_from_what_it_says_of_itself(http, told: Any, info: ServerInfo) -> None:
    async with canned(**{"GET /info": told}) as server:
        assert await AgentClient(server.server(), http).info() == info

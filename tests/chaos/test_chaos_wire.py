"""The bad wire does what it says, no more and no less, and the same for the same seed."""

from __future__ import annotations

import asyncio
import contextlib
import json

import httpx
import pytest

from tests.chaos.wire import Fault, Sent, Wire

pytestmark = pytest.mark.asyncio

BODY = json.dumps({"command": {"resume": {"i": 1}}}).encode()
WHERE = "/threads/t/runs/wait"
BOUND_S = 0.3


class Server:
    """Counts what arrives whole, and answers."""

    def __init__(self) -> None:
        self.arrived: list[bytes] = []
        self.came = asyncio.Event()

    async def take(self, reader, writer) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(next(line for line in head.split(b"\r\n") if b"content-length" in line.lower()).split(b":")[1])
            self.arrived.append(await reader.readexactly(length))
            self.came.set()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\nhello world")
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def wired(fault: Fault, *, seed: int = 1):
    """A server behind a wire on which every request meets this fault."""
    server = Server()
    listening = await asyncio.start_server(server.take, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    wire = Wire("test", seed, lambda: [port], lambda _: {fault: 1.0}, BOUND_S, told=lambda _: None)
    async with wire.listening(), httpx.AsyncClient(base_url=wire.url, trust_env=False, timeout=5) as client:
        yield server, wire, client
    listening.close()


@pytest.mark.parametrize(
    ("fault", "status", "arrives"),
    [
        (Fault.NONE, 200, 1),
        (Fault.SLOW, 200, 1),
        (Fault.DROP_BEFORE, None, 0),
        (Fault.DROP_AFTER, None, 1),
        (Fault.CUT, None, 1),
        (Fault.HALF, None, 0),
        (Fault.LATE, None, 1),
        (Fault.BAD_GATEWAY, 502, 0),
        (Fault.GATEWAY_TIMEOUT, 504, 1),
    ],
)
async def test_each_fault_lets_arrive_and_lets_back_what_its_name_says(fault, status, arrives):
    async with wired(fault) as (server, wire, client):
        try:
            answered = (await client.post(WHERE, content=BODY)).status_code
        except httpx.HTTPError:
            answered = None
        if arrives:
            wire.bound = 60.0  # how late is drawn by now; on a busy machine it may come later than the bound allows
            await asyncio.wait_for(server.came.wait(), 5)

        assert answered == status
        assert server.arrived == [BODY] * arrives


async def test_what_is_kept_too_long_never_arrives():
    async with wired(Fault.LATE) as (server, wire, client):
        wire.bound = -1.0
        with contextlib.suppress(httpx.HTTPError):
            await client.post(WHERE, content=BODY)
        while not wire.faults["kept too long, so dropped"]:  # noqa: ASYNC110 - the wire's own count
            await asyncio.sleep(0.01)

        assert server.arrived == []


async def test_a_calm_wire_passes_everything():
    async with wired(Fault.DROP_BEFORE) as (server, wire, client):
        wire.calm = True

        assert (await client.post(WHERE, content=BODY)).text == "hello world"
        assert server.arrived == [BODY]


async def test_the_same_seed_draws_the_same_faults_for_the_same_requests():
    odds = dict.fromkeys(Fault, 0.1)
    sent = Sent("POST", WHERE, b"", BODY)

    def drawn(seed):
        wire = Wire("test", seed, list, lambda _: odds)
        return [wire.draw(sent) for _ in range(200)]

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)
    assert {fault for fault, _ in drawn(5)} == set(Fault)

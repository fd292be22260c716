"""A wire that does what networks and proxies do: loses requests and answers, cuts them, holds them, answers for others.

It speaks just enough HTTP/1.1 to tell where a request ends and where an answer's body begins, one request a connection.
Which fault meets which request is drawn from a seed and the request's number. A request that it keeps after its sender
hung up is delivered within a bound or never, because that bound is what the settle time stands on.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random


class Fault(StrEnum):
    """What may happen to a request."""

    NONE = "passed"
    DROP_BEFORE = "dropped before"  # never arrives
    DROP_AFTER = "dropped after"  # arrives; its answer does not
    CUT = "answer cut"  # the answer's head and a piece of its body
    HALF = "request cut"  # the head and half of the body arrive
    SLOW = "slow"  # arrives later, the sender waits
    LATE = "late"  # the sender is cut off at once, and the request arrives later all the same
    BAD_GATEWAY = "502"  # answered for the server, which heard nothing
    GATEWAY_TIMEOUT = "504"  # answered for the server, which heard everything


Odds = dict[Fault, float]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it came: its first line's method and path, its bytes with `Connection: close`."""

    method: str
    path: str
    head: bytes
    body: bytes

    @property
    def resumes(self) -> bool:
        """Whether it is an answer to an interrupt."""
        return self.method == "POST" and self.path.endswith(("/runs/wait", "/commands")) and b'"resume"' in self.body


@dataclass
class Wire:
    """One direction: a listening port and where its requests go. `targets` are tried in turn, refused ones skipped."""

    name: str
    seed: int
    targets: Callable[[], Sequence[int]]
    odds: Callable[[Sent], Odds]
    bound: float = 0.0  # seconds within which what outlived its sender arrives, or never
    told: Callable[[str], None] = print
    passing: Callable[[Sent], None] = lambda _: None  # hears of each answer to an interrupt as it is let through
    port: int = 0
    calm: bool = False
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    _drawn: int = 0
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Wire]:
        """Listen on a free loopback port until the block ends."""
        server = await asyncio.start_server(self._taken, "127.0.0.1", 0, limit=2**22)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in tuple(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            sent = await _request(reader)
            if sent is not None:
                self.requests += 1
                await self._carry(sent, reader, writer)
        except (OSError, EOFError, asyncio.LimitOverrunError, ValueError):
            pass  # either side went away: to the other it is a connection that ends
        finally:
            await shut(writer)
            self._open.discard(task)

    def draw(self, sent: Sent) -> tuple[Fault, float]:
        """The fault that this request meets, and how far into its range."""
        if self.calm:
            return Fault.NONE, 0.0
        self._drawn += 1
        random = Random(f"{self.seed}:{self.name}:{self._drawn}")
        odds = self.odds(sent)
        at, depth = random.random(), random.random()
        for fault, chance in odds.items():
            if at < chance:
                return fault, depth
            at -= chance
        return Fault.NONE, depth

    async def _carry(self, sent: Sent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fault, depth = self.draw(sent)
        if fault is not Fault.NONE:
            self.faults[fault.value] += 1
            if sent.resumes or self.name == "Slack to bot":
                self.told(f"{self.name}: {fault.value} {sent.method} {sent.path[-60:]}")
        if sent.resumes:
            self.passing(sent)
        match fault:
            case Fault.DROP_BEFORE:
                return
            case Fault.BAD_GATEWAY:
                await _say(writer, 502)
            case Fault.LATE:
                writer.close()
                await self._later(sent, depth * self.bound)
            case Fault.SLOW:
                await asyncio.sleep(depth * min(1.2, self.bound))
                await self._through(sent, reader, writer)
            case Fault.HALF:
                await self._half(sent)
            case Fault.DROP_AFTER | Fault.CUT | Fault.GATEWAY_TIMEOUT:
                await self._answer_lost(sent, writer, fault)
            case _:
                await self._through(sent, reader, writer)

    async def _through(self, sent: Sent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass it on and the answer back; whoever leaves first ends both."""
        upstream, out = await self._connected()
        gone = asyncio.ensure_future(reader.read(1))
        back = asyncio.ensure_future(_piped(upstream, writer))
        try:
            out.write(sent.head + sent.body)
            await out.drain()
            await asyncio.wait({gone, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            out.close()
            for task in (gone, back):
                task.cancel()
            await asyncio.gather(gone, back, return_exceptions=True)

    async def _later(self, sent: Sent, delay: float) -> None:
        came = time.monotonic()
        await asyncio.sleep(delay)
        upstream, out = await self._connected()
        try:
            if time.monotonic() - came > self.bound:
                self.faults["kept too long, so dropped"] += 1
                return
            out.write(sent.head + sent.body)
            await out.drain()
            await upstream.read()
        finally:
            await shut(out)

    async def _half(self, sent: Sent) -> None:
        _, out = await self._connected()
        out.write(sent.head + sent.body[: len(sent.body) // 2])
        await out.drain()
        await shut(out)

    async def _answer_lost(self, sent: Sent, writer: asyncio.StreamWriter, fault: Fault) -> None:
        """Let it arrive, wait for the first of the answer, and lose the rest."""
        upstream, out = await self._connected()
        try:
            out.write(sent.head + sent.body)
            await out.drain()
            head = await upstream.readuntil(b"\r\n\r\n")
            if fault is Fault.GATEWAY_TIMEOUT:
                await _say(writer, 504)
            elif fault is Fault.CUT:
                writer.write(head + (await upstream.read(7))[:7])
                await writer.drain()
        finally:
            await shut(out)

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        problem: OSError = ConnectionRefusedError("nobody listens")
        for port in self.targets():
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except OSError as exc:
                problem = exc
        raise problem


async def _request(reader: asyncio.StreamReader) -> Sent | None:
    """Read one request; None where the connection ended before one."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head[:-4].split(b"\r\n")
    named = [line for line in lines[1:] if not line.lower().startswith(b"connection:")]
    length = next((int(line.split(b":")[1]) for line in named if line.lower().startswith(b"content-length:")), 0)
    body = await reader.readexactly(length)
    method, path, _ = lines[0].decode("latin-1").split(" ", 2)
    return Sent(method, path.partition("?")[0], b"\r\n".join([lines[0], *named, b"Connection: close", b"", b""]), body)


async def shut(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until it is closed."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(65536):
        writer.write(part)
        await writer.drain()


async def _say(writer: asyncio.StreamWriter, status: int) -> None:
    writer.write(f"HTTP/1.1 {status} Bad\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()

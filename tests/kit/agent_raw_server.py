"""A server that speaks bytes, so that a test decides what is read, written and cut off, and sees in what order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Handler = Callable[["RawServer", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class RawServer:
    """What arrived so far, on all connections together; `order` also takes marks of the test's own."""

    handler: Handler
    url: str = ""
    received: bytearray = field(default_factory=bytearray)
    order: list[str] = field(default_factory=list)
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    read_whole: asyncio.Event = field(default_factory=asyncio.Event)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.order.append("connected")
        self.connected.set()
        try:
            await self.handler(self, reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def request(self, reader: asyncio.StreamReader) -> bytes:
        """Read one whole request and keep it."""
        head = await self.take(reader.readuntil(b"\r\n\r\n"))
        lengths = (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        length = int(next(lengths, b":0").split(b":")[1])
        body = await self.take(reader.readexactly(length))
        self.read_whole.set()
        return head + body

    async def take(self, reading: Awaitable[bytes]) -> bytes:
        part = await reading
        if part:
            self.order.append("bytes")
            self.received += part
        return part

    async def until_hung_up(self, reader: asyncio.StreamReader) -> None:
        try:
            while await self.take(reader.read(65536)):
                pass
        except ConnectionError:
            pass
        self.hung_up.set()


@asynccontextmanager
async def raw_server(handler: Handler) -> AsyncIterator[RawServer]:
    server = RawServer(handler)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        await listener.wait_closed()
        for task in set(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answering(response: bytes) -> Handler:
    """Read one request whole, write these bytes, close."""

    async def handler(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(response)
        await writer.drain()

    return handler


def response(status: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

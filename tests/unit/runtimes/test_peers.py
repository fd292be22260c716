"""A name that leads to a link-local address: nothing is written there, neither a reading nor an answer."""

from __future__ import annotations

import asyncio
import ssl

import httpcore
import httpx
import pytest

from bot.errors import AgentUnreachable
from bot.runtimes.langgraph import resume as resuming
from bot.runtimes.langgraph.transport import AgentServer, HttpCall, ServerLine, make_http

pytestmark = pytest.mark.asyncio

METADATA = ["169.254.169.254", "fe80::1%eth0", "::ffff:169.254.169.254", "0.0.0.0"]


class Renamed(httpcore.AsyncNetworkStream):
    """A real connection that says it ends somewhere else, as it would after such a resolution."""

    def __init__(self, stream, address):
        self._stream, self._address = stream, address

    def get_extra_info(self, info):
        return (self._address, 443) if info == "server_addr" else self._stream.get_extra_info(info)

    async def read(self, max_bytes, timeout=None):  # noqa: ASYNC109 - httpcore's own signature
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer, timeout=None):  # noqa: ASYNC109 - the same
        await self._stream.write(buffer, timeout)

    async def aclose(self):
        await self._stream.aclose()


class Resolver(httpcore.AnyIOBackend):
    def __init__(self, address):
        self._address = address

    async def connect_tcp(self, *place, **options):
        return Renamed(await super().connect_tcp(*place, **options), self._address)


async def heard_by(address, ask, monkeypatch):
    """What a server hears of somebody whose connections seem to end at this address, and what they are told."""
    heard, served = [], asyncio.Event()

    async def serve(reader, writer):
        heard.append(await reader.read(65536))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()
        served.set()

    make = httpx.AsyncHTTPTransport.__init__

    def resolved(self, *given, **options):
        make(self, *given, **options)
        self._pool._network_backend = Resolver(address)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "__init__", resolved)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        await ask(AgentServer(url, "aegra", "approvals"))
    finally:
        await served.wait()
        server.close()
        await server.wait_closed()
    return heard


async def read(server):
    async with make_http(ssl.create_default_context()) as http:
        await ServerLine(server, http).ask(HttpCall("read info", "GET", "/info"))


async def answer(server):
    async def arm():
        raise AssertionError("an answer was armed for a place where nothing may be sent")

    send_settings = resuming.SendSettings(ssl.create_default_context())
    async with resuming.send(server, resuming.Resume("t-1", b"{}"), arm=arm, send_settings=send_settings):
        pass


@pytest.mark.parametrize("address", METADATA)
@pytest.mark.parametrize("ask", [read, answer])
async def test_nothing_is_written_to_a_link_local_address(address, ask, monkeypatch):
    heard = []

    async def asked(server):
        with pytest.raises(AgentUnreachable, match="link-local"):
            await ask(server)

    heard = await heard_by(address, asked, monkeypatch)

    assert heard == [b""]


async def test_any_other_address_is_asked(monkeypatch):
    heard = await heard_by("10.1.2.3", read, monkeypatch)

    assert heard[0].startswith(b"GET /info")

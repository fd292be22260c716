"""Serve an ASGI application on a free loopback port, inside this process.

The sandbox's Slack and its agent server are both started this way by the tests and by the demo. This module knows
nothing of either: it owns the socket, the start and the stop.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

GRACE_S = 1
"""How long open requests may go on once a stop was asked for; a client waiting on a paused run would hold it for ever."""


class _Server(uvicorn.Server):
    """A uvicorn server that says when it is up and leaves the process's signals to their owner."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self.stopping = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as ended:  # uvicorn ends the process where a lifespan fails
            raise RuntimeError("the application did not start; its error is in the log") from ended
        self.up.set()

    async def main_loop(self) -> None:
        # uvicorn's own looks ten times a second whether to stop; with a server for each test that adds up.
        await self.stopping.wait()


def listen(port: int = 0) -> socket.socket:
    """Listen on loopback; port 0 takes a free one. Raises OSError where the port is taken.

    Clients may connect at once: until the server is up, they wait in the socket's queue.
    """
    # asyncio turns Nagle's delay (40 ms an answer) off only for sockets that say they are TCP.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(128)
    except OSError:
        sock.close()
        raise
    return sock


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, port: int = 0) -> AsyncIterator[str]:
    """Run `app` (lifespan included) until the block ends; yields its base URL, without a trailing slash.

    Requests still open at the end are cut off after `GRACE_S`. An application whose start-up fails raises RuntimeError.
    """
    sock = listen(port)
    config = uvicorn.Config(
        app, log_config=None, lifespan="on", timeout_graceful_shutdown=GRACE_S, access_log=False, date_header=False
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    up = asyncio.create_task(server.up.wait())
    try:
        await asyncio.wait({task, up}, return_when=asyncio.FIRST_COMPLETED)
        if server.started:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        up.cancel()
        server.stopping.set()
        try:
            await task  # raises what kept the application from starting
        finally:
            sock.close()

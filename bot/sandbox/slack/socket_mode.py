"""Socket Mode: the app's connections, and one envelope to one of them at a time.

Envelopes go round the open connections, so that an app must not count on order or on a favourite one. An interaction that
finds no connection fails for the person at once; what to retry is the sender's business.
"""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field

from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.wire import CONNECTION
from bot.sandbox.slack.world import World

LIFETIME_S = 3600
TYPES = {"event": "events_api", "command": "slash_commands"}


@dataclass(eq=False, slots=True)
class Connection:
    """One open socket and the envelopes that it still owes an ack for."""

    socket: WebSocket
    waiting: dict[str, asyncio.Future[Json | None]] = field(default_factory=dict)

    async def send(self, frame: Json) -> None:
        """Send a frame; to a socket that has just gone, nothing."""
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.send_text(json.dumps(frame))


class SocketCourier:
    """Carries parcels as envelopes and serves the address that apps.connections.open gave out."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.connections: list[Connection] = []
        self._turn = 0

    async def carry(self, parcel: Parcel) -> ApiAnswer:
        return await self.resend(json.dumps(self._envelope(parcel)))

    async def resend(self, sent: str) -> ApiAnswer:
        """Send an envelope as it is, also one that has been sent before: its id is then known to the app."""
        frame: Json = json.loads(sent)
        if not self.connections:
            return ApiAnswer(None, sent=sent)
        self._turn += 1
        connection = self.connections[self._turn % len(self.connections)]
        ack = await self._ask(connection, frame)
        if ack is None:
            return ApiAnswer(None, sent=sent)
        payload = ack.get("payload")
        return ApiAnswer(200, json.dumps(payload) if payload else "", sent=sent)

    def _envelope(self, parcel: Parcel) -> Json:
        frame: Json = {
            "envelope_id": self._world.next_id("envelope-"),
            "type": TYPES.get(parcel.kind, "interactive"),
            "payload": parcel.payload,
            "accepts_response_payload": parcel.kind != "event",
        }
        if parcel.kind == "event":
            frame |= {"retry_attempt": parcel.retry, "retry_reason": parcel.reason or ""}
        return frame

    async def _ask(self, connection: Connection, frame: Json) -> Json | None:
        ack: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        connection.waiting[frame["envelope_id"]] = ack
        try:
            async with asyncio.timeout(self._world.rules.ack_seconds):
                await connection.send(frame)
                return await ack
        except TimeoutError:
            return None
        finally:
            connection.waiting.pop(frame["envelope_id"], None)

    async def serve(self, socket: WebSocket) -> None:
        """Serve one connection: the ticket works once, the eleventh connection is sent away."""
        ticket = socket.query_params.get("ticket", "")
        if ticket not in self._world.tickets:
            await socket.close(1008)
            return
        self._world.tickets.discard(ticket)
        await socket.accept()
        connection = Connection(socket)
        if len(self.connections) >= self._world.rules.connections:
            await connection.send(_disconnect("too_many_websockets"))
            await socket.close()
            return
        self.connections.append(connection)
        await connection.send(self._hello())
        self._world.bell.ring()
        await self._listen(connection)

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {"host": "sandbox", "build_number": 1, "approximate_connection_time": LIFETIME_S},
            "connection_info": {"app_id": self._world.app.id},
        }

    async def _listen(self, connection: Connection) -> None:
        try:
            async for text in connection.socket.iter_text():
                self._take_ack(connection, text)
        finally:
            self._forget(connection)

    @staticmethod
    def _take_ack(connection: Connection, text: str) -> None:
        with contextlib.suppress(ValueError):
            frame = json.loads(text)
            waiting = connection.waiting.get(str(frame.get("envelope_id"))) if isinstance(frame, dict) else None
            if waiting is not None and not waiting.done():
                waiting.set_result(frame)

    def _forget(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
        for ack in connection.waiting.values():
            if not ack.done():
                ack.set_result(None)
        self._world.bell.ring()

    async def disconnect(self, reason: str, *, hang_up: bool) -> int:
        """Tell every connection to go, and with `hang_up` close it; return how many there were."""
        connections = list(self.connections)
        for connection in connections:
            await connection.send(_disconnect(reason))
            if hang_up:
                self._forget(connection)
                with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                    await connection.socket.close()
        return len(connections)

    def cut(self) -> int:
        """Cut every connection without a word; return how many there were."""
        transports = self._forget_all()
        for transport in transports:
            transport.abort()
        return len(transports)

    def fall_silent(self) -> int:
        """Leave every connection open, send nothing over it and hear nothing, not even a ping; return how many."""
        transports = self._forget_all()
        for transport in transports:
            transport.pause_reading()
        return len(transports)

    def _forget_all(self) -> list[asyncio.Transport]:
        """No connection gets anything any more; what each one stands on."""
        connections = list(self.connections)
        for connection in connections:
            self._forget(connection)
        found = [getattr(each.socket.scope.get(CONNECTION), "transport", None) for each in connections]
        return [transport for transport in found if transport is not None]

    async def aclose(self) -> None:
        await self.disconnect("link_disabled", hang_up=True)


def _disconnect(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "sandbox"}}

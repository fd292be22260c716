import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable

import pytest

from bot.errors import AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.runtimes.langgraph.resume import Resume, ResumeAccepted, SendSettings, send
from bot.runtimes.langgraph.transport import AgentServer
from tests.kit.agent_raw_server import RawServer, answering, raw_server, response

THREAD = "0b9c5f0e-thread"
BODY = b'{"command":{"resume":{"0123456789abcdef0123456789abcdef":{"decisions":[{"type":"approve"}]}}}}'
RUN = "/threads/t/runs/6f1c"
OK = response("200 OK", b"{}", Content_Location=RUN)


async def armed() -> None:
    """An arm that commits at once."""


async def send_to(
    url: str,
    tls: ssl.SSLContext,
    *,
    arm: Callable[[], Awaitable[float | None]] = armed,
    resume: Resume | None = None,
    headers: float = 5.0,
    clock: Callable[[], float] | None = None,
) -> ResumeAccepted:
    """Send, wait for the end of the answer, hang up."""
    server = AgentServer(url, "aegra", "approvals", "s3cret-key")
    send_settings = SendSettings(tls, headers=headers, **({} if clock is None else {"clock": clock}))
    async with send(server, resume or Resume(THREAD, BODY), arm=arm, send_settings=send_settings) as accepted:
        await accepted.until_end()
        return accepted


def command(number: int = 7) -> Resume:
    return Resume(THREAD, b"{}", "commands", command_id=number)


async def read_nothing(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def read_and_close(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await server.request(reader)


async def read_and_reset(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await server.request(reader)
    writer.transport.abort()


async def read_and_stall(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await server.request(reader)
    await server.until_hung_up(reader)


async def answer_half_the_headers(
    server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    await server.request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Loc")
    await writer.drain()


async def listen_only(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await server.until_hung_up(reader)


# -- the first byte


@pytest.mark.asyncio
async def test_nothing_is_written_before_arm_has_returned(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:

        async def arm() -> None:
            await server.connected.wait()
            # A second connection's round trip: anything written on the first would have been read by now.
            probe = await asyncio.open_connection(*server.url.removeprefix("http://").split(":"))
            probe[1].write(b"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            await probe[0].read()
            probe[1].close()
            await probe[1].wait_closed()
            assert bytes(server.received) == b"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
            server.order.clear()
            server.order.append("armed")

        await send_to(server.url, tls, arm=arm)

        assert server.order == ["armed", "bytes", "bytes"]


@pytest.mark.asyncio
async def test_what_arm_raises_comes_out_unchanged_and_nothing_was_sent(tls: ssl.SSLContext) -> None:
    lost = ConnectionResetError("the database is gone")

    async def arm() -> None:
        raise lost

    async with raw_server(listen_only) as server:
        with pytest.raises(ConnectionResetError) as caught:
            await send_to(server.url, tls, arm=arm)
        await server.hung_up.wait()

        assert caught.value is lost
        assert server.received == b""


@pytest.mark.asyncio
async def test_an_exception_of_the_callers_own_comes_out_of_arm_unchanged(tls: ssl.SSLContext) -> None:
    class LeaseLostError(Exception):
        pass

    async def arm() -> None:
        raise LeaseLostError

    async with raw_server(listen_only) as server:
        with pytest.raises(LeaseLostError):
            await send_to(server.url, tls, arm=arm)
        await server.hung_up.wait()

        assert server.received == b""


@pytest.mark.asyncio
async def test_a_process_that_stood_still_while_arming_does_not_send(tls: ssl.SSLContext) -> None:
    moments = iter([100.0, 100.6])
    async with raw_server(listen_only) as server:
        with pytest.raises(AgentUnreachable):
            await send_to(server.url, tls, clock=lambda: next(moments))
        await server.hung_up.wait()

        assert server.received == b""


@pytest.mark.asyncio
async def test_the_wait_before_the_record_began_is_no_standing_still(tls: ssl.SSLContext) -> None:
    moments = iter([100.0, 109.0])

    async def arm() -> float:
        return 108.9

    async with raw_server(answering(OK)) as server:
        accepted = await send_to(server.url, tls, arm=arm, clock=lambda: next(moments))

        assert accepted.run_id == "6f1c"


@pytest.mark.asyncio
async def test_half_a_second_of_arming_is_still_in_time(tls: ssl.SSLContext) -> None:
    moments = iter([100.0, 100.5])
    async with raw_server(answering(OK)) as server:
        accepted = await send_to(server.url, tls, clock=lambda: next(moments))

        assert accepted.run_id == "6f1c"


@pytest.mark.asyncio
async def test_without_a_connection_nothing_is_armed(tls: ssl.SSLContext) -> None:
    called: list[str] = []

    async def arm() -> None:
        called.append("arm")

    async with raw_server(listen_only) as server:
        nobody_there = server.url
    with pytest.raises(AgentUnreachable):
        await send_to(nobody_there, tls, arm=arm)

    assert called == []


@pytest.mark.asyncio
async def test_a_thread_id_that_would_climb_is_refused_before_anything_is_armed(tls: ssl.SSLContext) -> None:
    async with raw_server(listen_only) as server:
        with pytest.raises(AgentRejected):
            await send_to(server.url, tls, resume=Resume("..", BODY))

        assert server.connections == 0


# -- after the first byte


@pytest.mark.asyncio
@pytest.mark.parametrize("handler", [read_nothing, read_and_close, read_and_reset, answer_half_the_headers])
async def test_a_connection_lost_after_arming_leaves_the_outcome_unknown(tls: ssl.SSLContext, handler) -> None:
    async with raw_server(handler) as server:

        async def arm() -> None:
            await server.connected.wait()

        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls, arm=arm)


@pytest.mark.asyncio
async def test_headers_that_do_not_come_leave_the_outcome_unknown(tls: ssl.SSLContext) -> None:
    async with raw_server(read_and_stall) as server:
        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls, headers=0.05)
        await server.hung_up.wait()

        assert server.received.endswith(BODY)


@pytest.mark.asyncio
async def test_the_wait_for_headers_starts_at_the_first_byte_not_while_arming(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:

        async def arm() -> None:
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(asyncio.Event().wait(), 0.03)

        accepted = await send_to(server.url, tls, arm=arm, headers=0.06)

        assert accepted.run_id == "6f1c"


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
async def test_a_plain_refusal_is_final_for_the_attempt(tls: ssl.SSLContext, status: int) -> None:
    async with raw_server(answering(response(f"{status} No", b'{"message":"no"}'))) as server:
        with pytest.raises(AgentRejected) as caught:
            await send_to(server.url, tls)

        assert caught.value.status == status


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [301, 302, 307, 308, 304, 402, 405, 408, 413, 418, 429, 500, 502, 503, 504])
async def test_any_other_answer_leaves_the_outcome_unknown(tls: ssl.SSLContext, status: int) -> None:
    async with raw_server(answering(response(f"{status} Hm", Location="/elsewhere"))) as server:
        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls)

        assert server.connections == 1


@pytest.mark.asyncio
async def test_bytes_that_are_no_http_leave_the_outcome_unknown(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(b"\x15\x03\x01\x00\x02\x02\x16")) as server:
        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls)


@pytest.mark.asyncio
async def test_a_redirect_is_never_followed(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as elsewhere:
        moved = response("307 Moved", Location=f"{elsewhere.url}/threads/t/runs/wait")
        async with raw_server(answering(moved)) as server:
            with pytest.raises(OutcomeUnknown):
                await send_to(server.url, tls)

        assert elsewhere.connections == 0


@pytest.mark.asyncio
async def test_a_cancelled_send_hangs_up(tls: ssl.SSLContext) -> None:
    async with raw_server(read_and_stall) as server:
        sending = asyncio.ensure_future(send_to(server.url, tls))
        await server.read_whole.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

        await server.hung_up.wait()


# -- accepted


@pytest.mark.asyncio
async def test_the_run_is_named_by_content_location(tls: ssl.SSLContext) -> None:
    there = response("200 OK", b"{}", Content_Location="/base/threads/t/runs/run%2F1?x=1")
    async with raw_server(answering(there)) as server:
        accepted = await send_to(server.url, tls)

        assert accepted.run_id == "run/1"


@pytest.mark.asyncio
async def test_the_location_header_names_the_run_where_the_other_was_stripped(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(response("200 OK", b"{}", Location=f"{RUN}/join"))) as server:
        accepted = await send_to(server.url, tls)

        assert accepted.run_id == "6f1c"


@pytest.mark.asyncio
@pytest.mark.parametrize("status", ["200 OK", "201 Created", "202 Accepted", "204 No Content"])
async def test_a_yes_that_names_no_run_is_still_accepted(tls: ssl.SSLContext, status: str) -> None:
    async with raw_server(answering(response(status))) as server:
        accepted = await send_to(server.url, tls)

        assert accepted.run_id is None


@pytest.mark.asyncio
async def test_accepted_is_known_at_the_headers_and_the_end_at_the_bodys_end(tls: ssl.SSLContext) -> None:
    go_on = asyncio.Event()

    async def handler(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Location: {RUN}\r\nContent-Length: 2\r\n\r\n".encode())
        await writer.drain()
        await go_on.wait()
        writer.write(b"{}")
        await writer.drain()

    async with raw_server(handler) as server:
        aegra = AgentServer(server.url, "aegra", "approvals")
        async with send(aegra, Resume(THREAD, BODY), arm=armed, send_settings=SendSettings(tls)) as accepted:
            assert accepted.run_id == "6f1c"
            go_on.set()
            assert await accepted.until_end()


@pytest.mark.asyncio
async def test_a_body_that_is_cut_off_does_not_count_as_the_end(tls: ssl.SSLContext) -> None:
    cut = f"HTTP/1.1 200 OK\r\nContent-Location: {RUN}\r\nContent-Length: 99\r\n\r\n{{".encode()
    async with raw_server(answering(cut)) as server:
        aegra = AgentServer(server.url, "aegra", "approvals")
        async with send(aegra, Resume(THREAD, BODY), arm=armed, send_settings=SendSettings(tls)) as accepted:
            assert not await accepted.until_end()


@pytest.mark.asyncio
async def test_impatience_with_a_long_run_hangs_up_without_a_word_on_its_end(tls: ssl.SSLContext) -> None:
    async def handler(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Location: {RUN}\r\nContent-Length: 2\r\n\r\n".encode())
        await server.until_hung_up(reader)

    async with raw_server(handler) as server:
        aegra = AgentServer(server.url, "aegra", "approvals")
        async with send(aegra, Resume(THREAD, BODY), arm=armed, send_settings=SendSettings(tls)) as accepted:
            assert not await accepted.until_end(0.02)
        await server.hung_up.wait()


# -- what is sent


@pytest.mark.asyncio
async def test_the_request_carries_the_body_untouched_and_names_us(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:
        await send_to(server.url, tls)

        head, _, body = bytes(server.received).partition(b"\r\n\r\n")
        assert body == BODY
        assert b"\r\nX-User-Id: approvals\r\n" in head
        assert b"\r\nAuthorization: Bearer s3cret-key\r\n" in head
        assert b"\r\nContent-Type: application/json\r\n" in head
        assert b"\r\nConnection: close" in head


@pytest.mark.asyncio
async def test_without_a_key_there_is_no_authorization(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:
        aegra = AgentServer(server.url, "aegra", "approvals")
        async with send(aegra, Resume(THREAD, BODY), arm=armed, send_settings=SendSettings(tls)):
            pass

        assert b"authorization" not in bytes(server.received).lower()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("resume", "line"),
    [
        (Resume("a/../b?c#d %2e", BODY), b"POST /threads/a%2F..%2Fb%3Fc%23d%20%252e/runs/wait HTTP/1.1\r\n"),
        (Resume("thré", BODY), b"POST /threads/thr%C3%A9/runs/wait HTTP/1.1\r\n"),
        (Resume("t", b"{}", "commands"), b"POST /threads/t/commands HTTP/1.1\r\n"),
    ],
)
async def test_the_thread_id_stays_one_segment_of_the_path(tls: ssl.SSLContext, resume: Resume, line: bytes) -> None:
    async with raw_server(answering(response("404 Not Found"))) as server:
        with pytest.raises(AgentRejected):
            await send_to(server.url, tls, resume=resume)

        assert server.received.startswith(line)


@pytest.mark.asyncio
async def test_a_servers_own_base_path_is_kept(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:
        await send_to(f"{server.url}/agents/v1/", tls, resume=Resume("t", BODY))

        assert server.received.startswith(b"POST /agents/v1/threads/t/runs/wait ")


@pytest.mark.asyncio
async def test_every_send_has_a_connection_of_its_own(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(OK)) as server:
        await send_to(server.url, tls)
        await send_to(server.url, tls)

        assert server.connections == 2


@pytest.mark.asyncio
async def test_proxies_of_the_environment_are_ignored(tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with raw_server(listen_only) as proxy, raw_server(answering(OK)) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await send_to(server.url, tls)

        assert proxy.connections == 0


@pytest.mark.asyncio
async def test_no_error_tells_the_key_or_the_answer(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(response("500 Oh", b"s3cret-key"))) as server:
        with pytest.raises(OutcomeUnknown) as caught:
            await send_to(server.url, tls)

        assert "s3cret" not in str(caught.value)
        assert "approve" not in str(caught.value)


# -- the commands route


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("result", "run_id"), [({"run_id": "6f1c"}, "6f1c"), ({}, None), (None, None), ({"run_id": 5}, None)]
)
async def test_a_commands_success_under_our_id_is_accepted(tls: ssl.SSLContext, result: object, run_id: str) -> None:
    body = json.dumps({"type": "success", "id": 7, "result": result}).encode()
    async with raw_server(answering(response("200 OK", body))) as server:
        accepted = await send_to(server.url, tls, resume=command())

        assert accepted.run_id == run_id


@pytest.mark.asyncio
async def test_a_commands_answer_never_counts_as_the_runs_end(tls: ssl.SSLContext) -> None:
    async with raw_server(answering(response("200 OK", b'{"type":"success","id":7}'))) as server:
        aegra = AgentServer(server.url, "aegra", "approvals")
        async with send(aegra, command(), arm=armed, send_settings=SendSettings(tls)) as accepted:
            assert not await accepted.until_end()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "code", ["invalid_argument", "unknown_command", "no_such_run", "no_such_interrupt", "permission_denied"]
)
async def test_a_commands_error_under_our_id_and_a_known_code_is_a_refusal(tls: ssl.SSLContext, code: str) -> None:
    body = json.dumps({"type": "error", "id": 7, "error": code, "message": "no"}).encode()
    async with raw_server(answering(response("200 OK", body))) as server:
        with pytest.raises(AgentRejected):
            await send_to(server.url, tls, resume=command())


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Sign in</html>",
        b"[]",
        b"null",
        b'{"type":"success"}',
        b'{"type":"success","id":null}',
        b'{"type":"success","id":"7"}',
        b'{"type":"success","id":8}',
        b'{"type":"error","id":8,"error":"no_such_interrupt"}',
        b'{"type":"error","id":null,"error":"no_such_interrupt"}',
        b'{"type":"error","id":7,"error":"unknown_error"}',
        b'{"type":"error","id":7}',
        b'{"type":"event","id":7}',
        b'{"id":7}',
        b'{"type":"success","id":7,"pad":"' + b"x" * 70_000 + b'"}',
    ],
)
async def test_any_other_word_on_a_command_leaves_the_outcome_unknown(tls: ssl.SSLContext, body: bytes) -> None:
    async with raw_server(answering(response("200 OK", body))) as server:
        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls, resume=command())


@pytest.mark.asyncio
async def test_a_commands_answer_that_does_not_come_leaves_the_outcome_unknown(tls: ssl.SSLContext) -> None:
    async def handler(server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{")
        await server.until_hung_up(reader)

    async with raw_server(handler) as server:
        with pytest.raises(OutcomeUnknown):
            await send_to(server.url, tls, resume=command(), headers=0.05)

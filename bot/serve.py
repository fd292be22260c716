"""`placet serve`: the bot in front of a real Slack workspace and real agent servers."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket

import structlog
import uvicorn

from bot.app import LEASE_MS, Placet, compose
from bot.errors import ConfigurationError, StoreError
from bot.policy.lint import check
from bot.policy.nodes import PolicyError
from bot.policy.source import parse
from bot.settings import Settings, is_loopback, require_slack
from bot.store import policies
from bot.store.engine import Store
from bot.store.policies import Policies, text_digest
from bot.store.upgrade import open_store

log = structlog.get_logger("placet")


async def serve(settings: Settings, *, lease_ms: int = LEASE_MS, offset_ms: int = 0) -> None:
    """Run until SIGTERM or SIGINT. Raises `ConfigurationError` or `StoreError` before anything listens.

    `lease_ms`: for how long a claim of this replica stands after its last sign of life. `offset_ms` moves the store's
    clock, for tests.
    """
    require_slack(settings)
    listener = _listen(settings)
    try:
        store = await open_store(settings.database_url, offset_ms, exclusive=True)
    except StoreError:
        listener.close()
        raise
    try:
        await first_policy(settings, store)
        placet = await compose(settings, store, lease_ms=lease_ms)
        await warn_of_policy(store)
    except BaseException:
        listener.close()
        await store.close()
        raise
    server = uvicorn.Server(uvicorn.Config(placet.web, log_config=None, access_log=False, timeout_graceful_shutdown=2))
    stop = asyncio.Event()
    _on_signals(stop)
    with contextlib.ExitStack() as signals:
        # uvicorn would take the signals for itself, and end before the workers do.
        signals.enter_context(contextlib.suppress(asyncio.CancelledError))
        serving = asyncio.create_task(server._serve(sockets=[listener]))  # noqa: SLF001 - `serve` without its signals
        await _until_stopped(placet, serving, stop, {"port": listener.getsockname()[1], **_told(settings)})
        server.should_exit = True
        await placet.stop()
        await serving
    log.info("Placet has stopped.", action="stopped")


async def _until_stopped(
    placet: Placet, serving: asyncio.Task[None], stop: asyncio.Event, told: dict[str, object]
) -> None:
    """Start, say so, and wait. The socket may take its time, and whoever stops the bot must not wait for it."""
    starting, stopping = asyncio.create_task(placet.start()), asyncio.create_task(stop.wait())
    await asyncio.wait({serving, starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and not stopping.done():
        await starting
        log.info("Placet is running.", action="started", **told)
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()


def _told(settings: Settings) -> dict[str, object]:
    return {"host": settings.host, "transport": "socket" if settings.socket_mode else "http"}


def _on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP: asyncio turns Nagle off only for a socket that says so, and 40 ms are lost per answer otherwise.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as exc:
        listener.close()
        raise ConfigurationError(
            f"PLACET_PORT: {settings.host}:{settings.port} cannot be used ({exc.strerror}): stop what uses it, or choose another."
        ) from exc
    listener.listen(128)
    if not is_loopback(settings.host):
        log.info("Listening beyond this machine.", action="listening", host=settings.host)
    return listener


async def first_policy(settings: Settings, store: Store) -> None:
    """Apply PLACET_POLICY to a store without a policy; warn when it is another one than the store's."""
    text = read_policy(settings)
    async with store.begin() as tx:
        current = await policies.current(tx)
        if current is None and text is None:
            raise ConfigurationError(
                "PLACET_POLICY is not set and the database holds no policy: set it to a policy file."
            )
        if text is None:
            return
        if current is None:
            await policies.apply(tx, text=text, digest=text_digest(text), by="serve")
            return
        known = text_digest(text) in await policies.known_digests(tx)
    if not known:
        log.warning(
            "PLACET_POLICY differs from the stored policy, which stays in force; `placet policy apply` changes it.",
            action="policy_differs",
            version=current.version,
        )


async def warn_of_policy(store: Store) -> None:
    """Say at start where the policy in force does not do what it seems to, such as a tool that nobody may decide."""
    async with store.read() as tx:
        policy = (await Policies().in_force(tx)).policy
    for one in check(policy) if policy else ():
        if one.level == "warning":
            said = f"{one.path}: {one.text}. {one.mend}."
            log.warning("The policy has a fault.", action="policy_warning", tenant=one.tenant, fault=said)


def read_policy(settings: Settings) -> str | None:
    """The text of PLACET_POLICY, parsed once to say what is wrong with it."""
    if settings.policy_path is None:
        return None
    try:
        text = settings.policy_path.read_text(encoding="utf-8")
        parse(text)
    except OSError as exc:
        raise ConfigurationError(f"PLACET_POLICY: {settings.policy_path} cannot be read ({exc.strerror}).") from exc
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"PLACET_POLICY: {settings.policy_path} is not UTF-8 text.") from exc
    except PolicyError as exc:
        raise ConfigurationError(f"PLACET_POLICY: {settings.policy_path}: {exc}") from exc
    return text

"""The Events API: the outer envelope, the first delivery, and the retries when the app did not take it."""

import asyncio

from bot.sandbox.slack.delivery import deliver
from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.shapes import authorization_json
from bot.sandbox.slack.world import World

FAREWELLS = ("app_uninstalled", "tokens_revoked")
"""Events that reach an app whose token no longer works."""


async def emit(world: World, team_id: str, event: Json, *, wanted: bool = False) -> ApiAnswer | None:
    """Deliver an event once and go on retrying in the background; None where the app is not to hear of it.

    It hears of what it subscribes to as long as it is installed, or, with `wanted`, of anything.
    """
    if not wanted and not _wanted(world, team_id, event):
        return None
    payload = envelope(world, team_id, event)
    answer = await deliver(world, Parcel("event", payload))
    if not answer.received and not answer.no_retry:
        world.spawn(_retry(world, payload, answer))
    return answer


def _wanted(world: World, team_id: str, event: Json) -> bool:
    installation = world.installations.get(team_id)
    if installation is None or (installation.status != "active" and event["type"] not in FAREWELLS):
        return False
    subscribed = world.app.events
    return event["type"] in subscribed or any(name.startswith(f"{event['type']}.") for name in subscribed)


def envelope(world: World, team_id: str, event: Json) -> Json:
    """Return the event in its outer envelope; `authorizations` holds the one installation it is for."""
    return {
        "token": "deprecated",
        "team_id": team_id,
        "api_app_id": world.app.id,
        "type": "event_callback",
        "event": {"event_ts": world.next_ts(), **event},
        "event_id": world.next_id("Ev"),
        "event_time": int(world.clock()),
        "event_context": world.next_id("EC"),
        "authorizations": [authorization_json(world.installations[team_id])],
        "is_ext_shared_channel": False,
        "context_team_id": team_id,
        "context_enterprise_id": None,
    }


async def _retry(world: World, payload: Json, answer: ApiAnswer) -> None:
    for attempt, delay in enumerate(world.rules.retry_delays, start=1):
        await asyncio.sleep(delay)
        answer = await deliver(world, Parcel("event", payload, attempt, _reason(world, answer)))
        if answer.received or answer.no_retry:
            return


def _reason(world: World, answer: ApiAnswer) -> str:
    if world.app.transport == "socket":
        return "timeout"
    return "http_timeout" if answer.status is None else "http_error"

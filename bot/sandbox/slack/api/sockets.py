"""apps.connections.open: a one-use address for a Socket Mode connection."""

from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.records import AppInstallation, Json
from bot.sandbox.slack.world import World


def app_level(world: World, token: str) -> AppInstallation:
    """Check an app-level token; the installation returned stands for the app and belongs to no workspace."""
    if not token:
        raise ApiError("not_authed")
    if token != world.app.app_token:
        known = any(token == installation.token for installation in world.installations.values())
        raise ApiError("not_allowed_token_type" if known else "invalid_auth")
    return AppInstallation("", "", "", token, frozenset({"connections:write"}))


def apps_connections_open(call: ApiCall) -> Json:
    """Return a wss address that works once."""
    world = call.world
    if world.app.transport != "socket":
        raise ApiError("forbidden_team", detail="Socket Mode is not switched on for this app")
    world.rates.spend_tier("", "apps.connections.open", 3, now=world.clock(), strict=world.rules.strict_rates)
    ticket = world.next_id("ticket")
    world.tickets.add(ticket)
    base = world.base_url.replace("http", "ws", 1)
    return {"ok": True, "url": f"{base}/link/?ticket={ticket}&app_id={world.app.id}"}


METHODS = {"apps.connections.open": Method(apps_connections_open, tier=3, token="app")}  # noqa: S106 a kind of token

"""The doctor's questions to Slack: whose token, which scopes, the channel, the reviewers' groups. It only reads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.person import groups_of_policy
from bot.doctor.finding import DoctorFinding, Grade
from bot.errors import SlackError
from bot.policy.matching import channels_of
from bot.policy.model import TenantPolicy
from bot.settings import Settings
from bot.slack.client import web_api

NEEDED = ("chat:write", "commands", "users:read")
HISTORY = ("channels:history", "groups:history")
SKEW_S = 60.0
MENDS: Mapping[str, str] = {
    "not_in_channel": "Invite the app to the channel: /invite @placet.",
    "channel_not_found": "Check the channel's id in the policy, and invite the app to it.",
    "is_archived": "Unarchive the channel, or name another one in the policy.",
    "missing_scope": "Add the scope on the app's OAuth page and install the app again.",
    "no_token": "Set SLACK_BOT_TOKEN, or name this workspace in the file of PLACET_SLACK_TOKENS.",
    "invalid_auth": "Copy the bot token again from the app's OAuth page.",
    "account_inactive": "Install the app again; its token was switched off.",
    "token_revoked": "Install the app again and copy its new token.",
    "app_uninstalled": "Install the app again and copy its new token; the first card that Slack takes ends this.",
    "token_expired": "Turn token rotation off and install the app again.",
    "no_such_subteam": "Check the group's id in the policy.",
}


@dataclass(frozen=True, slots=True)
class SlackOffice:
    """One workspace that a token opens, or why it does not."""

    client: AsyncWebClient | None
    scopes: frozenset[str] | None = None
    skew_s: float = 0.0
    fault: str = ""


async def offices(settings: Settings) -> dict[str, SlackOffice]:
    """Every workspace that the settings' tokens open, by team; "" for a token that opens none."""
    tokens = dict(settings.slack_tokens) or {"": settings.slack_bot_token}
    found: dict[str, SlackOffice] = {}
    for team, token in tokens.items():
        if token:
            told, office = await _office(web_api.make_client(token, settings.slack_api_url))
            found[told or team] = office
    return found


async def _office(client: AsyncWebClient) -> tuple[str, SlackOffice]:
    try:
        answer = await client.auth_test()
    except SlackApiError as exc:
        return "", SlackOffice(None, fault=str((exc.response or {}).get("error", "")))
    except Exception as exc:  # noqa: BLE001 - whatever the network does is one finding
        return "", SlackOffice(None, fault=type(exc).__name__)
    headers = {str(key).lower(): value for key, value in dict(answer.headers).items()}
    listed = headers.get("x-oauth-scopes")
    scopes = None if listed is None else frozenset(part.strip() for part in str(listed).split(","))
    return str(answer["team_id"]), SlackOffice(client, scopes, _skew(headers.get("date")))


def _skew(date: Any) -> float:
    try:
        return abs(parsedate_to_datetime(str(date)).timestamp() - time.time())
    except ValueError:
        return 0.0


async def examine(found: Mapping[str, SlackOffice], tenant: TenantPolicy) -> list[DoctorFinding]:
    """What Slack says about one tenant."""
    office = found.get(tenant.slack_team) or found.get("")
    if office is None or office.client is None:
        fault = office.fault if office else "no_token"
        what = f"No token opens workspace {tenant.slack_team}" + (f" ({fault})." if fault else ".")
        return [_finding(tenant, "fault", what, MENDS.get(fault, MENDS["no_token"]))]
    out = [_finding(tenant, "ok", f"A token opens workspace {tenant.slack_team}."), *_scopes(office, tenant)]
    if office.skew_s > SKEW_S:
        what = f"This machine's clock and Slack's are {office.skew_s:.0f} s apart; signatures fail at five minutes."
        out.append(_finding(tenant, "warn", what, "Let NTP set this machine's clock."))
    for where in channels_of(tenant):
        out += await _channel(office.client, tenant, where)
    return out + await _groups(office.client, tenant)


def _scopes(office: SlackOffice, tenant: TenantPolicy) -> list[DoctorFinding]:
    if office.scopes is None:
        return [_finding(tenant, "note", "Slack did not say which scopes the token has.")]
    groups = ("usergroups:read",) if groups_of_policy(tenant) else ()
    missing = [scope for scope in (*NEEDED, *groups) if scope not in office.scopes]
    out = [_finding(tenant, "fault", f"The token lacks {scope}.", MENDS["missing_scope"]) for scope in missing]
    if not office.scopes.intersection(HISTORY):
        what = "Without a history scope a card may be posted twice after an answer of Slack's was lost."
        out.append(_finding(tenant, "warn", what, MENDS["missing_scope"]))
    return out or [_finding(tenant, "ok", "The token has every scope that is needed.")]


async def _channel(client: AsyncWebClient, tenant: TenantPolicy, where: str) -> list[DoctorFinding]:
    try:
        channel = (await web_api.call(client.conversations_info(channel=where))).get("channel") or {}
    except SlackError as exc:
        return [_finding(tenant, "fault", f"Channel {where}: {exc.code}.", MENDS.get(exc.code, ""))]
    out: list[DoctorFinding] = []
    if channel.get("is_archived"):
        out.append(_finding(tenant, "fault", f"Channel {where} is archived.", MENDS["is_archived"]))
    if not channel.get("is_member"):
        out.append(_finding(tenant, "fault", f"The app is not in channel {where}.", MENDS["not_in_channel"]))
    if channel.get("is_ext_shared") or channel.get("is_pending_ext_shared") or channel.get("is_org_shared"):
        what = f"Channel {where} is shared with another workspace, whose people read every card."
        out.append(_finding(tenant, "warn", what, "Use a channel of this workspace alone."))
    return out or [_finding(tenant, "ok", f"Channel {where} takes cards.")]


async def _groups(client: AsyncWebClient, tenant: TenantPolicy) -> list[DoctorFinding]:
    out: list[DoctorFinding] = []
    for group in sorted(groups_of_policy(tenant)):
        try:
            users = (await web_api.call(client.usergroups_users_list(usergroup=group))).get("users") or []
        except SlackError as exc:
            out.append(_finding(tenant, "fault", f"Group {group}: {exc.code}.", MENDS.get(exc.code, "")))
            continue
        empty = f"Group {group} is empty, so its rules grant nothing."
        out.append(
            _finding(tenant, "ok", f"Group {group} has {len(users)} members.")
            if users
            else _finding(tenant, "warn", empty, "Add people to it in Slack.")
        )
    if out:
        what = "Whoever may edit these groups decides who reviews: look at Slack's settings on who may."
        out.append(_finding(tenant, "note", what))
    return out


def _finding(tenant: TenantPolicy, grade: str, what: str, mend: str = "") -> DoctorFinding:
    return DoctorFinding("slack", Grade(grade), what, mend, tenant.name)

"""What the local workspace remembers, as frozen records.

The world replaces a record to change it, so that a payload made a moment ago cannot change under its reader. Nothing here
knows HTTP, Block Kit's limits or how anything is delivered.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Team:
    """A workspace; `enterprise_id` is set where it belongs to an organisation."""

    id: str
    name: str
    domain: str
    enterprise_id: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with an account; `reviewer` only feeds the list of people, it means nothing to the workspace itself.

    `org_id` is another id that the organisation has for them.
    """

    id: str
    name: str
    team_id: str
    reviewer: bool = False
    deleted: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_bot: bool = False
    locale: str = "en-US"
    updated: int = 0
    org_id: str = ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How payloads name things: through the organisation's own installation, and people by the organisation's ids."""

    org_wide: bool = False
    org_ids: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A user group; a `date_delete` other than 0 means disabled."""

    id: str
    handle: str
    team_id: str
    users: tuple[str, ...] = ()
    date_delete: int = 0


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation; an `im` has exactly one person and the bot of its team as members."""

    id: str
    name: str
    team_id: str
    members: frozenset[str] = frozenset()
    kind: Literal["public", "private", "im"] = "public"
    is_archived: bool = False
    shared_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AppInstallation:
    """The app in one workspace. `status` is what the token's next use is answered with, unless it is `active`."""

    team_id: str
    bot_user: str
    bot_id: str
    token: str
    scopes: frozenset[str]
    status: Literal["active", "token_revoked", "account_inactive"] = "active"


@dataclass(frozen=True, slots=True)
class App:
    """How the app is configured: one delivery way for all of its installations, as at Slack."""

    id: str
    app_token: str
    signing_secret: str
    bot_url: str | None = None
    transport: Literal["http", "socket"] = "http"
    events: frozenset[str] = frozenset()
    commands: frozenset[str] | None = None
    home_enabled: bool = True
    messages_tab: bool = True


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """A posted message, or a tombstone: a deleted parent whose replies stay."""

    channel: str
    ts: str
    user: str
    bot_id: str
    app_id: str
    team_id: str
    text: str
    blocks: tuple[Json, ...] = ()
    thread_ts: str | None = None
    metadata: Json | None = None
    edited_ts: str | None = None
    broadcast: bool = False
    tombstone: bool = False


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """A message that one person sees; no method of the API can reach it again, only a response_url."""

    channel: str
    ts: str
    user: str
    team_id: str
    text: str
    blocks: tuple[Json, ...] = ()
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class StoredView:
    """A modal or a Home tab as one person has it, with what they typed (`values`) and what their client shows."""

    id: str
    kind: Literal["modal", "home"]
    team_id: str
    user: str
    content: Json
    hash: str
    root_id: str
    previous_id: str | None
    values: dict[str, dict[str, Json]]
    errors: dict[str, str] = field(default_factory=dict)
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """Leave to open one view: for one installation, for one person, for three seconds, once."""

    id: str
    team_id: str
    user: str
    made: float
    view_id: str | None = None
    used: bool = False


@dataclass(frozen=True, slots=True)
class Hook:
    """What a response_url stands for; `ts` is the message it came from, none for a command."""

    path: str
    team_id: str
    channel: str
    user: str
    made: float
    ts: str | None = None
    ephemeral: bool = False
    uses: int = 0


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of the Web API as it was answered; `error` is none where it went well."""

    at: float
    method: str
    team_id: str | None
    args: Json
    error: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing sent to the app, kept so that a test can look at it or send it once more."""

    number: int
    kind: str
    payload: Json
    status: int | None
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""

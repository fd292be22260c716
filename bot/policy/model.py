"""The records of a policy, findings about it, and who somebody is in a tenant.

The records of a policy: tenants, reviewer rules and tool settings, people and verdicts. All are frozen and hashable,
so that one parsed version can be shared by every transaction and compared with the next.

One finding about a policy: how grave, where, what, and how to mend it.

Who somebody is inside a tenant, however Slack calls them. One human reaches us under several names: as an account of
a workspace or of its organisation, by an id of the workspace or by the organisation's own. For people of the tenant's
workspace or organisation the key is the organisation's id, else the account's. Somebody from outside keeps their own
workspace and id: they never equal a member, whatever their id is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from bot.core.model import PersonId
from bot.policy.conditions import Condition

K = TypeVar("K")
V = TypeVar("V")

DECISIONS = ("approve", "edit", "reject", "respond")
REVEAL = "reveal"  # to see what the policy redacts: granted like a decision, but not one
POWERS = (*DECISIONS, REVEAL)
NEVER = 0  # a tool's decide_within_ms: never expires, as opposed to None, not set

SECOND = 1000
HOUR = 3_600 * SECOND


class FrozenMap(Mapping[K, V], Generic[K, V]):
    """A mapping that nobody can change, with a hash, in the order of the file."""

    __slots__ = ("_held",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._held: dict[K, V] = dict(items or {})

    def __getitem__(self, key: K) -> V:
        return self._held[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __hash__(self) -> int:
        return hash(frozenset(self._held.items()))

    def __repr__(self) -> str:
        return f"FrozenMap({self._held!r})"


@dataclass(frozen=True, slots=True)
class AgentTarget:
    """Where a tenant's threads live. `url` is normalised; `users` holds plain identities and patterns."""

    url: str
    kind: str  # aegra | langgraph
    assistant: str
    users: tuple[str, ...]
    resume: str = "runs"  # runs | commands
    api_key_env: str | None = None
    show_context: tuple[str, ...] = ()  # names of what a run is started with, shown on its cards
    thread_url: str | None = None  # where people look at a thread; {thread_id} stands for it

    @property
    def polled(self) -> tuple[str, ...]:
        """The identities whose threads are read unasked; patterns only admit hints."""
        return tuple(user for user in self.users if "*" not in user)


@dataclass(frozen=True, slots=True)
class ReviewerRule:
    """One line of `reviewers`: exactly one of group and user is set."""

    index: int
    group: str | None
    user: str | None
    tools: tuple[str, ...]
    may: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()

    @property
    def subject(self) -> str:
        """Whom it is about, as evidence names them."""
        return f"group {self.group}" if self.group else f"user {self.user}"


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What one pattern sets. None: not set here, a less specific pattern or the tenant may."""

    title: str | None = None
    risk: str | None = None
    approvals: int | None = None
    requester_may: tuple[str, ...] | None = None
    decide_within_ms: int | None = None  # NEVER: it does not expire
    on_expiry: str | None = None
    redact: tuple[str, ...] | None = None
    result: str | None = None
    mention: tuple[str, ...] | None = None
    channel: str | None = None
    schema: str | None = None  # JSON text
    after_unknown: str | None = None
    resend: str | None = None
    decisions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """What holds for one tool by its name."""

    title: str | None
    risk: str  # normal | high
    approvals: int
    requester_may: tuple[str, ...] | None  # None: no pattern sets it, the default rule applies
    decide_within_ms: int | None  # None: never expires
    on_expiry: str  # reject | hold
    redact: tuple[str, ...]  # argument names, or dotted paths
    result: str  # none | status | first_lines
    mention: tuple[str, ...]  # ids of people and groups
    channel: str
    schema: str | None  # JSON text
    after_unknown: str  # proceed | hold
    resend: str  # settle | fence | never
    decisions: tuple[str, ...] | None  # for servers that do not say what a call allows


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """One tenant. Times are milliseconds; `outsiders` are (team, user)."""

    name: str
    slack_team: str
    slack_channel: str
    agent: AgentTarget
    slack_enterprise: str | None = None
    intake_token_env: str | None = None
    watch_every_ms: int = 5 * SECOND
    resend: str = "settle"
    settle_for_ms: int = 5 * SECOND
    decide_within_ms: int | None = 24 * HOUR
    on_expiry: str = "reject"
    requester_path: str = "metadata.slack_user"
    guests: tuple[str, ...] = ()
    outsiders: tuple[tuple[str, str], ...] = ()
    retain_arguments_ms: int | None = None
    retain_audit_ms: int | None = None
    reviewers: tuple[ReviewerRule, ...] = ()
    tools: FrozenMap[str, ToolSettings] = field(default_factory=FrozenMap)


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of the whole file."""

    version: int
    operators: tuple[str, ...]
    tenants: FrozenMap[str, TenantPolicy]


@dataclass(frozen=True, slots=True)
class Person:
    """What is known of somebody who presses.

    `team` is the workspace (or enterprise) that they act in, `home_team` the one that their account belongs to. `user` is
    the id that they are known by, the organisation's where there is one; `also` are the other ids of the same account.
    `groups` maps each user group that they are in to since when, in milliseconds on the database's clock.
    `outsider` None or `known_as_of` None means that it cannot be told yet: pass that too when the facts are too old.
    `unreadable`: nor will it be, since Slack does not let us read a user group that matters.
    """

    team: str | None
    user: str
    home_team: str | None = None
    groups: Mapping[str, int] = field(default_factory=FrozenMap)
    deactivated: bool = False
    bot: bool = False
    guest: bool = False
    outsider: bool | None = None
    known_as_of: int | None = None
    unreadable: bool = False
    also: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", FrozenMap(self.groups))

    @property
    def ids(self) -> frozenset[str]:
        """Every id that a policy, a group or a thread may name this person by."""
        return self.also | {self.user}

    @property
    def unconfirmed(self) -> bool:
        """Whether a grant would rest on what is not known."""
        return self.outsider is None or self.known_as_of is None


@dataclass(frozen=True, slots=True)
class Requester:
    """Whom the thread's metadata named when the review opened, and whom it names now; None where it says nothing."""

    at_open: str | None
    now: str | None

    @property
    def names(self) -> frozenset[str]:
        """Everybody who may have asked for the call."""
        return frozenset(name for name in (self.at_open, self.now) if name)

    @property
    def certain(self) -> bool:
        """Whether it is known and has not changed."""
        return self.now is not None and self.at_open == self.now


@dataclass(frozen=True, slots=True)
class PolicyCall:
    """One proposed call. `final_args` is what would run, the proposed arguments where nobody edits.

    `allowed` is what its interrupt permits. `opened_at` None: its review is not open yet.
    """

    tool: str
    allowed: tuple[str, ...]
    proposed_args: Any
    final_args: Any
    requester: Requester
    opened_at: int | None = None


class Why(StrEnum):
    """The reason of a verdict."""

    ALLOWED = "allowed"
    OTHER_WORKSPACE = "other_workspace"  # acts in a workspace that is not the tenant's
    DEACTIVATED = "deactivated"
    BOT_USER = "bot_user"
    OUTSIDER = "outsider"  # a Slack Connect account that the tenant does not list
    GUEST = "guest"  # a guest account that the tenant does not admit
    CANNOT_CONFIRM = "cannot_confirm"  # not a no: what is known of the person does not suffice
    GROUP_UNREADABLE = "group_unreadable"  # nor will it, until an operator lets us read the groups
    DECISION_NOT_ALLOWED = "decision_not_allowed"  # the call itself does not permit it
    DENIED = "denied"  # a deny rule matches
    NOT_A_REVIEWER = "not_a_reviewer"  # no rule makes this person a reviewer of this tool
    DECISION_NOT_PERMITTED = "decision_not_permitted"  # a reviewer of this tool, but not for this decision
    CONDITION_NOT_MET = "condition_not_met"  # the arguments are outside what the rule allows, or cannot be judged
    JOINED_TOO_LATE = "joined_too_late"  # high risk, and in the group only since after the review opened
    OWN_REQUEST = "own_request"  # the requester may not decide this on their own call
    NOT_AN_OPERATOR = "not_an_operator"  # asked to repair, settle or pause
    REQUESTER_UNKNOWN = "requester_unknown"  # the tool has a requester rule, and the requester cannot be told


@dataclass(frozen=True, slots=True)
class RightsVerdict:
    """The answer, its reason, and the rule that is its evidence.

    `rule` is the granting rule when allowed; when refused, the deny or requester rule that refuses, else None.
    """

    allowed: bool
    why: Why
    rule: str | None = None

    @property
    def unsure(self) -> bool:
        """Whether this is "cannot tell", which waits, and not "no"."""
        return self.why is Why.CANNOT_CONFIRM


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """`path` can be turned into line and column by `policyfile.locate`; `tenant` is "" for the file itself."""

    level: str  # warning | note
    tenant: str
    path: str
    text: str
    mend: str

    def __str__(self) -> str:
        return f"{self.level}: {self.path}: {self.text}. {self.mend}."


def warning(tenant: str, path: str, text: str, mend: str) -> PolicyFinding:
    """The policy will not do what it seems to."""
    return PolicyFinding("warning", tenant, path, text, mend)


def note(tenant: str, path: str, text: str, mend: str) -> PolicyFinding:
    """Worth knowing, and possibly meant."""
    return PolicyFinding("note", tenant, path, text, mend)


NOWHERE = "elsewhere"  # the workspace of an outsider whose own is not told


def touches(tenant: TenantPolicy, place: str | None) -> bool:
    """Whether a workspace or an organisation is the tenant's."""
    return bool(place) and place in (tenant.slack_team, tenant.slack_enterprise)


def person_key(tenant: TenantPolicy, person: Person) -> PersonId:
    """The one key of a person inside a tenant: quorums, authors, drafts and private views go by it."""
    if person.outsider is not True:
        return PersonId(tenant.slack_team, person.user)
    home = person.home_team
    return PersonId(NOWHERE if home is None or touches(tenant, home) else home, person.user)

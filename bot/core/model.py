"""The records that cross every boundary: reviews, actions, showings, decisions.

Frozen and complete: the store builds them, the core judges them, the projections draw them. Times are whole
milliseconds since the epoch on the database's clock. This module must not know how any of it is stored or shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.core.digest import CallAddress


class DecisionType(StrEnum):
    """The four answers that LangChain's review contract knows."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    RESPOND = "respond"


class InterruptShape(StrEnum):
    """How an interrupt asks."""

    BATCHED = "batched"  # action_requests and review_configs; answered by {"decisions": [...]}
    PER_CALL = "per_call"  # one tool_approval; answered by a bare decision
    OTHER = "other"  # any other value: shown, never answered


class ReviewState(StrEnum):
    """Where a review stands; `bot.core.states.TRANSITIONS` says what may follow."""

    OPEN = "open"  # waits for people
    DECIDED = "decided"  # every position has a decision; waits for a worker
    CLAIMED = "claimed"  # one worker holds the thread
    ARMED = "armed"  # the request may have left us
    SENT = "sent"  # the server accepted the run
    RESUMED = "resumed"  # the outcome is known
    UNKNOWN = "unknown"  # sent, and what became of it cannot be told
    EXPIRED = "expired"  # nobody decided in time; every position will be rejected
    HELD = "held"  # expired and not rejectable, or held by policy
    SUPERSEDED = "superseded"  # the thread moved on or was answered elsewhere
    BROKEN = "broken"  # a bad answer is stored in the thread; needs repair


class Outcome(StrEnum):
    """What became of one call, by the agent server's own word."""

    EXECUTED = "executed"
    FAILED = "failed"
    REJECTED = "rejected"
    ANSWERED = "answered"
    TAKEN = "taken"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


class ShowingKind(StrEnum):
    """Where something was shown."""

    CARD = "card"
    ROOT = "root"
    MODAL = "modal"
    HOME = "home"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a review's answer goes. Stored with the review: a later change in the policy never redirects it."""

    url: str
    kind: str  # aegra | langgraph
    identity: str  # sent as X-User-Id
    assistant: str
    route: str = "runs"  # runs | commands


@dataclass(frozen=True, slots=True)
class PersonId:
    """A person: team and user id, never a name."""

    team: str
    user: str


@dataclass(frozen=True, slots=True)
class Decision:
    """One recorded decision on one action."""

    id: str
    position: int
    type: DecisionType
    by: PersonId
    at: int
    showing_id: str
    digest: str  # of what was decided on: the proposed call, or the final arguments of an edit
    final_args: str | None = None  # source text; only for edit
    message: str | None = None  # the reason or the answer as typed
    rule: str = ""  # which policy rule allowed it
    policy_version: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """One proposed call inside a review."""

    position: int
    tool: str
    args: str | None  # source text; None when the interrupt carried no arguments
    args_object: bool
    description: str | None
    allowed: tuple[DecisionType, ...]
    digest: str
    problem: str = ""  # why this position cannot be decided, "" when it can
    tool_call_id: str | None = None
    decision: Decision | None = None
    outcome: Outcome | None = None
    outcome_text: str | None = None
    void_why: str = ""  # why its last decision counts no more, "" where there was none
    approvals: tuple[Decision, ...] = ()  # that count towards a quorum, all of one digest, in order

    @property
    def proposal(self) -> Decision | None:
        """The edit that awaits more approvals, by whoever made it; None while the call stands as the agent made it."""
        return next((made for made in self.approvals if made.final_args is not None), None)

    @property
    def standing_args(self) -> str | None:
        """What an approval would run now: the agent's arguments, or those of an edit that awaits more approvals."""
        return self.proposal.final_args if self.proposal else self.args

    @property
    def standing_digest(self) -> str:
        """The digest of what an approval would run now."""
        return self.proposal.digest if self.proposal else self.digest

    def evolve(self, **changes: object) -> Action:
        """A copy with these fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Review:
    """Our record of one interrupt being decided."""

    id: str
    tenant: str
    target: Target
    thread_id: str
    interrupt_id: str
    content_hash: str
    shape: InterruptShape
    state: ReviewState
    why: str  # reason code of the state, "" when it speaks for itself
    salt: bytes
    requester: str | None
    opened_at: int
    delivered_at: int | None
    decide_by: int | None
    settled_at: int | None
    response_schema: str | None  # JSON text
    problem: str  # why the whole interrupt cannot be decided, "" when it can
    version: int
    actions: tuple[Action, ...]
    erased_at: int | None = None  # when retention took what it was about
    surroundings: str | None = None  # a salted hash of what `asked_by` was started with; None: with nothing
    started_with: tuple[tuple[str, str | None], ...] = ()  # of it, what the policy has shown: names and JSON texts
    renamed: str | None = (
        None  # whom the thread names as requester since that changed, "" for nobody; None: as at opening
    )
    missing_since: int | None = None  # first of the readings in a row that did not list its interrupt

    asked_by: str | None = None  # the agent server's run that wrote the checkpoint at which it was first seen
    checkpoint_ns: str = ""  # where the branch or sub-agent that asks keeps its checkpoints, "" where that is not known

    @property
    def place(self) -> CallAddress:
        """The salted address that its digests share."""
        return CallAddress(self.salt, self.target.url, self.thread_id, self.interrupt_id)

    @property
    def requester_now(self) -> str | None:
        """Whom the thread named as requester when it was last read."""
        return self.requester if self.renamed is None else self.renamed or None

    @property
    def undecided(self) -> tuple[Action, ...]:
        """Positions that still wait."""
        return tuple(action for action in self.actions if action.decision is None)

    def evolve(self, **changes: object) -> Review:
        """A copy with these fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a showing let its reader decide about one position, and whether the call stood there in full."""

    position: int
    offered: tuple[DecisionType, ...]
    complete: bool  # everything of tool and arguments was visible


@dataclass(frozen=True, slots=True)
class Showing:
    """This content, in this message or view, to this person if private."""

    id: str
    review_id: str
    position: int | None  # None: the whole review (a root message or a batch view)
    kind: ShowingKind
    digest: str  # of the call, or of all calls in order for a whole review
    offers: tuple[Offer, ...]
    to: PersonId | None = None  # only this person saw it
    message_id: str | None = None
    final_args: str | None = None  # an edit's arguments, shown as a diff before they are approved
    page: int = 0  # of a paged view
    at: int = 0

    def offer(self, position: int) -> Offer | None:
        """What was offered for this position, or None."""
        return next((offer for offer in self.offers if offer.position == position), None)

"""The frozen view-models that the builders draw, and what the builders give back.

They exist so that a card is a projection of stored rows and nothing else. The module must not know where a value came
from; it holds only what a person is to see.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class CallState(StrEnum):
    """Where one call stands, as far as people need to tell states apart. The values are the words used in rows."""

    WAITING = "waiting"
    DECIDED = "decided"
    SENDING = "sending"
    SENT = "sent"
    EXECUTED = "executed"
    FAILED = "failed"
    REJECTED = "rejected"
    ANSWERED = "answered"
    TAKEN = "taken"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    HELD = "held"
    READ_ONLY = "read_only"


@dataclass(frozen=True, slots=True)
class Mask:
    """One value that stays hidden: its path of keys and indexes, and whether the policy declared it secret.

    A declared mask leaves the call approvable from the card; a suspected one sends people to the private view, where
    the value is shown.
    """

    path: tuple[str | int, ...]
    declared: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision: who (``None``: Placet itself), what, when (epoch seconds), with what words.

    ``message`` is a reason or an answer as typed. ``arguments`` is the source text of the final arguments of an edit.
    """

    decision: str
    user: str | None = None
    at: int | None = None
    message: str | None = None
    arguments: str | None = None


@dataclass(frozen=True, slots=True)
class CallView:
    """One proposed call, as shown to people.

    ``arguments`` is JSON source text, ``None`` where the server sent none. ``offered`` is what is allowed for the call
    and permitted to whoever sees this. ``reason`` is one sentence of ours on why a call cannot be decided here, failed
    or was voided. ``notices`` are lines of ours. ``approvals`` are the people who approved so far; ``original`` is what the agent
    proposed where ``arguments`` are the edit that they approve. Times are epoch seconds. Everything from the agent (tool, arguments, description, outcome) may be hostile.

    ``typed``: there is a form with one input for each argument. ``revealable``: somebody (in a private view: this person)
    may see what the policy hides. ``has_result``: there is a result to open in private. ``mention``: ids of people and
    user groups whom the policy wants told. ``operate``: what an operator may have done with it (`ids.OPERATIONS`).
    ``started_with``: what the policy shows of the run's context, by name; ``None`` where the run had no such value.
    ``policy_line``: the YAML that is missing in the policy for this call to be decided, printable ASCII. ``unchecked``: nobody
    can check an edit of its arguments before the tool gets them.
    """

    showing: str
    tool: str
    arguments: str | None
    offered: tuple[str, ...] = ()
    position: int = 0
    total: int = 1
    title: str | None = None
    risk: str = "normal"
    description: str | None = None
    tenant: str = ""
    requester: str | None = None
    thread_link: str | None = None
    opened_at: int | None = None
    decide_by: int | None = None
    digest: str = ""
    state: CallState = CallState.WAITING
    reason: str | None = None
    decided: Decided | None = None
    outcome: str | None = None
    notices: tuple[str, ...] = ()
    approvals_needed: int = 1
    approvals: tuple[str, ...] = ()
    original: str | None = None
    masks: tuple[Mask, ...] = ()
    take_back: bool = False
    typed: bool = False
    revealable: bool = False
    has_result: bool = False
    mention: tuple[str, ...] = ()
    operate: tuple[str, ...] = ()
    started_with: tuple[tuple[str, str | None], ...] = ()
    policy_line: str = ""
    unchecked: bool = False


@dataclass(frozen=True, slots=True)
class RootView:
    """The message above the calls of one interrupt: its calls in request order, and its own showing for `Review all`.

    ``reviewable`` is false when nobody could decide anything any more, which takes the button away.
    """

    showing: str
    calls: tuple[CallView, ...]
    reviewable: bool = True
    notices: tuple[str, ...] = ()
    mention: tuple[str, ...] = ()
    operate: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedDraft:
    """What one reviewer has chosen and typed for one call so far; ``revision`` as in ``ids.Place``.

    ``edited`` is arguments as JSON text, ``fields`` what stands in the inputs of single arguments, by their numbers.
    ``kept`` is the source text of an edit's final arguments that wait to be sent with the other calls, of which
    ``kept_masks`` stay hidden.
    """

    decision: str | None = None
    message: str | None = None
    edited: str | None = None
    revision: int = 0
    fields: tuple[tuple[int, str | None], ...] = ()
    kept: str | None = None
    kept_masks: tuple[Mask, ...] = ()


NO_DRAFT: Final = TypedDraft()


@dataclass(frozen=True, slots=True)
class FieldView:
    """One argument to be typed over: its number, its name, how it is typed, and what it holds.

    ``kind``: ``text``, ``number``, ``yes_no``, ``choice``, ``json`` (``value`` is source text), ``hidden`` (kept unless
    something is typed) or ``fixed``. ``choices`` are JSON texts. ``states`` beyond ``set`` offer null and leaving it out.
    """

    index: int
    name: str
    kind: str
    value: str = ""
    choices: tuple[str, ...] = ()
    states: tuple[str, ...] = ("set",)
    state: str = "set"


@dataclass(frozen=True, slots=True)
class ReviewView:
    """One call in a private view: which page is open (from 0) and which pages this person has been shown before.

    ``reveal`` also shows what the policy declares secret; only for people who may.
    """

    call: CallView
    page: int = 0
    seen: frozenset[int] = frozenset()
    draft: TypedDraft = NO_DRAFT
    banner: str | None = None
    reveal: bool = False


@dataclass(frozen=True, slots=True)
class BatchView:
    """All calls of one interrupt in a private view, five to a page (from 0), with the drafts by position.

    ``approved``: positions that wait for others and that its reader has approved, so that no choice is asked for there.
    """

    showing: str
    calls: tuple[CallView, ...]
    page: int = 0
    drafts: tuple[tuple[int, TypedDraft], ...] = ()
    banner: str | None = None
    approved: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message: ``blocks``, the ``text`` for screen readers, and what the showing of it must record.

    ``complete``: tool and arguments stand in full both in the blocks and in the text. ``offered``: the decisions that
    have a button, never Approve on an incomplete card.
    """

    blocks: list[dict[str, Any]]
    text: str
    complete: bool = True
    offered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferView:
    """What a view let its reader decide about one position, and whether the call stood there in full."""

    position: int
    offered: tuple[str, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class RenderedView:
    """A modal: ``view`` for views.open, ``offers`` for its showing, and ``page`` of ``pages`` as really drawn."""

    view: dict[str, Any]
    offers: tuple[OfferView, ...] = ()
    page: int = 0
    pages: int = 1

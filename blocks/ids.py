"""Encoding and decoding, side by side, of every identifier that travels through Slack and comes back.

It exists so that the builders and the listeners cannot drift apart. An identifier names a place or a showing and carries
no content: the module must not know what a showing shows.
"""

import base64
import re
from dataclasses import dataclass
from typing import Final

APPROVE: Final = "decide.approve"
EDIT: Final = "decide.edit"
REJECT: Final = "decide.reject"
RESPOND: Final = "decide.respond"
REVIEW: Final = "review.open"
PAGE_NEXT: Final = "review.page.next"
PAGE_BACK: Final = "review.page.back"
EDIT_BACK: Final = "edit.back"
EDIT_AS_JSON: Final = "edit.json"
EDIT_AS_FIELDS: Final = "edit.fields"
TAKE_BACK: Final = "decision.take_back"
HOME_PAGE: Final = "home.page"
REVEAL: Final = "review.reveal"
RESULT: Final = "result.open"
OPERATE: Final = "operate"

# Elements inside inputs. Only the first sends a payload of its own, when a decision is chosen.
CHOICE: Final = "decision"
MESSAGE: Final = "message"
JSON_TEXT: Final = "json"
FIELD: Final = "value"
FIELD_STATE: Final = "state"
STATE_AT: Final = 5_000  # the number of a field's state is the field's own plus this

CALLBACK_REJECT: Final = "reject"
CALLBACK_RESPOND: Final = "respond"
CALLBACK_EDIT: Final = "edit"
CALLBACK_CONFIRM: Final = "edit.confirm"
CALLBACK_REVIEW: Final = "review"
CALLBACK_REVEALED: Final = "review.revealed"
CALLBACK_BATCH: Final = "batch"
CALLBACK_BATCH_EDIT: Final = "batch.edit"
CALLBACK_KEEP: Final = "batch.keep"
CALLBACK_NOTICE: Final = "notice"
CALLBACK_RESULT: Final = "result"

OPERATIONS: Final = ("repair", "settle", "cancel", "reopen")
CALLBACKS_OPERATE: Final = {name: f"operate.{name}" for name in OPERATIONS}
FOUND: Final = "operate.found"
NOTE: Final = "operate.note"

DECISIONS: Final = ("approve", "edit", "reject", "respond")
ACTIONS: Final = {"approve": APPROVE, "edit": EDIT, "reject": REJECT, "respond": RESPOND}

_SHOWING: Final = re.compile(r"s_[a-z0-9]{26}")
_PLACE: Final = re.compile(
    r"(?P<kind>[demfora])\.(?P<position>\d{1,4})(?:\.(?P<field>\d{1,4}))?(?:\.r(?P<revision>\d{1,6}))?"
)
_USER: Final = re.compile(r"[UW][A-Z0-9]{1,30}")


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Where an input or button stands: its kind, the call's position, and for inputs the draft's revision.

    Kinds: ``d`` the decision's radio buttons, ``m`` a reason or the only answer, ``a`` an answer that was chosen among
    other decisions (Slack keeps what was typed under one id), ``e`` edited JSON, ``f`` one typed field (with ``field``),
    ``r`` a button that opens one call of a batch, ``o`` one that opens the form of its edit. A new revision makes Slack drop what was typed.
    """

    kind: str
    position: int
    revision: int = 0
    field: int | None = None


def encode_place(place: BlockPlace) -> str:
    """The block_id of a place: ``d.0``, ``m.3.r2``, ``f.0.4.r1``."""
    field = "" if place.field is None else f".{place.field}"
    revision = f".r{place.revision}" if place.revision else ""
    return f"{place.kind}.{place.position}{field}{revision}"


def decode_place(block_id: str) -> BlockPlace | None:
    """The place a block_id names, or ``None`` for one that is not ours."""
    match = _PLACE.fullmatch(block_id)
    if match is None or (match["field"] is not None) != (match["kind"] == "f"):
        return None
    field = None if match["field"] is None else int(match["field"])
    return BlockPlace(match["kind"], int(match["position"]), int(match["revision"] or 0), field)


def encode_showing(bits: bytes) -> str:
    """The id of a showing from 128 random bits, which the caller draws: ``s_`` and 26 base32 characters."""
    return "s_" + base64.b32encode(bits).decode("ascii").rstrip("=").lower()


def decode_showing(value: object) -> str | None:
    """A button's ``value`` or a modal's ``private_metadata``, if it is a showing's id at all."""
    return value if isinstance(value, str) and _SHOWING.fullmatch(value) else None


def decode_decision(action_id: str) -> str | None:
    """``decide.approve`` → ``approve``; ``None`` for an action that decides nothing."""
    kind, _, decision = action_id.partition(".")
    return decision if kind == "decide" and decision in DECISIONS else None


def encode_operation(operation: str, showing: str) -> str:
    """The value of a choice in the operators' menu: ``repair:s_…``."""
    return f"{operation}:{showing}"


def decode_operation(value: object) -> tuple[str, str] | None:
    """The operation and the showing that such a value names, or ``None`` for any other."""
    operation, _, showing = value.partition(":") if isinstance(value, str) else ("", "", "")
    return (operation, showing) if operation in OPERATIONS and decode_showing(showing) else None


def is_user(user: str | None) -> bool:
    """Whether this has the form of a Slack person's id, so that it may stand in a mention."""
    return user is not None and _USER.fullmatch(user) is not None


def digest_groups(digest: str) -> str:
    """A shown digest in groups of four, to be read aloud: ``k3vd 8w2m q7xa``."""
    digest = digest.replace(" ", "")
    return " ".join(digest[at : at + 4] for at in range(0, len(digest), 4))

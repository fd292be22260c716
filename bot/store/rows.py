"""How values become columns, and rows records.

Times are whole milliseconds since the epoch. What agents and people wrote may hold anything that a Python string can,
NUL and half characters included, which PostgreSQL's text refuses: such columns are `Literal`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Index, Integer, MetaData, Row, Text, text
from sqlalchemy.types import TypeDecorator, TypeEngine

from bot.core.model import (
    Action,
    Decision,
    DecisionType,
    InterruptShape,
    Offer,
    Outcome,
    PersonId,
    Review,
    ReviewState,
    Showing,
    ShowingKind,
    Target,
)

metadata = MetaData()

# SQLite numbers rows only in a column declared exactly INTEGER.
BigSerial = BigInteger().with_variant(Integer, "sqlite")

# JSON would read these two halves back as one character, so a text that holds such a pair is stored in pieces.
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


class Literal(TypeDecorator[str]):
    """Any Python string, exactly: JSON in ASCII. Equal strings have equal encodings, so `=` and unique indexes work."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        if value is None:
            return None
        pieces = _HALVES.split(value)
        return json.dumps(value if len(pieces) == 1 else pieces)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        if value is None:
            return None
        read = json.loads(value)
        return "".join(read) if isinstance(read, list) else str(read)


def _columns(kind: TypeEngine[Any] | type[TypeEngine[Any]], names: str, *, null: bool) -> list[Column[Any]]:
    return [Column(name, kind, nullable=null) for name in names.split()]


def key(*names: str) -> list[Column[Any]]:
    """Text columns that form the primary key together."""
    return [Column(name, Text, primary_key=True) for name in names]


def texts(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Columns for words of our own and ids of Slack's: never for what an agent or a person wrote."""
    return _columns(Text, names, null=null)


def literals(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Columns for what somebody else wrote."""
    return _columns(Literal, names, null=null)


def times(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Milliseconds since the epoch on the database's clock."""
    return _columns(BigInteger, names, null=null)


def numbers(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Counters and positions."""
    return _columns(Integer, names, null=null)


def flags(names: str) -> list[Column[Any]]:
    """Yes or no."""
    return _columns(Boolean, names, null=False)


def partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of some rows only. A query uses it when it repeats `where` word for word (see `text(where)`)."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


# A decision's columns in the order of its fields.
DECISION = (
    "id",
    "position",
    "type",
    "team",
    "user_id",
    "at",
    "showing_id",
    "digest",
    "final_args",
    "message",
    "rule",
    "policy_version",
)


def join_types(types: Sequence[DecisionType]) -> str:
    """Decision types in one text, in their order."""
    return ",".join(kind.value for kind in types)


def split_types(text: str) -> tuple[DecisionType, ...]:
    """The reverse of `join_types`."""
    return tuple(DecisionType(kind) for kind in text.split(",") if kind)


def join_offers(offers: Sequence[Offer]) -> str:
    """What was offered, as JSON."""
    return json.dumps([[offer.position, join_types(offer.offered), offer.complete] for offer in offers])


def split_offers(text: str) -> tuple[Offer, ...]:
    """The reverse of `join_offers`."""
    return tuple(Offer(position, split_types(types), complete) for position, types, complete in json.loads(text))


def review_row(review: Review) -> dict[str, Any]:
    """A review's own columns, without those that only the store knows."""
    return {
        "id": review.id,
        "tenant": review.tenant,
        "server_url": review.target.url,
        "server_kind": review.target.kind,
        "identity": review.target.identity,
        "assistant": review.target.assistant,
        "route": review.target.route,
        "thread_id": review.thread_id,
        "interrupt_id": review.interrupt_id,
        "content_hash": review.content_hash,
        "shape": review.shape.value,
        "state": review.state.value,
        "why": review.why,
        "salt": review.salt,
        "requester": review.requester,
        "renamed": review.renamed,
        "opened_at": review.opened_at,
        "delivered_at": review.delivered_at,
        "decide_by": review.decide_by,
        "settled_at": review.settled_at,
        "missing_since": review.missing_since,
        "response_schema": review.response_schema,
        "problem": review.problem,
        "surroundings": review.surroundings,
        "started_with": json.dumps(review.started_with) if review.started_with else None,
        "version": review.version,
        "asked_by": review.asked_by,
        "checkpoint_ns": review.checkpoint_ns,
    }


def review_of(row: Row[Any], actions: Sequence[Action]) -> Review:
    """A review from its row and its actions in order of position."""
    return Review(
        id=row.id,
        tenant=row.tenant,
        target=Target(row.server_url, row.server_kind, row.identity, row.assistant, row.route),
        thread_id=row.thread_id,
        interrupt_id=row.interrupt_id,
        content_hash=row.content_hash,
        shape=InterruptShape(row.shape),
        state=ReviewState(row.state),
        why=row.why,
        salt=row.salt,
        requester=row.requester,
        opened_at=row.opened_at,
        delivered_at=row.delivered_at,
        decide_by=row.decide_by,
        settled_at=row.settled_at,
        response_schema=row.response_schema,
        problem=row.problem,
        version=row.version,
        actions=tuple(actions),
        erased_at=row.erased_at,
        renamed=row.renamed,
        asked_by=row.asked_by,
        checkpoint_ns=row.checkpoint_ns,
        surroundings=row.surroundings,
        started_with=tuple((name, value) for name, value in json.loads(row.started_with or "[]")),
        missing_since=row.missing_since,
    )


def action_row(review_id: str, action: Action) -> dict[str, Any]:
    """One action's columns."""
    return {
        "review_id": review_id,
        "position": action.position,
        "tool": action.tool,
        "args": action.args,
        "args_object": action.args_object,
        "description": action.description,
        "allowed": join_types(action.allowed),
        "digest": action.digest,
        "problem": action.problem,
        "tool_call_id": action.tool_call_id,
        "outcome": action.outcome and action.outcome.value,
        "outcome_text": action.outcome_text,
        "void_why": action.void_why,
    }


def action_of(row: Row[Any], decision: Decision | None) -> Action:
    """An action from its row and its active decision."""
    return Action(
        position=row.position,
        tool=row.tool,
        args=row.args,
        args_object=row.args_object,
        description=row.description,
        allowed=split_types(row.allowed),
        digest=row.digest,
        problem=row.problem,
        tool_call_id=row.tool_call_id,
        decision=decision,
        outcome=Outcome(row.outcome) if row.outcome else None,
        outcome_text=row.outcome_text,
        void_why=row.void_why,
    )


def decision_row(review_id: str, decision: Decision) -> dict[str, Any]:
    """One decision's columns."""
    return {
        "id": decision.id,
        "review_id": review_id,
        "position": decision.position,
        "type": decision.type.value,
        "team": decision.by.team,
        "user_id": decision.by.user,
        "at": decision.at,
        "showing_id": decision.showing_id,
        "digest": decision.digest,
        "final_args": decision.final_args,
        "message": decision.message,
        "rule": decision.rule,
        "policy_version": decision.policy_version,
    }


def decision_of(values: Sequence[Any]) -> Decision:
    """A decision, active or voided, from the values of `DECISION`'s columns."""
    made_id, position, kind, team, user, at, *rest = values
    return Decision(made_id, position, DecisionType(kind), PersonId(team, user), at, *rest)


def showing_row(showing: Showing) -> dict[str, Any]:
    """One showing's columns, without `at` and `number`."""
    return {
        "id": showing.id,
        "review_id": showing.review_id,
        "position": showing.position,
        "kind": showing.kind.value,
        "digest": showing.digest,
        "offers": join_offers(showing.offers),
        "page": showing.page,
        "team": showing.to and showing.to.team,
        "user_id": showing.to and showing.to.user,
        "message_id": showing.message_id,
        "final_args": showing.final_args,
    }


def showing_of(row: Row[Any]) -> Showing:
    """A showing from its row."""
    return Showing(
        id=row.id,
        review_id=row.review_id,
        position=row.position,
        kind=ShowingKind(row.kind),
        digest=row.digest,
        offers=split_offers(row.offers),
        page=row.page,
        to=None if row.user_id is None else PersonId(row.team, row.user_id),
        message_id=row.message_id,
        final_args=row.final_args,
        at=row.at,
    )

"""Stored things with defaults, so that a test names only what it is about."""

from collections.abc import Sequence
from typing import Any

from bot.core.digest import CallAddress, call_digest
from bot.core.model import (
    Action,
    Decision,
    DecisionType,
    InterruptShape,
    Offer,
    PersonId,
    Review,
    ReviewState,
    Showing,
    ShowingKind,
    Target,
)
from bot.store.decisions import insert_decisions
from bot.store.dispatches import Claim, claim_next
from bot.store.engine import Store, Tx, new_id
from bot.store.reviews import insert_review, load_review

ADA = PersonId("T0ACME", "U0ADA")
BOB = PersonId("T0ACME", "U0BOB")
URL = "http://127.0.0.1:2026"
BOTH = (DecisionType.APPROVE, DecisionType.REJECT)


def make_action(place: CallAddress, position: int = 0, **changes: Any) -> Action:
    args = f'{{"user":"u{position}","amount":12.70}}'
    made = {
        "position": position,
        "tool": "disable_user",
        "args": args,
        "args_object": True,
        "description": "Disable\x00 a user \ud83d",
        "allowed": BOTH,
        "digest": call_digest(place, position, "disable_user", args, ["approve", "reject"]),
    }
    return Action(**(made | changes))


def make_review(*, actions: int = 1, tenant: str = "acme", thread: str | None = None, **changes: Any) -> Review:
    review_id = new_id("r")
    place = CallAddress(b"s" * 16, URL, thread or review_id, f"i-{review_id}")
    made = {
        "id": review_id,
        "tenant": tenant,
        "target": Target(URL, "aegra", "approvals", "agent"),
        "thread_id": place.thread_id,
        "interrupt_id": place.interrupt_id,
        "content_hash": "c" * 64,
        "shape": InterruptShape.BATCHED,
        "state": ReviewState.OPEN,
        "why": "",
        "salt": place.salt,
        "requester": "U0REQ",
        "opened_at": 1,
        "delivered_at": None,
        "decide_by": None,
        "settled_at": None,
        "response_schema": None,
        "problem": "",
        "version": 1,
        "actions": tuple(make_action(place, position) for position in range(actions)),
    }
    return Review(**(made | changes))


def make_decision(review: Review, position: int = 0, *, by: PersonId = ADA, **changes: Any) -> Decision:
    made = {
        "id": new_id("dec"),
        "position": position,
        "type": DecisionType.APPROVE,
        "by": by,
        "at": 5,
        "showing_id": "s_shown",
        "digest": review.actions[position].digest,
        "rule": "user U0ADA",
        "policy_version": 1,
    }
    return Decision(**(made | changes))


def make_showing(review: Review, position: int | None = 0, **changes: Any) -> Showing:
    made = {
        "id": new_id("s"),
        "review_id": review.id,
        "position": position,
        "kind": ShowingKind.CARD,
        "digest": review.actions[position or 0].digest,
        "offers": (Offer(0, BOTH, complete=True),),
    }
    return Showing(**(made | changes))


async def given_review(store: Store, **changes: Any) -> Review:
    """A stored open review."""
    review = make_review(**changes)
    async with store.begin() as tx:
        assert await insert_review(tx, review, policy_version=1)
    return review


async def decide_all(tx: Tx, review: Review, *, by: PersonId = ADA) -> Review:
    made = [make_decision(review, action.position, by=by) for action in review.actions]
    decided = await insert_decisions(tx, review, made, delivery_key="key")
    assert decided is not None
    return decided


async def given_decided(store: Store, **changes: Any) -> Review:
    """A stored review whose every position is approved."""
    review = await given_review(store, **changes)
    async with store.begin() as tx:
        return await decide_all(tx, review)


async def given_claim(store: Store, *, owner: str = "w1", lease_ms: int = 30_000, **changes: Any) -> Claim:
    """A claim on a decided review of its own thread."""
    await given_decided(store, **changes)
    async with store.begin() as tx:
        claim = await claim_next(tx, owner=owner, lease_ms=lease_ms)
    assert claim is not None
    return claim


async def loaded(store: Store, review_id: str) -> Review:
    async with store.read() as tx:
        review = await load_review(tx, review_id)
    assert review is not None
    return review


async def kinds(store: Store, review_id: str) -> Sequence[str]:
    """The kinds of a review's audit events, in order."""
    from bot.store.audit.events import events_of

    async with store.read() as tx:
        return [event.kind for event in await events_of(tx, review_id)]

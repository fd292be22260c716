"""A review as it was sent: after its time was up, that is a rejection of everything."""

from __future__ import annotations

from bot.core.decision import UnsendableAnswer, rejections
from bot.core.model import Review
from bot.store.claims import Claim


def as_sent(review: Review, claim: Claim) -> Review:
    """The review with the answer that left us, whoever decided it."""
    if not claim.expiry:
        return review
    try:
        return rejections(review)
    except UnsendableAnswer:
        return review

"""What is said when somebody must look whether a call ran, and how often.

It exists so that the thread of the card and the operators hear the same. It must not know how an alarm came about. Texts
are mrkdwn of ours; run ids are the agent server's, so they are quoted.
"""

import re
from collections.abc import Sequence
from typing import Final

from blocks import words
from blocks.limits import PEOPLE
from blocks.words_operators import RACED, RACED_BY, RAISED, TO_OPERATOR, TWICE, TWICE_MARKED, UNKNOWN, UNREADABLE

_CHANNEL: Final = re.compile(r"[CGD][A-Z0-9]{1,30}")
_RUN: Final = 60


def alarm_text(kind: str, *, review: str, runs: Sequence[str] = ()) -> str:
    """The alarm as it stands in the thread of the card."""
    if kind == "unknown":
        return UNKNOWN.format(review=review)
    if kind == "raised":
        return RAISED.format(review=review)
    named = ", ".join(words.quoted(run, _RUN) for run in runs[:PEOPLE])
    if kind == "raced":
        return RACED.format(runs=named)
    return TWICE.format(review=review, cause=RACED_BY.format(runs=named) if named else TWICE_MARKED)


def operator_text(alarm: str, *, review: str, tenant: str, channel: str) -> str:
    """The same for an operator, who does not stand in front of the card."""
    place = f" in <#{channel}>" if _CHANNEL.fullmatch(channel) else ""
    return TO_OPERATOR.format(tenant=words.named(tenant), place=place, review=review, alarm=alarm)


def unreadable_text(*, tenant: str, thread: str, identity: str, fault: str) -> str:
    """What operators hear of a thread that cannot be read."""
    where = {"thread": words.quoted(thread, _RUN), "identity": words.quoted(identity, _RUN)}
    return UNREADABLE.format(tenant=words.named(tenant), fault=words.quoted(fault), **where)

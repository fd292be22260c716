"""What one person is told in private, short replies in a thread, and alarms.

What is said when somebody must look whether a call ran, and how often. It exists so that the thread of the card and
the operators hear the same. Texts are mrkdwn of ours; run ids are the agent server's, so they are quoted.

It exists so that every refusal is one plain sentence that says what to do next. ``refusal_text`` is mrkdwn for
ephemeral messages; ``refusal_plain`` is plain text for modals and field errors.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from blocks import elements, limits, words
from blocks.ids import is_user
from blocks.limits import PEOPLE
from blocks.models import Rendered
from blocks.reasons import REFUSALS
from blocks.text import cut_marked, cut_plain, escape_mrkdwn, on_one_line

_CHANNEL: Final = re.compile(r"[CGD][A-Z0-9]{1,30}")
_RUN: Final = 60


def alarm_text(kind: str, *, review: str, runs: Sequence[str] = ()) -> str:
    """The alarm as it stands in the thread of the card."""
    if kind == "unknown":
        return words.UNKNOWN.format(review=review)
    if kind == "raised":
        return words.RAISED.format(review=review)
    named = ", ".join(words.quoted(run, _RUN) for run in runs[:PEOPLE])
    if kind == "raced":
        return words.RACED.format(runs=named)
    return words.TWICE.format(review=review, cause=words.RACED_BY.format(runs=named) if named else words.TWICE_MARKED)


def operator_text(alarm: str, *, review: str, tenant: str, channel: str) -> str:
    """The same for an operator, who does not stand in front of the card."""
    place = f" in <#{channel}>" if _CHANNEL.fullmatch(channel) else ""
    return words.TO_OPERATOR.format(tenant=words.named(tenant), place=place, review=review, alarm=alarm)


def unreadable_text(*, tenant: str, thread: str, identity: str, fault: str) -> str:
    """What operators hear of a thread that cannot be read."""
    where = {"thread": words.quoted(thread, _RUN), "identity": words.quoted(identity, _RUN)}
    return words.UNREADABLE.format(tenant=words.named(tenant), fault=words.quoted(fault), **where)


def refusal_text(reason: str, **facts: object) -> str:
    """The sentence for a refusal, as mrkdwn. An unknown reason gets the sentence for a fault of ours.

    Facts are optional: ``by`` (a person's id), ``at`` (epoch seconds), ``problem`` (text that may be hostile),
    ``type`` (the decision refused), ``elsewhere`` (what was pressed is not of this deployment), and
    ``position`` (from 0), which names the call of a batch.
    """
    return _sentence(reason, facts, _MARKED)


def refusal_plain(reason: str, **facts: object) -> str:
    """As ``refusal_text``, without mentions or dates that plain text cannot draw."""
    return _sentence(reason, facts, _PLAIN)


def private_notice(text: str) -> Rendered:
    """An ephemeral message of one mrkdwn text of ours."""
    text = cut_marked(text, limits.NOTICE_MODAL)
    return Rendered([elements.section(text)], text)


def _sentence(reason: str, facts: Mapping[str, object], draw: Mapping[str, Callable[[object], str]]) -> str:
    told = {name: draw[name](facts[name]) if facts.get(name) is not None else "" for name in draw}
    text = REFUSALS.get(reason, REFUSALS["internal"]).format(**told)
    return f"{told['position']}{text}"


def _by(user: object) -> str:
    return f" {words.BY} <@{user}>" if isinstance(user, str) and is_user(user) else ""


def _at(at: object) -> str:
    return f" ({words.moment(at)})" if isinstance(at, int) else ""


def _at_plain(at: object) -> str:
    return f" ({words.utc(at)})" if isinstance(at, int) else ""


def _problem(text: object) -> str:
    return f": {escape_mrkdwn(_problem_plain(text)[2:])}"


def _problem_plain(text: object) -> str:
    return f": {cut_plain(on_one_line(str(text)).rstrip('.'), limits.NOTICE)}"


def _position(position: object) -> str:
    return f"{words.CALL_NUMBER.format(number=position + 1)}: " if isinstance(position, int) else ""


def _type(decision: object) -> str:
    return f" ({words.BUTTONS[decision]})" if isinstance(decision, str) and decision in words.BUTTONS else ""


def _elsewhere(_: object) -> str:
    return words.ELSEWHERE


def _nobody(_: object) -> str:
    return ""


_MARKED: Final = {
    "by": _by,
    "at": _at,
    "problem": _problem,
    "position": _position,
    "type": _type,
    "elsewhere": _elsewhere,
}
_PLAIN: Final = {
    "by": _nobody,
    "at": _at_plain,
    "problem": _problem_plain,
    "position": _position,
    "type": _type,
    "elsewhere": _elsewhere,
}

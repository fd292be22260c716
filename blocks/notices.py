"""What one person is told in private, and short replies in a thread.

It exists so that every refusal is one plain sentence that says what to do next. It must not know why a refusal came
about. ``refusal_text`` is mrkdwn for ephemeral messages; ``refusal_plain`` is plain text for modals and field errors.
"""

from collections.abc import Callable, Mapping
from typing import Final

from blocks import kit, limits, words
from blocks.ids import is_user
from blocks.models import Rendered
from blocks.refusals import REFUSALS
from blocks.text import cut_marked, cut_plain, escape_mrkdwn, on_one_line


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
    return Rendered([kit.section(text)], text)


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

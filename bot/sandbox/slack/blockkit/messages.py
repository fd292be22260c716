"""What Slack refuses in a message: its blocks, the total of their text, its own text."""

from bot.sandbox.slack.blockkit import limits
from bot.sandbox.slack.blockkit.blocks import blocks as blocks_check
from bot.sandbox.slack.blockkit.problem import Problem
from bot.sandbox.slack.blockkit.weight import mrkdwn_weight, total_weight
from bot.sandbox.slack.records import Json

_BLOCKS = blocks_check(limits.MESSAGE_BLOCKS)


def problems_in_blocks(blocks: object) -> list[Problem]:
    """Return what is wrong with a message's blocks, their total length left aside."""
    if not isinstance(blocks, list):
        return [Problem("invalid_blocks_format", "/blocks", "must provide an array")]
    return [Problem("invalid_blocks", at, says) for at, says in _BLOCKS(blocks, "/blocks")]


def problems_in_message(blocks: list[Json], text: str, *, update: bool = False) -> list[Problem]:
    """Return what chat.postMessage, or with `update` chat.update, would refuse; the first problem's error is the answer's.

    An over-long `text` of a new message is no problem: Slack cuts it at 40,000.
    """
    problems = problems_in_blocks(blocks)
    if not problems and total_weight(blocks) > limits.MESSAGE_TOTAL_TEXT:
        problems.append(Problem("msg_blocks_too_long", "/blocks", _too_long(limits.MESSAGE_TOTAL_TEXT)))
    if update and mrkdwn_weight(text) > limits.UPDATE_TEXT:
        problems.append(Problem("msg_too_long", "/text", _too_long(limits.UPDATE_TEXT)))
    if not blocks and not text:
        problems.append(Problem("no_text", None, "a message has text or blocks"))
    return problems


def _too_long(most: int) -> str:
    return f"must be less than {most + 1} characters"

"""What stands on a message where Slack refused it as it was: outcome, person, tool, and nothing of any length.

It exists because nobody knows how Slack counts, and a card that kept its old buttons would be worse than a plain one. It
draws no buttons: those of the full message are kept by whoever shortens it, and say which of the notes is true.
"""

from blocks import call as said
from blocks import ids, kit, limits, rows, words
from blocks.kit import Json
from blocks.models import CallView, RootView
from blocks.roots import root_head


def short_call(call: CallView, *, reviewable: bool) -> list[Json]:
    """A call's heading, tool, state with its decision, and people; ``reviewable``: there is a button to see the rest."""
    tool, _ = rows.tool_line(call.tool, limits.TOOL)
    return [
        kit.header(said.heading(call)),
        kit.rich([kit.lines(tool)]),
        *kit.context([*said.state_lines(call), *said.people_lines(call, rings=False), _note(reviewable=reviewable)]),
    ]


def short_root(root: RootView, *, reviewable: bool) -> list[Json]:
    """The heading and progress of a batch, and its first calls by state, person and tool."""
    title, progress = root_head(root)
    items = [kit.lines(_item(call)) for call in root.calls[: limits.SHORT_CALLS]]
    listed = {"type": "rich_text_list", "style": "ordered", "indent": 0, "elements": items}
    more = len(root.calls) - limits.SHORT_CALLS
    left = [words.AND_MORE.format(count=words.count(more))] if more > 0 else []
    note = _note(reviewable=reviewable)
    shown = [kit.rich([listed])] if items else [kit.rich([kit.lines([kit.words(words.NO_CALLS, italic=True)])])]
    return [kit.header(title), *shown, *kit.context([*left, progress, note])]


def _item(call: CallView) -> list[Json]:
    by = call.decided.user if call.decided else None
    person = [kit.words(f" {words.BY} "), kit.person(by)] if by is not None and ids.is_user(by) else []
    return [kit.words(words.STATE_WORDS[call.state], italic=True), *person, kit.words("  "), *rows.tool_name(call.tool)]


def _note(*, reviewable: bool) -> str:
    return words.NOT_DRAWN if reviewable else words.NOT_DRAWN_SETTLED

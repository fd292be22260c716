"""The message above the calls of one interrupt: what waits together, how far it is, and the way to decide it at once.

It exists because the agent goes on only when all calls of an interrupt are decided. It decides nothing itself and must
not offer Approve.
"""

from typing import Final

from blocks import call as said
from blocks import elements, fallback, ids, limits, rows, words
from blocks.elements import Json
from blocks.modals import operator_menu
from blocks.models import CallState, CallView, Rendered, RootView
from blocks.text import cut_plain, on_one_line

_UNDECIDED: Final = (CallState.WAITING, CallState.READ_ONLY, CallState.HELD)


def root_card(root: RootView) -> Rendered:
    """All calls of an interrupt in request order, each with its state; the first of them where there are many."""
    title, progress = root_head(root)
    notices = [words.quoted(line) for line in root.notices[: limits.NOTICES]]
    started = rows.started(root.calls[0]) if root.calls else []
    blocks = [elements.header(title), _list(root), *elements.context(_more(root)), *started]
    asking = said.mention_lines(root.mention) if root.reviewable else []
    blocks += elements.context([*_people(root, progress), *notices, *asking])
    blocks += elements.actions(_button(root), "act") + operator_menu(root.operate, root.showing)
    return Rendered(blocks, fallback.root_text(root, title, progress))


def root_head(root: RootView) -> tuple[str, str]:
    """The title and how many of the calls are decided."""
    total = len(root.calls)
    done = sum(call.state not in _UNDECIDED for call in root.calls)
    title = (words.TOGETHER if done < total else words.TOGETHER_DONE).format(count=words.count(total))
    return title, (words.PROGRESS if done < total else words.PROGRESS_ALL).format(done=done, total=total)


def _list(root: RootView) -> Json:
    if not root.calls:
        return elements.rich([elements.lines([elements.words(words.NO_CALLS, italic=True)])])
    items = [elements.lines(_item(call)) for call in root.calls[: limits.ROOT_CALLS]]
    return elements.rich([{"type": "rich_text_list", "style": "ordered", "indent": 0, "elements": items}])


def _item(call: CallView) -> list[Json]:
    item = [elements.words(words.STATE_WORDS[call.state], italic=True)]
    if call.decided is not None and call.decided.user is not None and ids.is_user(call.decided.user):
        item += [elements.words(f" {words.BY} "), elements.person(call.decided.user)]
    named = call.title if not said.is_question(call) else None
    if named or call.risk == "high":
        title = cut_plain(on_one_line(named or ""), limits.ROOT_PREVIEW)
        item.append(elements.words("  " + (words.HIGH_RISK.format(title=title) if call.risk == "high" else title)))
    return [*item, elements.words("  "), *rows.tool_name(call.tool), *said.preview(call)]


def _more(root: RootView) -> list[str]:
    more = len(root.calls) - limits.ROOT_CALLS
    if more <= 0:
        return []
    template = words.MORE_CALLS if root.reviewable else words.MORE_CALLS_SETTLED
    return [template.format(count=words.count(more))]


def _people(root: RootView, progress: str) -> list[str]:
    if not root.calls:
        return [progress]
    first, *rest = said.people_lines(root.calls[0], with_digest=False)
    return [first, progress, *rest]


def _button(root: RootView) -> list[Json]:
    more = {"style": "primary", "accessibility_label": words.REVIEW_ALL}
    return [elements.button(words.REVIEW_ALL, ids.REVIEW, root.showing, **more)] if root.reviewable else []

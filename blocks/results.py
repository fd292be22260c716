"""The private view of what a tool answered, page by page.

It exists because a result may hold more than a channel should see, and more than one view holds. It must not decide who
may open it: that was checked.
"""

from blocks import ids, kit, limits, reasons, rows, words
from blocks.args import Arguments, Row, Shape, name_text
from blocks.fitting import Pages, deal
from blocks.kit import Json
from blocks.modals import banner_blocks, notice_modal
from blocks.models import CallState, CallView, RenderedView
from blocks.text import literal


def result_modal(
    call: CallView, text: str, *, length: int = 0, page: int = 0, banner: str | None = None
) -> RenderedView:
    """One page (from 0) of a result, literally. ``length``: of all of it, where ``text`` may be only its beginning."""
    dealt = _dealt(text)
    page = min(max(page, 0), len(dealt.pages) - 1)
    tool, _ = rows.tool_line(call.tool, limits.TOOL)
    label = words.ERROR if call.state is CallState.FAILED else words.RESULT
    start = [*tool, kit.words("\n"), kit.words(label, bold=True)]
    shown = kit.rich(rows.row_elements(dealt.pages[page], start=start))
    blocks = [*banner_blocks(banner), shown, *kit.context(_page_line(dealt, page, max(length, len(text))))]
    view = kit.modal(
        words.TITLE_RESULT,
        blocks + _turns(call, page, len(dealt.pages)),
        callback_id=ids.CALLBACK_RESULT,
        showing=call.showing,
        close=words.CLOSE,
    )
    return RenderedView(view, page=page, pages=len(dealt.pages))


def reading_modal() -> RenderedView:
    """What stands there until the agent server has answered."""
    return notice_modal(words.TITLE_RESULT, reasons.RESULT_READING)


def _dealt(text: str) -> Pages:
    """A page's end may lie inside a line; different texts never look alike."""
    more = len(text) > limits.READ_PAGES
    shown = literal(text[: limits.READ_PAGES + 1]).strip("\n") or name_text(text[: limits.READ_PAGES])
    return deal(Arguments(Shape.VALUE, (Row("", shown, block=True, more=more),), known=not more))


def _page_line(dealt: Pages, page: int, total: int) -> list[str]:
    places = {"page": page + 1, "pages": len(dealt.pages)}
    if not dealt.complete:
        shown = min(total, sum(len(row.text) for rows_ in dealt.pages for row in rows_))
        return [reasons.RESULT_LONG.format(**places, shown=words.count(shown), total=words.count(total))]
    return [words.PAGE_OF.format(**places)] if len(dealt.pages) > 1 else []


def _turns(call: CallView, page: int, pages: int) -> list[Json]:
    buttons = [kit.button(words.LAST_PAGE, ids.PAGE_BACK, call.showing)] if page else []
    buttons += [kit.button(words.NEXT_PAGE, ids.PAGE_NEXT, call.showing)] if page < pages - 1 else []
    return kit.actions(buttons, "pages")

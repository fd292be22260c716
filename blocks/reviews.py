"""The private view of one call in full, page by page, with the decision on the last page.

It exists because nobody may approve what was not fully shown: Approve is offered on the last page, once this reader has
been shown every other. It must not keep count itself: which pages were seen comes with the view-model, and the
listener records the page that ``RenderedView`` says was drawn.
"""

from dataclasses import dataclass

from blocks import call as said
from blocks import diffs, forms, ids, kit, limits, reasons, rows, words
from blocks.args import Arguments, Shape, parse, read_arguments
from blocks.fitting import Pages, deal
from blocks.kit import Json
from blocks.modals import banner_blocks
from blocks.models import CallState, CallView, Offer, RenderedView, ReviewView


@dataclass(frozen=True, slots=True)
class _Book:
    """The pages of a call and where its reader stands."""

    arguments: Arguments
    edit: diffs.Drawn
    dealt: Pages
    after: int  # how many of the pages hold what runs; those behind hold what stood there before an edit
    page: int
    unseen: int
    tool: list[Json]
    tool_whole: bool

    @property
    def is_short_enough(self) -> bool:
        return self.dealt.complete and self.tool_whole

    @property
    def is_at_end(self) -> bool:
        return self.page == len(self.dealt.pages) - 1

    @property
    def is_complete(self) -> bool:
        """Whether the reader has been shown everything and has come to its end."""
        return self.is_short_enough and not self.unseen and self.is_at_end


def review_modal(review: ReviewView) -> RenderedView:
    """One page of a call. Values only suspected to be secret are shown: this view is what people are sent to for them."""
    call = said.in_private(review.call, reveal=review.reveal)
    book = _open_at(call, review)
    offered = said.offers(call, book.arguments, complete=book.is_complete) if call.state is CallState.WAITING else ()
    blocks = [*banner_blocks(review.banner), *_revealed(review), *_page(call, book), *_turns(call, book)]
    blocks += kit.context(said.state_lines(call) + said.people_lines(call) + said.notice_lines(call))
    note = kit.context([reasons.EDIT_NEXT])
    blocks += kit.context(said.confirm_lines(call, book.arguments, offered))
    blocks += forms.decision_inputs(call, review.draft, offered, edit=note) if offered else []
    edits = review.draft.decision == "edit" and "edit" in offered
    submit = {"submit": words.SUBMIT_TO_EDIT if edits else words.SUBMIT_REVIEW} if offered else {}
    callback_id = ids.CALLBACK_REVEALED if review.reveal else ids.CALLBACK_REVIEW
    view = kit.modal(
        words.TITLE_REVIEW, blocks, callback_id=callback_id, showing=call.showing, close=words.CLOSE, **submit
    )
    offer = Offer(call.position, offered, complete=book.is_complete)
    return RenderedView(view, (offer,), book.page, len(book.dealt.pages))


def page_contents(call: CallView, *, reveal: bool = False) -> tuple[str, ...]:
    """What stands on each page of the private view: pages of equal content show a reader the same."""
    call = said.in_private(call, reveal=reveal)
    dealt, after = _dealt(call, read_arguments(parse(said.final_arguments(call), call.masks)), said.draw_edit(call))
    return tuple(repr((at < after, page)) for at, page in enumerate(dealt.pages))


def _dealt(call: CallView, arguments: Arguments, edit: diffs.Drawn) -> tuple[Pages, int]:
    """The pages of what runs, then, where the edit does not fit above them, of all that it changed."""
    dealt = deal(arguments)
    if edit.is_whole:
        return dealt, len(dealt.pages)
    old = tuple(change.old for change in diffs.changed_only(said.changes(call)) if change.old is not None)
    before = deal(Arguments(Shape.OBJECT, old))
    return Pages(dealt.pages + before.pages, dealt.complete and before.complete), len(dealt.pages)


def _open_at(call: CallView, review: ReviewView) -> _Book:
    arguments = read_arguments(parse(said.final_arguments(call), call.masks))
    edit = said.draw_edit(call)
    dealt, after = _dealt(call, arguments, edit)
    page = min(max(review.page, 0), len(dealt.pages) - 1)
    unseen = len(set(range(len(dealt.pages))) - review.seen - {page})
    tool, whole = rows.tool_line(call.tool, limits.TOOL_IN_FULL)
    return _Book(arguments, edit, dealt, after, page, unseen, tool, whole)


def _page(call: CallView, book: _Book) -> list[Json]:
    note = rows.shape_note(book.arguments)
    if book.page >= book.after:
        note = [kit.words(words.BEFORE_EDIT, bold=True)]
    start = book.tool + ([kit.words("\n"), *note] if note else [])
    told = said.told(call) if book.page == 0 else None
    edit = book.edit.elements if book.page == 0 else []
    return [
        kit.rich([*rows.row_elements(book.dealt.pages[book.page], start=start), *edit]),
        *rows.started(call),
        *([rows.quote(words.SAID, told, limits.DESCRIPTION)] if told else []),
        *kit.context([*said.warnings(call, book.arguments), *_edit_line(book), *_page_line(book)]),
    ]


def _edit_line(book: _Book) -> list[str]:
    if book.page or book.edit.is_whole:
        return []
    return [words.CHANGES_BELOW.format(shown=book.edit.shown, total=book.edit.total)]


def _page_line(book: _Book) -> list[str]:
    places = {"page": book.page + 1, "pages": len(book.dealt.pages)}
    if not book.is_short_enough:
        return [words.TOO_MANY_PAGES.format(**places)]
    if len(book.dealt.pages) == 1:
        return []
    if book.unseen and book.is_at_end:
        missing = words.several(book.unseen, "page was", "pages were")
        return [words.PAGES_LEFT.format(missing=missing, **places)]
    return [(words.PAGE_OF if book.is_complete else words.READ_FIRST).format(**places)]


def _revealed(review: ReviewView) -> list[Json]:
    return kit.context([words.REVEALED]) if review.reveal else []


def _turns(call: CallView, book: _Book) -> list[Json]:
    buttons = [kit.button(words.LAST_PAGE, ids.PAGE_BACK, call.showing)] if book.page else []
    if not book.is_at_end:
        buttons.append(kit.button(words.NEXT_PAGE, ids.PAGE_NEXT, call.showing))
    if call.revealable and call.masks:
        buttons.append(kit.button(words.REVEAL, ids.REVEAL, call.showing))
    return kit.actions(buttons, "pages")

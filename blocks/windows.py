"""The private views of one call in full, and of all calls of an interrupt.

The private view of one call in full, page by page, with the decision on the last page. It exists because nobody may
approve what was not fully shown: Approve is offered on the last page, once this reader has been shown every other.

The private view of all calls of an interrupt: one decision for each, in request order, five calls to a page. It
exists because the agent goes on only when every call is decided. Submit turns the page until the last one sends. A
call that does not fit is cut, says so, and has no Approve here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from blocks import call as said
from blocks import diffs, elements, forms, ids, limits, reasons, rows, words
from blocks.args import Arguments, ArgumentsShape, parse, read_arguments, skimmed
from blocks.elements import Json
from blocks.fitting import Pages, deal, fit
from blocks.modals import banner_blocks
from blocks.models import NO_DRAFT, BatchView, CallState, CallView, OfferView, RenderedView, ReviewView, TypedDraft


@dataclass(frozen=True, slots=True)
class _Book:
    """The pages of a call and where its reader stands."""

    arguments: Arguments
    edit: diffs.DiffRows
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
    blocks += elements.context(said.state_lines(call) + said.people_lines(call) + said.notice_lines(call))
    note = elements.context([reasons.EDIT_NEXT])
    blocks += elements.context(said.confirm_lines(call, book.arguments, offered))
    blocks += forms.decision_inputs(call, review.draft, offered, edit=note) if offered else []
    edits = review.draft.decision == "edit" and "edit" in offered
    submit = {"submit": words.SUBMIT_TO_EDIT if edits else words.SUBMIT_REVIEW} if offered else {}
    callback_id = ids.CALLBACK_REVEALED if review.reveal else ids.CALLBACK_REVIEW
    view = elements.modal(
        words.TITLE_REVIEW, blocks, callback_id=callback_id, showing=call.showing, close=words.CLOSE, **submit
    )
    offer = OfferView(call.position, offered, complete=book.is_complete)
    return RenderedView(view, (offer,), book.page, len(book.dealt.pages))


def page_contents(call: CallView, *, reveal: bool = False) -> tuple[str, ...]:
    """What stands on each page of the private view: pages of equal content show a reader the same."""
    call = said.in_private(call, reveal=reveal)
    dealt, after = _dealt(call, read_arguments(parse(said.final_arguments(call), call.masks)), said.draw_edit(call))
    return tuple(repr((at < after, page)) for at, page in enumerate(dealt.pages))


def _dealt(call: CallView, arguments: Arguments, edit: diffs.DiffRows) -> tuple[Pages, int]:
    """The pages of what runs, then, where the edit does not fit above them, of all that it changed."""
    dealt = deal(arguments)
    if edit.is_whole:
        return dealt, len(dealt.pages)
    old = tuple(change.old for change in diffs.changed_only(said.changes(call)) if change.old is not None)
    before = deal(Arguments(ArgumentsShape.OBJECT, old))
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
        note = [elements.words(words.BEFORE_EDIT, bold=True)]
    start = book.tool + ([elements.words("\n"), *note] if note else [])
    told = said.told(call) if book.page == 0 else None
    edit = book.edit.elements if book.page == 0 else []
    return [
        elements.rich([*rows.row_elements(book.dealt.pages[book.page], start=start), *edit]),
        *rows.started(call),
        *([rows.quote(words.SAID, told, limits.DESCRIPTION)] if told else []),
        *elements.context([*said.warnings(call, book.arguments), *_edit_line(book), *_page_line(book)]),
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
    return elements.context([words.REVEALED]) if review.reveal else []


def _turns(call: CallView, book: _Book) -> list[Json]:
    buttons = [elements.button(words.LAST_PAGE, ids.PAGE_BACK, call.showing)] if book.page else []
    if not book.is_at_end:
        buttons.append(elements.button(words.NEXT_PAGE, ids.PAGE_NEXT, call.showing))
    if call.revealable and call.masks:
        buttons.append(elements.button(words.REVEAL, ids.REVEAL, call.showing))
    return elements.actions(buttons, "pages")


_Part = tuple[list[Json], OfferView | None]


def batch_modal(batch: BatchView) -> RenderedView:
    """One page of a batch; ``offers`` has one entry for each undecided call on this page."""
    total = max(1, -(-len(batch.calls) // limits.BATCH_CALLS))
    page = min(max(batch.page, 0), total - 1)
    calls = batch.calls[page * limits.BATCH_CALLS : (page + 1) * limits.BATCH_CALLS]
    drafts = dict(batch.drafts)
    parts = [
        _call(said.in_private(call), drafts.get(call.position, NO_DRAFT), approved=call.position in batch.approved)
        for call in calls
    ]
    top = (
        banner_blocks(batch.banner)
        + (rows.started(batch.calls[0]) if batch.calls else [])
        + elements.context([*_page_lines(page, total), *_part_lines(batch)])
    )
    blocks = [*top, *_joined([part for part, _ in parts]), *_back(batch, page)]
    title = words.TITLE_BATCH.format(calls=words.several(len(batch.calls), "call", "calls"))
    buttons = {"close": words.LATER} | _submit(batch, last=page == total - 1)
    view = elements.modal(title, blocks, callback_id=ids.CALLBACK_BATCH, showing=batch.showing, **buttons)
    return RenderedView(view, tuple(offer for _, offer in parts if offer is not None), page, total)


def page_of(position: int) -> int:
    """The page of a batch on which a position stands."""
    return position // limits.BATCH_CALLS


def _call(call: CallView, draft: TypedDraft, *, approved: bool) -> _Part:
    shown, complete = _what(call)
    if call.state is not CallState.WAITING:
        risk = [words.RISK] if call.risk == "high" else []
        return [*shown, *elements.context(risk + said.state_lines(call))], None
    arguments = skimmed(said.final_arguments(call), call.masks)
    offered = said.offers(call, arguments, complete=complete)
    edit = _edit(call, draft) if "edit" in offered else []
    inputs = elements.context([words.APPROVED_BEFORE] if approved else [] if offered else [words.NOTHING_OFFERED])
    if offered:
        inputs = [*inputs, *forms.decision_inputs(call, draft, offered, edit=edit, optional=approved)]
    shown = [*shown, *elements.context(said.confirm_lines(call, arguments, offered))]
    more = [] if complete else [_open(call)]
    blocks = [*shown, *elements.actions(more, ids.encode_place(ids.BlockPlace("r", call.position))), *inputs]
    return blocks, OfferView(call.position, offered, complete=complete)


def _what(call: CallView) -> tuple[list[Json], bool]:
    arguments = skimmed(said.final_arguments(call), call.masks)
    fitted = fit(arguments, limits.BATCH_ARGUMENTS)
    edit = said.draw_edit(call)
    tool, whole = rows.tool_line(call.tool, limits.TOOL)
    number = words.CALL_OF.format(number=call.position + 1, total=call.total)
    note = rows.shape_note(arguments)
    start = [elements.words(f"{number}  ", bold=True), *tool, *([elements.words("\n"), *note] if note else [])]
    lines = said.warnings(call, arguments) + said.notice_lines(call)
    if not fitted.complete:
        lines.append(said.size_line(fitted, words.BATCH_CUT, known=arguments.known))
    if not edit.is_whole:
        lines.append(words.CHANGES_SHOWN.format(shown=edit.shown, total=edit.total))
    told = said.told(call)
    quote = [rows.quote(words.SAID, told, limits.DESCRIPTION)] if told else []
    return [
        elements.rich([*rows.row_elements(fitted.rows, start=start), *edit.elements]),
        *quote,
        *elements.context(lines),
    ], fitted.complete and whole and edit.is_whole


def _edit(call: CallView, draft: TypedDraft) -> list[Json]:
    """What an edit that is kept changes, and the button that leads to its form."""
    place = ids.encode_place(ids.BlockPlace("o", call.position))
    if draft.kept is None:
        button = elements.button(words.EDIT_FORM, ids.EDIT, call.showing)
        return elements.context([reasons.EDIT_NOT_KEPT]) + elements.actions([button], place)
    after = read_arguments(parse(draft.kept, draft.kept_masks), reach=limits.READ_ALL)
    changes = diffs.compare(read_arguments(parse(call.arguments, call.masks), reach=limits.READ_ALL), after)
    drawn = said.edit_drawn(changes)
    note = [] if drawn.is_whole else [words.CHANGES_SHOWN.format(shown=drawn.shown, total=drawn.total)]
    button = elements.button(words.EDIT_FORM_AGAIN, ids.EDIT, call.showing)
    return [elements.rich(drawn.elements), *elements.context(note), *elements.actions([button], place)]


def _open(call: CallView) -> Json:
    return elements.button(words.READ_ALL.format(number=call.position + 1), ids.REVIEW, call.showing)


def _joined(parts: Sequence[list[Json]]) -> list[Json]:
    return [block for at, part in enumerate(parts) for block in ([elements.divider()] if at else []) + part]


def _page_lines(page: int, total: int) -> list[str]:
    return [words.PAGE_OF.format(page=page + 1, pages=total)] if total > 1 else []


def _part_lines(batch: BatchView) -> list[str]:
    """What becomes of a part: who may decide only some of the calls sends those."""
    waiting = [call for call in batch.calls if call.state is CallState.WAITING]
    mine = sum(bool(call.offered) and call.position not in batch.approved for call in waiting)
    return [words.BATCH_PART.format(mine=mine, total=len(waiting))] if 0 < mine < len(waiting) else []


def _back(batch: BatchView, page: int) -> list[Json]:
    return elements.actions([elements.button(words.LAST_PAGE, ids.PAGE_BACK, batch.showing)] if page else [], "pages")


def _submit(batch: BatchView, *, last: bool) -> dict[str, str]:
    if not last:
        return {"submit": words.SUBMIT_NEXT}
    open_calls = any(call.state is CallState.WAITING and call.offered for call in batch.calls)
    return {"submit": words.SUBMIT_BATCH} if open_calls else {}

"""The private view of all calls of an interrupt: one decision for each, in request order, five calls to a page.

It exists because the agent goes on only when every call is decided. Submit turns the page until the last one sends.
A call that does not fit is cut, says so, and has no Approve here. It must not keep drafts: they come with the
view-model, and what was typed survives a redraw because its block_id stays the same.
"""

from collections.abc import Sequence

from blocks import call as said
from blocks import diffs, forms, ids, kit, limits, reasons, rows, words
from blocks.args import parse, read_arguments, skimmed
from blocks.fitting import fit
from blocks.kit import Json
from blocks.modals import banner_blocks
from blocks.models import NO_DRAFT, BatchView, CallState, CallView, Draft, Offer, RenderedView

_Part = tuple[list[Json], Offer | None]


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
        + kit.context([*_page_lines(page, total), *_part_lines(batch)])
    )
    blocks = [*top, *_joined([part for part, _ in parts]), *_back(batch, page)]
    title = words.TITLE_BATCH.format(calls=words.several(len(batch.calls), "call", "calls"))
    buttons = {"close": words.LATER} | _submit(batch, last=page == total - 1)
    view = kit.modal(title, blocks, callback_id=ids.CALLBACK_BATCH, showing=batch.showing, **buttons)
    return RenderedView(view, tuple(offer for _, offer in parts if offer is not None), page, total)


def page_of(position: int) -> int:
    """The page of a batch on which a position stands."""
    return position // limits.BATCH_CALLS


def _call(call: CallView, draft: Draft, *, approved: bool) -> _Part:
    shown, complete = _what(call)
    if call.state is not CallState.WAITING:
        risk = [words.RISK] if call.risk == "high" else []
        return [*shown, *kit.context(risk + said.state_lines(call))], None
    arguments = skimmed(said.final_arguments(call), call.masks)
    offered = said.offers(call, arguments, complete=complete)
    edit = _edit(call, draft) if "edit" in offered else []
    inputs = kit.context([words.APPROVED_BEFORE] if approved else [] if offered else [words.NOTHING_OFFERED])
    if offered:
        inputs = [*inputs, *forms.decision_inputs(call, draft, offered, edit=edit, optional=approved)]
    shown = [*shown, *kit.context(said.confirm_lines(call, arguments, offered))]
    more = [] if complete else [_open(call)]
    blocks = [*shown, *kit.actions(more, ids.encode_place(ids.Place("r", call.position))), *inputs]
    return blocks, Offer(call.position, offered, complete=complete)


def _what(call: CallView) -> tuple[list[Json], bool]:
    arguments = skimmed(said.final_arguments(call), call.masks)
    fitted = fit(arguments, limits.BATCH_ARGUMENTS)
    edit = said.draw_edit(call)
    tool, whole = rows.tool_line(call.tool, limits.TOOL)
    number = words.CALL_OF.format(number=call.position + 1, total=call.total)
    note = rows.shape_note(arguments)
    start = [kit.words(f"{number}  ", bold=True), *tool, *([kit.words("\n"), *note] if note else [])]
    lines = said.warnings(call, arguments) + said.notice_lines(call)
    if not fitted.complete:
        lines.append(said.size_line(fitted, words.BATCH_CUT, known=arguments.known))
    if not edit.is_whole:
        lines.append(words.CHANGES_SHOWN.format(shown=edit.shown, total=edit.total))
    told = said.told(call)
    quote = [rows.quote(words.SAID, told, limits.DESCRIPTION)] if told else []
    return [
        kit.rich([*rows.row_elements(fitted.rows, start=start), *edit.elements]),
        *quote,
        *kit.context(lines),
    ], fitted.complete and whole and edit.is_whole


def _edit(call: CallView, draft: Draft) -> list[Json]:
    """What an edit that is kept changes, and the button that leads to its form."""
    place = ids.encode_place(ids.Place("o", call.position))
    if draft.kept is None:
        button = kit.button(words.EDIT_FORM, ids.EDIT, call.showing)
        return kit.context([reasons.EDIT_NOT_KEPT]) + kit.actions([button], place)
    after = read_arguments(parse(draft.kept, draft.kept_masks), reach=limits.READ_ALL)
    changes = diffs.compare(read_arguments(parse(call.arguments, call.masks), reach=limits.READ_ALL), after)
    drawn = said.edit_drawn(changes)
    note = [] if drawn.is_whole else [words.CHANGES_SHOWN.format(shown=drawn.shown, total=drawn.total)]
    button = kit.button(words.EDIT_FORM_AGAIN, ids.EDIT, call.showing)
    return [kit.rich(drawn.elements), *kit.context(note), *kit.actions([button], place)]


def _open(call: CallView) -> Json:
    return kit.button(words.READ_ALL.format(number=call.position + 1), ids.REVIEW, call.showing)


def _joined(parts: Sequence[list[Json]]) -> list[Json]:
    return [block for at, part in enumerate(parts) for block in ([kit.divider()] if at else []) + part]


def _page_lines(page: int, total: int) -> list[str]:
    return [words.PAGE_OF.format(page=page + 1, pages=total)] if total > 1 else []


def _part_lines(batch: BatchView) -> list[str]:
    """What becomes of a part: who may decide only some of the calls sends those."""
    waiting = [call for call in batch.calls if call.state is CallState.WAITING]
    mine = sum(bool(call.offered) and call.position not in batch.approved for call in waiting)
    return [words.BATCH_PART.format(mine=mine, total=len(waiting))] if 0 < mine < len(waiting) else []


def _back(batch: BatchView, page: int) -> list[Json]:
    return kit.actions([kit.button(words.LAST_PAGE, ids.PAGE_BACK, batch.showing)] if page else [], "pages")


def _submit(batch: BatchView, *, last: bool) -> dict[str, str]:
    if not last:
        return {"submit": words.SUBMIT_NEXT}
    open_calls = any(call.state is CallState.WAITING and call.offered for call in batch.calls)
    return {"submit": words.SUBMIT_BATCH} if open_calls else {}

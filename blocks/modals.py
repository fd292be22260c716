"""The small modals: a reason, an answer, an edit and its confirmation, an operator's wish, a result, a notice.

Each asks for one thing at a time. A modal's private_metadata is the showing's id and nothing else.

The view after an edit: what changes, what stays, and all of what will run. It exists so that an edit is approved as
final values under their own digest and never as typed text. Where the final arguments cannot be shown in full, there
is no submit.

What operators get to see: a menu on the card, and the window that asks whether it is meant. The menu stands behind
dots, apart from the buttons that decide, because everybody sees the card and only operators may use it.

The private view of what a tool answered, page by page. It exists because a result may hold more than a channel should
see, and more than one view holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from blocks import call as said
from blocks import diffs, elements, forms, ids, limits, reasons, rows, words
from blocks import elements as kit
from blocks.args import Arguments, ArgumentsShape, Row, name_text, parse, read_arguments, skimmed
from blocks.elements import Json
from blocks.fitting import Pages, deal, fit
from blocks.forms import field_inputs
from blocks.models import NO_DRAFT, CallState, CallView, FieldView, Mask, OfferView, RenderedView, TypedDraft
from blocks.text import cut_by_weight, cut_plain, literal
from blocks.words import CANCEL


def reject_modal(call: CallView, draft: TypedDraft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for an optional reason (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "reject", banner)


def respond_modal(call: CallView, draft: TypedDraft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for the answer that the agent reads as the tool's result (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "respond", banner)


def edit_modal(
    call: CallView,
    draft: TypedDraft = NO_DRAFT,
    *,
    fields: Sequence[FieldView] = (),
    banner: str | None = None,
    in_batch: bool = False,
) -> RenderedView:
    """Asks for new arguments, each in an input of its own (``f.<position>.<number>``) where there are ``fields``.

    Else, and when the draft holds JSON text, all of them in one (``e.<position>``, action ``json``). Without submit
    where neither can be done. ``in_batch``: it lies on the view of all calls, which the edit goes back to.
    """
    callback_id = ids.CALLBACK_BATCH_EDIT if in_batch else ids.CALLBACK_EDIT
    call = said.in_private(call)
    why = forms.why_not_editable(call.arguments, call.masks)
    start, _ = rows.tool_line(call.tool, limits.TOOL)
    top = [*banner_blocks(banner), kit.rich(rows.row_elements((), start=start))]
    typed = bool(fields) and (draft.edited is None or why is not None)
    if not typed and why is not None:
        blocks = [*top, kit.section(why)]
        view = _modal(call, words.TITLE_EDIT, blocks, callback_id, close=words.CLOSE)
        return RenderedView(view, (OfferView(call.position, (), complete=False),))
    inputs = field_inputs(call, draft, fields) if typed else forms.edit_inputs(call, draft)
    note = kit.context([*said.warnings(call, _arguments(call)), *said.edit_lines(call), words.EDIT_LOST])
    blocks = [*top, *inputs, *note, *_other_form(call, typed=typed, possible=why is None if typed else bool(fields))]
    view = _modal(call, words.TITLE_EDIT, blocks, callback_id, submit=words.SUBMIT_EDIT, close=words.CANCEL)
    return RenderedView(view, (OfferView(call.position, ("edit",), complete=True),))


def _other_form(call: CallView, *, typed: bool, possible: bool) -> list[Json]:
    """The way from single fields to JSON, which keeps what was typed, and back, which cannot."""
    if not possible:
        return []
    if typed:
        return kit.actions([kit.button(words.AS_JSON, ids.EDIT_AS_JSON, call.showing)], "form")
    sure = {
        "title": kit.plain(words.AS_FIELDS_TITLE),
        "text": kit.plain(words.AS_FIELDS_SURE),
        "confirm": kit.plain(words.AS_FIELDS_YES),
        "deny": kit.plain(words.CONFIRM_NO),
    }
    return kit.actions([kit.button(words.AS_FIELDS, ids.EDIT_AS_FIELDS, call.showing, confirm=sure)], "form")


def notice_modal(title: str, sentence: str, *, showing: str = "") -> RenderedView:
    """One plain sentence of ours and a way out."""
    block = {"type": "section", "text": kit.plain(cut_plain(sentence, limits.NOTICE_MODAL))}
    title = cut_plain(title, limits.MODAL_TITLE)
    return RenderedView(kit.modal(title, [block], callback_id=ids.CALLBACK_NOTICE, showing=showing, close=words.CLOSE))


def _message_modal(call: CallView, draft: TypedDraft, decision: str, banner: str | None) -> RenderedView:
    rejects = decision == "reject"
    title, submit = (
        (words.TITLE_REJECT, words.SUBMIT_REJECT) if rejects else (words.TITLE_RESPOND, words.SUBMIT_RESPOND)
    )
    callback_id = ids.CALLBACK_REJECT if rejects else ids.CALLBACK_RESPOND
    shown, complete = _summary(call)
    blocks = [*banner_blocks(banner), *shown, forms.message_input(call, draft, decision)]
    view = _modal(call, title, blocks, callback_id, submit=submit, close=words.CANCEL)
    return RenderedView(view, (OfferView(call.position, (decision,), complete=complete),))


def _summary(call: CallView) -> tuple[list[Json], bool]:
    arguments = _arguments(call)
    fitted = fit(arguments, limits.SUMMARY_ARGUMENTS)
    start, whole = rows.tool_line(call.tool, limits.TOOL)
    note = rows.shape_note(arguments)
    elements = rows.row_elements(fitted.rows, start=start + ([kit.words("\n"), *note] if note else []))
    lines = said.warnings(call, arguments)
    if not fitted.complete:
        lines.append(said.size_line(fitted, words.CHARACTERS, known=arguments.known))
    return [kit.rich(elements), *kit.context(lines)], fitted.complete and whole


def _arguments(call: CallView) -> Arguments:
    return skimmed(call.arguments, call.masks)


def banner_blocks(text: str | None) -> list[Json]:
    """A line on top that says why the view is here again."""
    return kit.context([f"⚠️ *{words.quoted(text)}*"]) if text else []


def _modal(call: CallView, title: str, blocks: list[Json], callback_id: str, **buttons: str) -> Json:
    return kit.modal(title, blocks, callback_id=callback_id, showing=call.showing, **buttons)


_APPROVE = (words.TITLE_CONFIRM, words.SUBMIT_CONFIRM, ids.CALLBACK_CONFIRM)
_KEEP = (words.TITLE_KEEP, words.SUBMIT_KEEP, ids.CALLBACK_KEEP)


@dataclass(frozen=True, slots=True)
class Final:
    """What an edit came to: source text and its shown digest.

    ``masks``: what of it stays hidden, where that is not the same as of the call: what was typed is shown.
    """

    arguments: str
    digest: str
    masks: Sequence[Mask] | None = None


def confirm_modal(call: CallView, final: Final, *, banner: str | None = None, in_batch: bool = False) -> RenderedView:
    """Shows the edit of ``call`` under the digest of its final arguments, to be approved.

    ``in_batch``: to be kept instead, until the decisions on all calls are sent.
    """
    call = said.in_private(call)
    masks = call.masks if final.masks is None else final.masks
    arguments = read_arguments(parse(final.arguments, masks))
    fitted = fit(arguments, limits.CONFIRM_ARGUMENTS, most_rows=limits.CONFIRM_ROWS)
    before = read_arguments(parse(call.arguments, call.masks), reach=limits.READ_ALL)
    changes = diffs.compare(before, read_arguments(parse(final.arguments, masks), reach=limits.READ_ALL))
    tool, whole = rows.tool_line(call.tool, limits.TOOL_IN_FULL)
    complete = fitted.complete and whole and arguments.is_object
    note = rows.shape_note(arguments)
    start = [elements.words(words.WILL_RUN, bold=True), *([elements.words("\n"), *note] if note else [])]
    exactly = words.EXACTLY_THIS.format(digest=words.quoted(ids.digest_groups(final.digest)))
    lines = [
        *said.warnings(call, arguments),
        *said.confirm_lines(call, arguments),
        *said.edit_lines(call),
        exactly,
        *([reasons.KEPT_UNTIL_SENT] if in_batch and complete else []),
    ]
    if not fitted.complete:
        lines.insert(0, said.size_line(fitted, words.CONFIRM_CUT, known=arguments.known))
    blocks = [*banner_blocks(banner), elements.rich([elements.lines(tool)]), *_changes(changes)]
    blocks += [elements.rich(rows.row_elements(fitted.rows, start=start)), *elements.context(lines)]
    blocks += elements.actions([elements.button(words.BACK_TO_EDIT, ids.EDIT_BACK, call.showing)], "back")
    title, submit, callback_id = _KEEP if in_batch else _APPROVE
    buttons = {"close": words.CANCEL} | ({"submit": submit} if complete else {})
    view = elements.modal(title, blocks, callback_id=callback_id, showing=call.showing, **buttons)
    return RenderedView(view, (OfferView(call.position, ("edit",) if complete else (), complete=complete),))


def _changes(changes: tuple[diffs.ArgumentChange, ...]) -> list[Json]:
    drawn = diffs.draw(changes, limits.CONFIRM_CHANGES, value=limits.CONFIRM_VALUE)
    if not drawn.total:
        return elements.context([words.NOTHING_CHANGED])
    notes = [] if drawn.is_whole else [words.CHANGES_SHOWN.format(shown=drawn.shown, total=drawn.total)]
    return [elements.rich(drawn.elements), *_stays(diffs.unchanged_names(changes)), *elements.context(notes)]


def _stays(names: tuple[str, ...]) -> list[Json]:
    if not names:
        return []
    line = [elements.words(f"{words.UNCHANGED_LABEL}  ", italic=True)]
    for name in names[: limits.CARD_ROWS]:
        line += [elements.code(cut_by_weight(name, limits.ARGUMENT_NAME)), elements.words(" ")]
    more = len(names) - limits.CARD_ROWS
    line += [elements.words(words.AND_MORE.format(count=words.count(more)), italic=True)] if more > 0 else []
    return [elements.rich([elements.lines(line)])]


NOTE = 500


def operator_menu(operations: Sequence[str], showing: str) -> list[Json]:
    """A line with the menu; no block where there is nothing to ask for."""
    if not operations:
        return []
    menu = elements.overflow(
        ids.OPERATE, [(ids.encode_operation(one, showing), words.MENU_PLAIN[one]) for one in operations]
    )
    return [{**elements.section(words.FOR_OPERATORS), "block_id": ids.OPERATE, "accessory": menu}]


def operation_modal(operation: str, *, showing: str, tools: Sequence[str], twice: bool = False) -> Json:
    """What `operation` will do, what it concerns, and for `settle` what was found (`twice`: how often it ran)."""
    explained = words.EXPLAINED_TWICE if twice else words.EXPLAINED[operation]
    blocks = [elements.section(explained), elements.rich([_concerns(tools)])]
    if operation == "settle":
        blocks += [_note()] if twice else [_found(), _note()]
    return elements.modal(
        cut_plain(words.TITLE_PLAIN[operation], limits.MODAL_TITLE),
        blocks,
        callback_id=ids.CALLBACKS_OPERATE[operation],
        showing=showing,
        submit=words.SUBMIT_PLAIN[operation],
        close=CANCEL,
    )


def _concerns(tools: Sequence[str]) -> Json:
    line = [elements.words(f"{words.CONCERNS}  ", bold=True)]
    for tool in tools[: limits.PEOPLE]:
        line += [
            elements.code(cut_by_weight(name_text(tool[: limits.ROOT_TOOL + 1]), limits.ROOT_TOOL)),
            elements.words(" "),
        ]
    more = len(tools) - limits.PEOPLE
    return elements.lines([*line, elements.words(f"+{more}")] if more > 0 else line)


def _found() -> Json:
    return elements.field(ids.FOUND, words.FOUND_PLAIN, elements.radio(ids.CHOICE, words.FOUND_OPTIONS_PLAIN, None))


def _note() -> Json:
    return elements.field(ids.NOTE, words.NOTE_PLAIN, elements.text_input(ids.MESSAGE, None, longest=NOTE))


def result_modal(
    call: CallView, text: str, *, length: int = 0, page: int = 0, banner: str | None = None
) -> RenderedView:
    """One page (from 0) of a result, literally. ``length``: of all of it, where ``text`` may be only its beginning."""
    dealt = _dealt(text)
    page = min(max(page, 0), len(dealt.pages) - 1)
    tool, _ = rows.tool_line(call.tool, limits.TOOL)
    label = words.ERROR if call.state is CallState.FAILED else words.RESULT
    start = [*tool, elements.words("\n"), elements.words(label, bold=True)]
    shown = elements.rich(rows.row_elements(dealt.pages[page], start=start))
    blocks = [*banner_blocks(banner), shown, *elements.context(_page_line(dealt, page, max(length, len(text))))]
    view = elements.modal(
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
    return deal(Arguments(ArgumentsShape.VALUE, (Row("", shown, block=True, more=more),), known=not more))


def _page_line(dealt: Pages, page: int, total: int) -> list[str]:
    places = {"page": page + 1, "pages": len(dealt.pages)}
    if not dealt.complete:
        shown = min(total, sum(len(row.text) for rows_ in dealt.pages for row in rows_))
        return [reasons.RESULT_LONG.format(**places, shown=words.count(shown), total=words.count(total))]
    return [words.PAGE_OF.format(**places)] if len(dealt.pages) > 1 else []


def _turns(call: CallView, page: int, pages: int) -> list[Json]:
    buttons = [elements.button(words.LAST_PAGE, ids.PAGE_BACK, call.showing)] if page else []
    buttons += [elements.button(words.NEXT_PAGE, ids.PAGE_NEXT, call.showing)] if page < pages - 1 else []
    return elements.actions(buttons, "pages")

"""The small modals: a reason, an answer, an edit, and a plain notice.

It exists to ask for one thing at a time. A modal's private_metadata is the showing's id and nothing else. It must not
know whether its reader may do what it asks: that is checked when the answer comes.
"""

from collections.abc import Sequence

from blocks import call as said
from blocks import forms, ids, kit, limits, rows, words
from blocks.args import Arguments, skimmed
from blocks.fields import field_inputs
from blocks.fitting import fit
from blocks.kit import Json
from blocks.models import NO_DRAFT, CallView, Draft, FieldView, Offer, RenderedView
from blocks.text import cut_plain


def reject_modal(call: CallView, draft: Draft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for an optional reason (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "reject", banner)


def respond_modal(call: CallView, draft: Draft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for the answer that the agent reads as the tool's result (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "respond", banner)


def edit_modal(
    call: CallView,
    draft: Draft = NO_DRAFT,
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
        return RenderedView(view, (Offer(call.position, (), complete=False),))
    inputs = field_inputs(call, draft, fields) if typed else forms.edit_inputs(call, draft)
    note = kit.context([*said.warnings(call, _arguments(call)), *said.edit_lines(call), words.EDIT_LOST])
    blocks = [*top, *inputs, *note, *_other_form(call, typed=typed, possible=why is None if typed else bool(fields))]
    view = _modal(call, words.TITLE_EDIT, blocks, callback_id, submit=words.SUBMIT_EDIT, close=words.CANCEL)
    return RenderedView(view, (Offer(call.position, ("edit",), complete=True),))


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


def _message_modal(call: CallView, draft: Draft, decision: str, banner: str | None) -> RenderedView:
    rejects = decision == "reject"
    title, submit = (
        (words.TITLE_REJECT, words.SUBMIT_REJECT) if rejects else (words.TITLE_RESPOND, words.SUBMIT_RESPOND)
    )
    callback_id = ids.CALLBACK_REJECT if rejects else ids.CALLBACK_RESPOND
    shown, complete = _summary(call)
    blocks = [*banner_blocks(banner), *shown, forms.message_input(call, draft, decision)]
    view = _modal(call, title, blocks, callback_id, submit=submit, close=words.CANCEL)
    return RenderedView(view, (Offer(call.position, (decision,), complete=complete),))


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

"""The small modals: a reason, an answer, an edit, and a plain notice.

It exists to ask for one thing at a time. A modal's private_metadata is the showing's id and nothing else. It must not
know whether its reader may do what it asks: that is checked when the answer comes.
"""

from blocks import call as said
from blocks import forms, ids, kit, limits, rows, words
from blocks.args import Arguments, parse, read_arguments
from blocks.fitting import fit
from blocks.kit import Json
from blocks.models import NO_DRAFT, CallView, Draft, Offer, RenderedView
from blocks.text import cut_plain


def reject_modal(call: CallView, draft: Draft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for an optional reason (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "reject", banner)


def respond_modal(call: CallView, draft: Draft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for the answer that the agent reads as the tool's result (input ``m.<position>``, action ``message``)."""
    return _message_modal(call, draft, "respond", banner)


def edit_modal(call: CallView, draft: Draft = NO_DRAFT, *, banner: str | None = None) -> RenderedView:
    """Asks for new arguments (input ``e.<position>``, action ``json``); without submit where they cannot be typed."""
    why = forms.why_not_editable(call.arguments, call.masks)
    start, _ = rows.tool_line(call.tool, limits.TOOL)
    top = [*banner_blocks(banner), kit.rich(rows.row_elements((), start=start))]
    if why is not None:
        blocks = [*top, kit.section(why)]
        view = _modal(call, words.TITLE_EDIT, blocks, ids.CALLBACK_EDIT, close=words.CLOSE)
        return RenderedView(view, (Offer(call.position, (), complete=False),))
    note = kit.context([*said.warnings(call, _arguments(call)), words.EDIT_LOST])
    blocks = [*top, *forms.edit_inputs(call, draft), *note]
    view = _modal(call, words.TITLE_EDIT, blocks, ids.CALLBACK_EDIT, submit=words.SUBMIT_EDIT, close=words.CANCEL)
    return RenderedView(view, (Offer(call.position, ("edit",), complete=True),))


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
    return read_arguments(parse(call.arguments, call.masks), reach=limits.READ_CARD)


def banner_blocks(text: str | None) -> list[Json]:
    """A line on top that says why the view is here again."""
    return kit.context([f"⚠️ *{words.quoted(text)}*"]) if text else []


def _modal(call: CallView, title: str, blocks: list[Json], callback_id: str, **buttons: str) -> Json:
    return kit.modal(title, blocks, callback_id=callback_id, showing=call.showing, **buttons)

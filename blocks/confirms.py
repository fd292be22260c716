"""The view after an edit: what changes, what stays, and all of what will run.

It exists so that an edit is approved as final values under their own digest and never as typed text. Where the final
arguments cannot be shown in full, there is no submit. It must not check whether they are valid: the core did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from blocks import call as said
from blocks import diffs, ids, kit, limits, reasons, rows, words
from blocks.args import parse, read_arguments
from blocks.fitting import fit
from blocks.kit import Json
from blocks.modals import banner_blocks
from blocks.models import CallView, Mask, Offer, RenderedView
from blocks.text import cut_by_weight

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
    start = [kit.words(words.WILL_RUN, bold=True), *([kit.words("\n"), *note] if note else [])]
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
    blocks = [*banner_blocks(banner), kit.rich([kit.lines(tool)]), *_changes(changes)]
    blocks += [kit.rich(rows.row_elements(fitted.rows, start=start)), *kit.context(lines)]
    blocks += kit.actions([kit.button(words.BACK_TO_EDIT, ids.EDIT_BACK, call.showing)], "back")
    title, submit, callback_id = _KEEP if in_batch else _APPROVE
    buttons = {"close": words.CANCEL} | ({"submit": submit} if complete else {})
    view = kit.modal(title, blocks, callback_id=callback_id, showing=call.showing, **buttons)
    return RenderedView(view, (Offer(call.position, ("edit",) if complete else (), complete=complete),))


def _changes(changes: tuple[diffs.Change, ...]) -> list[Json]:
    drawn = diffs.draw(changes, limits.CONFIRM_CHANGES, value=limits.CONFIRM_VALUE)
    if not drawn.total:
        return kit.context([words.NOTHING_CHANGED])
    notes = [] if drawn.is_whole else [words.CHANGES_SHOWN.format(shown=drawn.shown, total=drawn.total)]
    return [kit.rich(drawn.elements), *_stays(diffs.unchanged_names(changes)), *kit.context(notes)]


def _stays(names: tuple[str, ...]) -> list[Json]:
    if not names:
        return []
    line = [kit.words(f"{words.UNCHANGED_LABEL}  ", italic=True)]
    for name in names[: limits.CARD_ROWS]:
        line += [kit.code(cut_by_weight(name, limits.ARGUMENT_NAME)), kit.words(" ")]
    more = len(names) - limits.CARD_ROWS
    line += [kit.words(words.AND_MORE.format(count=words.count(more)), italic=True)] if more > 0 else []
    return [kit.rich([kit.lines(line)])]

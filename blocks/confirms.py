"""The view after an edit: what changes, what stays, and all of what will run.

It exists so that an edit is approved as final values under their own digest and never as typed text. Where the final
arguments cannot be shown in full, there is no submit. It must not check whether they are valid: the core did.
"""

from collections.abc import Sequence

from blocks import call as said
from blocks import diffs, ids, kit, limits, rows, words
from blocks.args import parse, read_arguments
from blocks.fitting import fit
from blocks.kit import Json
from blocks.modals import banner_blocks
from blocks.models import CallView, Mask, Offer, RenderedView


def confirm_modal(  # noqa: PLR0913 - the parts of one showing, each named by the caller
    call: CallView,
    final: str,
    *,
    showing: str,
    digest: str,
    masks: Sequence[Mask] | None = None,
    banner: str | None = None,
) -> RenderedView:
    """Shows the edit of ``call`` to ``final`` (source text) under the showing and digest of the final arguments.

    ``masks``: what of ``final`` stays hidden, where that is not the same as of the call: what was typed is shown.
    """
    call = said.in_private(call)
    arguments = read_arguments(parse(final, call.masks if masks is None else masks))
    fitted = fit(arguments, limits.CONFIRM_ARGUMENTS, most_rows=limits.CONFIRM_ROWS)
    changes = diffs.compare(read_arguments(parse(call.arguments, call.masks)), arguments)
    tool, whole = rows.tool_line(call.tool, limits.TOOL_IN_FULL)
    complete = fitted.complete and whole and arguments.is_object
    note = rows.shape_note(arguments)
    start = [kit.words(words.WILL_RUN, bold=True), *([kit.words("\n"), *note] if note else [])]
    lines = [*said.warnings(call, arguments), words.EXACTLY_THIS.format(digest=words.quoted(ids.digest_groups(digest)))]
    if not fitted.complete:
        lines.insert(0, said.size_line(fitted, words.CONFIRM_CUT, known=arguments.known))
    blocks = [*banner_blocks(banner), kit.rich([kit.lines(tool)]), *_changes(changes)]
    blocks += [kit.rich(rows.row_elements(fitted.rows, start=start)), *kit.context(lines)]
    blocks += kit.actions([kit.button(words.BACK_TO_EDIT, ids.EDIT_BACK, showing)], "back")
    buttons = {"close": words.CANCEL} | ({"submit": words.SUBMIT_CONFIRM} if complete else {})
    view = kit.modal(words.TITLE_CONFIRM, blocks, callback_id=ids.CALLBACK_CONFIRM, showing=showing, **buttons)
    return RenderedView(view, (Offer(call.position, ("edit",) if complete else (), complete=complete),))


def _changes(changes: tuple[diffs.Change, ...]) -> list[Json]:
    changed = [change for change in changes if not change.is_same]
    if not changed:
        return kit.context([words.NOTHING_CHANGED])
    elements = diffs.change_elements(changed[: limits.CONFIRM_CHANGES], limits.CONFIRM_VALUE)
    more = len(changed) - limits.CONFIRM_CHANGES
    notes = [words.AND_MORE.format(count=words.count(more))] if more > 0 else []
    return [kit.rich(elements), *_stays(diffs.unchanged_names(changes)), *kit.context(notes)]


def _stays(names: tuple[str, ...]) -> list[Json]:
    if not names:
        return []
    line = [kit.words(f"{words.UNCHANGED_LABEL}  ", italic=True)]
    for name in names[: limits.CARD_ROWS]:
        line += [kit.code(name), kit.words(" ")]
    more = len(names) - limits.CARD_ROWS
    line += [kit.words(words.AND_MORE.format(count=words.count(more)), italic=True)] if more > 0 else []
    return [kit.rich([kit.lines(line)])]

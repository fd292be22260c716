"""The card of one call, from waiting to settled, and what stands where Slack refused it.

It exists to show everything that a decision needs on the first screen, or to say how much is missing and not to offer
Approve. Every state keeps a rich_text block, because Slack may refuse an update that takes the last one away.

What stands on a message where Slack refused it as it was: outcome, person, tool, and nothing of any length. It exists
because nobody knows how Slack counts, and a card that kept its old buttons would be worse than a plain one. It draws
no buttons: those of the full message are kept by whoever shortens it, and say which of the notes is true.
"""

from dataclasses import dataclass

from blocks import call as said
from blocks import diffs, elements, fallback, ids, limits, rows, words
from blocks.args import Arguments, parse, read_arguments
from blocks.elements import Json
from blocks.fitting import Fit, fit, fit_card
from blocks.modals import operator_menu
from blocks.models import CallState, CallView, Rendered, RootView
from blocks.roots import root_head


@dataclass(frozen=True, slots=True)
class _Sight:
    """How much of a call its card and text can show."""

    arguments: Arguments
    fitted: Fit
    tool: list[Json]
    tool_whole: bool
    text: str
    text_whole: bool
    edit: diffs.DiffRows

    @property
    def on_card(self) -> bool:
        whole = self.fitted.complete and self.edit.is_whole and self.tool_whole
        return whole and not self.arguments.suspected

    @property
    def complete(self) -> bool:
        return self.on_card and self.text_whole


def call_card(call: CallView) -> Rendered:
    """The card in the call's present state; ``complete`` and ``offered`` of the result belong into its showing."""
    sight = _look(call)
    if call.state is CallState.WAITING:
        return _waiting(call, sight)
    return _decided(call, sight) if call.state is CallState.DECIDED else _settled(call, sight)


def _look(call: CallView) -> _Sight:
    """Read what would run: after an edit, its final arguments, with what it changed."""
    parsed = parse(said.final_arguments(call), call.masks, reach=limits.READ_CARD)
    arguments = read_arguments(parsed, reach=limits.READ_CARD)
    tool, tool_whole = rows.tool_line(call.tool, limits.TOOL)
    text, text_whole = fallback.card_text(call, parsed, arguments)
    return _Sight(arguments, fit_card(arguments), tool, tool_whole, text, text_whole, said.draw_edit(call))


def _waiting(call: CallView, sight: _Sight) -> Rendered:
    offered = said.offers(call, sight.arguments, complete=sight.complete)
    notes = said.warnings(call, sight.arguments) + _missing(call, sight) + _edit_note(call, sight, offered)
    blocks = [
        elements.header(said.heading(call)),
        _what(sight),
        *_edited(call, sight),
        *_told(call),
        *elements.context(notes),
    ]
    blocks += elements.context(_people(call) + said.notice_lines(call) + said.mention_lines(call.mention))
    review = [] if sight.complete and not call.revealable else [_review(call, first=not sight.complete)]
    blocks += elements.actions(review + said.buttons(call, sight.arguments, offered) + _back(call), "act")
    return Rendered(blocks, sight.text, complete=sight.complete, offered=offered)


def _people(call: CallView) -> list[str]:
    return said.people_lines(call, rings=call.total == 1)


def _edited(call: CallView, sight: _Sight) -> list[Json]:
    """What somebody's edit changed, where it stands to be approved by more people."""
    if call.original is None:
        return []
    author = words.mention(call.approvals[0] if call.approvals else None)
    return [elements.rich(sight.edit.elements), *elements.context([words.EDIT_STANDS.format(who=author)])]


def _decided(call: CallView, sight: _Sight) -> Rendered:
    """Decided and not yet sent: the author may take it back, and a reviewer may still stop it."""
    offered = tuple(each for each in call.offered if each == "reject")
    settled = _settled(call, sight)
    buttons = elements.actions(_back(call) + said.buttons(call, sight.arguments, offered), "act")
    return Rendered(settled.blocks + buttons, sight.text, complete=sight.complete, offered=offered)


def _back(call: CallView) -> list[Json]:
    """For whoever decided, or approved while others are missing: everybody sees it, and it takes back one's own only."""
    return [elements.button(words.TAKE_BACK, ids.TAKE_BACK, call.showing)] if call.take_back else []


def _settled(call: CallView, sight: _Sight) -> Rendered:
    blocks = [elements.header(said.heading(call)), *_what_ran(call, sight), *_told(call)]
    notes = said.warnings(call, sight.arguments) + _cut_note(sight)
    blocks += elements.context(said.state_lines(call) + said.notice_lines(call)) + rows.policy_line(call)
    blocks += _words_of_others(call)
    blocks += elements.context(notes + _people(call))
    result = [elements.button(words.OPEN_RESULT, ids.RESULT, call.showing)] if call.has_result else []
    blocks += elements.actions(result, "result") + operator_menu(call.operate, call.showing)
    return Rendered(blocks, sight.text, complete=sight.complete)


def _what(sight: _Sight) -> Json:
    note = rows.shape_note(sight.arguments)
    start = sight.tool + ([elements.words("\n"), *note] if note else [])
    return elements.rich(rows.row_elements(sight.fitted.rows, start=start))


def _what_ran(call: CallView, sight: _Sight) -> list[Json]:
    """The arguments, and after an edit what it changed before what it left."""
    if not said.is_edited(call):
        return [_what(sight)]
    edit = sight.edit
    note = [] if edit.is_whole else [words.CHANGES_SHOWN.format(shown=edit.shown, total=edit.total)]
    changes = [elements.rich([elements.lines(sight.tool), *edit.elements]), *elements.context(note)]
    if not edit.new_in_full:
        start = [elements.words(words.RAN_WITH, bold=True)]
        return [*changes, elements.rich(rows.row_elements(sight.fitted.rows, start=start))]
    same = tuple(change.new for change in said.changes(call) if change.is_same and change.new)
    kept = fit(Arguments(sight.arguments.shape, same), limits.CARD_ARGUMENTS // 2)
    label = [elements.words(words.UNCHANGED_LABEL, bold=True)]
    return [*changes, *([elements.rich(rows.row_elements(kept.rows, start=label))] if kept.rows else [])]


def _told(call: CallView) -> list[Json]:
    text = said.told(call)
    return rows.started(call) + ([rows.quote(words.SAID, text, limits.DESCRIPTION)] if text else [])


def _words_of_others(call: CallView) -> list[Json]:
    """Reason or answer as typed, and the outcome as the tool wrote it."""
    blocks: list[Json] = []
    decided = call.decided
    if decided is not None and decided.message and decided.message.strip():
        label = words.ANSWER if decided.decision == "respond" else words.REASON
        blocks.append(rows.quote(label, decided.message, limits.TYPED))
    if call.outcome and call.outcome.strip():
        label = words.ERROR if call.state is CallState.FAILED else words.RESULT
        blocks.append(rows.quote(label, call.outcome, limits.OUTCOME))
    return blocks


def _missing(call: CallView, sight: _Sight) -> list[str]:
    """Why there is no Approve on a card that could otherwise have one, or why it is not the whole call."""
    lines: list[str] = []
    if not sight.fitted.complete:
        template = words.SHOWN if "approve" in call.offered and sight.arguments.is_object else words.SHOWN_ONLY
        lines.append(said.size_line(sight.fitted, template, known=sight.arguments.known))
    if not sight.edit.is_whole:
        lines.append(words.CHANGES_CUT.format(shown=sight.edit.shown, total=sight.edit.total))
    if not sight.tool_whole:
        lines.append(words.TOOL_CUT)
    if sight.arguments.suspected:
        hidden = words.several(sight.arguments.suspected, "value", "values")
        lines.append(words.SUSPECTED_VALUES.format(count=hidden))
    return lines if lines or sight.text_whole else [words.TEXT_CUT]


def _cut_note(sight: _Sight) -> list[str]:
    if sight.fitted.complete:
        return []
    return [said.size_line(sight.fitted, words.CHARACTERS, known=sight.arguments.known)]


def _edit_note(call: CallView, sight: _Sight, offered: tuple[str, ...]) -> list[str]:
    unavailable = "edit" in call.offered and "edit" not in offered and sight.arguments.is_object
    return (
        [words.NOT_EDITABLE_HIDDEN if any(each.declared for each in call.masks) else words.NOT_EDITABLE]
        if unavailable
        else []
    )


def _review(call: CallView, *, first: bool) -> Json:
    style = {"style": "primary"} if first else {}
    label = said.label(words.REVIEW, call.tool)
    return elements.button(words.REVIEW, ids.REVIEW, call.showing, accessibility_label=label, **style)


def short_call(call: CallView, *, reviewable: bool) -> list[Json]:
    """A call's heading, tool, state with its decision, and people; ``reviewable``: there is a button to see the rest."""
    tool, _ = rows.tool_line(call.tool, limits.TOOL)
    return [
        elements.header(said.heading(call)),
        elements.rich([elements.lines(tool)]),
        *elements.context(
            [*said.state_lines(call), *said.people_lines(call, rings=False), _note(reviewable=reviewable)]
        ),
    ]


def short_root(root: RootView, *, reviewable: bool) -> list[Json]:
    """The heading and progress of a batch, and its first calls by state, person and tool."""
    title, progress = root_head(root)
    items = [elements.lines(_item(call)) for call in root.calls[: limits.SHORT_CALLS]]
    listed = {"type": "rich_text_list", "style": "ordered", "indent": 0, "elements": items}
    more = len(root.calls) - limits.SHORT_CALLS
    left = [words.AND_MORE.format(count=words.count(more))] if more > 0 else []
    note = _note(reviewable=reviewable)
    shown = (
        [elements.rich([listed])]
        if items
        else [elements.rich([elements.lines([elements.words(words.NO_CALLS, italic=True)])])]
    )
    return [elements.header(title), *shown, *elements.context([*left, progress, note])]


def _item(call: CallView) -> list[Json]:
    by = call.decided.user if call.decided else None
    person = [elements.words(f" {words.BY} "), elements.person(by)] if by is not None and ids.is_user(by) else []
    return [
        elements.words(words.STATE_WORDS[call.state], italic=True),
        *person,
        elements.words("  "),
        *rows.tool_name(call.tool),
    ]


def _note(*, reviewable: bool) -> str:
    return words.NOT_DRAWN if reviewable else words.NOT_DRAWN_SETTLED

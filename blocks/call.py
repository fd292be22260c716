"""What is said about one call, wherever it stands: its heading, warnings, people, times and state, and its buttons.

It exists so that card, root and modals say the same of the same call. It must not lay out a message or a view.
Lines are mrkdwn of ours; nothing that the agent wrote is in them.
"""

import re
from dataclasses import replace
from typing import Final

from blocks import diffs, elements, forms, ids, limits, rows, words
from blocks.args import Arguments, name_text, parse, read_arguments, skimmed
from blocks.elements import Json
from blocks.fitting import Fit
from blocks.lookalikes import has_lookalikes
from blocks.models import CallState, CallView, Decided, Mask
from blocks.text import (
    cut_marked,
    cut_plain,
    escape_mrkdwn,
    escapes_in,
    has_long_blanks,
    is_plain,
    literal,
    on_one_line,
    runs_right_to_left,
)

_LINK: Final = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%\[\]-]+")
_STYLES: Final = {"approve": {"style": "primary"}, "reject": {"style": "danger"}}
_REPEATED: Final = "Tool execution requires approval"


def heading(call: CallView) -> str:
    """Plain text for the header: the policy's title or ours, never the tool's name."""
    untitled = words.UNTITLED if call.state is CallState.WAITING else words.UNTITLED_SETTLED
    title = words.QUESTION if is_question(call) else cut_plain(on_one_line(call.title or untitled), limits.TITLE)
    if call.total > 1:
        title = words.NUMBERED.format(title=title, number=call.position + 1, total=call.total)
    return words.HIGH_RISK.format(title=title) if call.risk == "high" else title


def in_private(call: CallView, *, reveal: bool = False) -> CallView:
    """The call as it may stand in a private view: suspected values open, declared ones only to whom they are revealed."""
    masks: tuple[Mask, ...] = () if reveal else tuple(each for each in call.masks if each.declared)
    return replace(call, masks=masks)


def offers(call: CallView, arguments: Arguments, *, complete: bool) -> tuple[str, ...]:
    """Of what the view-model offers, what this display may offer: no Approve without the whole call on it."""
    able = {
        "approve": complete and arguments.is_object,
        "edit": arguments.is_object and "edit" in call.offered and forms.is_editable(call),
    }
    return tuple(each for each in ids.DECISIONS if each in call.offered and able.get(each, True))


def warnings(call: CallView, arguments: Arguments) -> list[str]:
    """Lines on what a reader could be deceived by, in the tool's name, the arguments or the description."""
    others = [name_text(call.tool[: limits.TOOL]), literal((told(call) or "")[: limits.DESCRIPTION])]
    found = arguments.escapes + sum(escapes_in(text, as_json=False) for text in others)
    texts = [*others, *(row.text for row in arguments.rows), *(row.name for row in arguments.rows)]
    checks = [
        (found > 0, words.ESCAPES.format(count=words.several(found, "character", "characters"))),
        (any(map(runs_right_to_left, texts)), words.RIGHT_TO_LEFT),
        (any(map(has_lookalikes, texts)), words.LOOKALIKE),
        (any(map(has_long_blanks, texts)), words.LONG_BLANKS),
        (
            arguments.not_finite > 0,
            words.NOT_FINITE.format(
                count=words.several(arguments.not_finite, "value is no finite number", "values are no finite numbers")
            ),
        ),
        (not arguments.is_object and not is_question(call), words.NOT_AN_OBJECT),
        (
            arguments.declared > 0,
            words.HIDDEN_VALUES.format(count=words.several(arguments.declared, "value", "values")),
        ),
    ]
    return [line for holds, line in checks if holds]


def size_line(fitted: Fit, template: str, *, known: bool) -> str:
    """How much of the arguments is shown."""
    total = words.count(fitted.total)
    return template.format(shown=words.count(fitted.shown), total=total if known else words.ABOUT.format(count=total))


def people_lines(call: CallView, *, with_digest: bool = True, rings: bool = True) -> list[str]:
    """Who asked, where, who approved so far; until when, and the digest.

    A message that mentions somebody rings, and a card below a root would ring once more: there the bare id stands.
    """
    who = words.mention(call.requester) if rings or not call.requester else words.quoted(call.requester)
    asked = [words.ASKED_BY.format(who=who)]
    if call.tenant:
        asked[0] += " " + words.IN_TENANT.format(tenant=words.named(call.tenant))
    if call.approvals_needed > 1:
        asked.append(_quorum(call))
    if call.thread_link and len(call.thread_link) <= limits.LINK and _LINK.fullmatch(call.thread_link):
        asked.append(f"<{escape_mrkdwn(call.thread_link)}|{words.OPEN_THREAD}>")
    by = [words.DECIDE_BY.format(when=words.moment(call.decide_by))] if _is_open(call) and call.decide_by else []
    by += [words.quoted(ids.digest_groups(call.digest), 40)] if call.digest and with_digest else []
    return [words.DOT.join(line) for line in (asked, by) if line]


def started_text(call: CallView) -> str:
    """What the policy has shown of the run's own context, a line for each name: for whom the tool acts, as it is claimed.

    Already literal. The names are the policy's, which has at most five of them.
    """
    told = (
        f"{name}: {words.NOT_GIVEN if value is None else cut_marked(on_one_line(value), limits.STARTED)}"
        for name, value in call.started_with
    )
    return "\n".join(told)


def mention_lines(wanted: tuple[str, ...]) -> list[str]:
    """Whom the policy wants told: people and user groups, by their ids and nothing that only looks like one."""
    people = [words.group_mention(each) or words.mention(each, "") for each in wanted]
    told = [each for each in people if each]
    return [words.FOR.format(who=" ".join(told))] if told else []


def state_lines(call: CallView) -> list[str]:
    """The state with its reason, then the decision; nothing for a call that simply waits."""
    if call.state is CallState.WAITING:
        return []
    state = words.STATES[call.state]
    line = f"{state}: {words.quoted(call.reason)}" if call.reason else state
    return [line, *([decision_line(call.decided, call.opened_at)] if call.decided else [])]


def notice_lines(call: CallView) -> list[str]:
    """Our own notices, few and short."""
    return [words.quoted(line) for line in call.notices[: limits.NOTICES] if line.strip()]


def decision_line(decided: Decided, opened_at: int | None) -> str:
    """Who decided what, when, and how long it took."""
    who = words.BY_PLACET if decided.user is None else words.mention(decided.user)
    parts = [words.BY_WHOM.format(done=words.DONE.get(decided.decision, decided.decision), who=who)]
    if decided.at is not None:
        parts.append(words.moment(decided.at))
        if opened_at is not None:
            parts.append(words.AFTER.format(span=words.span(decided.at - opened_at)))
    return words.DOT.join(parts)


def told(call: CallView) -> str | None:
    """The agent's description, if it adds anything: LangChain's default only repeats tool and arguments."""
    text = (call.description or "").split(f"\n\nTool: {call.tool}\nArgs: ")[0].strip()
    return None if text in ("", _REPEATED) else text


def is_question(call: CallView) -> bool:
    """Whether the agent asks something in a shape of its own, so that there is no tool to name."""
    return not call.tool


def final_arguments(call: CallView) -> str | None:
    """What ran or would run: after an edit, its arguments. Of a superseded call nothing was run from here."""
    if call.decided is None or call.state in (CallState.WAITING, CallState.SUPERSEDED):
        return call.arguments
    return call.arguments if call.decided.arguments is None else call.decided.arguments


def is_edited(call: CallView) -> bool:
    """Whether ``final_arguments`` are somebody's edit of what the agent proposed."""
    return call.original is not None or final_arguments(call) is not call.arguments


def changes(call: CallView) -> tuple[diffs.ArgumentChange, ...]:
    """Every argument of an edited call, before and after; nothing where there was no edit."""
    if not is_edited(call):
        return ()
    proposed = call.arguments if call.original is None else call.original
    before, after = (
        read_arguments(parse(source, call.masks), reach=limits.READ_ALL) for source in (proposed, final_arguments(call))
    )
    return diffs.compare(before, after)


def draw_edit(call: CallView) -> diffs.DiffRows:
    """What an edit changed, under a label that counts it; nothing where there was no edit."""
    return edit_drawn(changes(call)) if is_edited(call) else diffs.DiffRows([], 0, 0)


def edit_drawn(compared: tuple[diffs.ArgumentChange, ...]) -> diffs.DiffRows:
    """Changes under a label that counts them: all if a card has room for them, else a few, so that the buttons stay in sight."""
    total = len(diffs.changed_only(compared))
    changed = words.several(total, "change", "changes")
    label = words.EDITED_COUNT.format(changes=changed) if total else words.EDITED
    start = [elements.words(label, bold=True)]
    drawn = diffs.draw(compared, limits.CHANGES, value=limits.CHANGED_VALUE, start=start)
    if drawn.is_whole:
        return drawn
    return diffs.draw(compared, limits.CHANGES_PREVIEW, value=limits.CHANGED_PREVIEW, start=start)


def preview(call: CallView) -> list[Json]:
    """The first values that ran or would run, for lists of calls, marked where an edit put them there."""
    arguments = skimmed(final_arguments(call), call.masks, reach=limits.READ_ROOT)
    return rows.preview_elements(arguments, edited=is_edited(call))


def buttons(call: CallView, arguments: Arguments, offered: tuple[str, ...]) -> list[Json]:
    """One button for each decision, Approve first and the only primary one."""
    return [_button(call, arguments, decision) for decision in offered]


def label(verb: str, tool: str) -> str:
    """What a screen reader says for a button; the tool's name only where it is harmless."""
    name = words.LABEL_TOOL.format(verb=verb, tool=tool) if is_plain(tool) else ""
    return name if 0 < len(name) <= limits.BUTTON_LABEL else words.LABEL_THIS.format(verb=verb)


def _button(call: CallView, arguments: Arguments, decision: str) -> Json:
    verb = words.BUTTONS[decision]
    more: Json = {**_STYLES.get(decision, {}), "accessibility_label": label(verb, call.tool)}
    if decision == "approve" and call.risk == "high":
        more["confirm"] = _confirm(call, arguments)
    return elements.button(verb, ids.ACTIONS[decision], call.showing, **more)


def confirm_text(call: CallView, arguments: Arguments, place: str) -> str:
    """What is asked before a high-risk call is approved, in fixed words.

    The tool and its target, the first argument, are named where they are plain identifiers; else it is said in which
    ``place`` (card or window) the target is to be read.
    """
    parts = [words.CONFIRM_TOOL.format(tool=call.tool)] if is_plain(call.tool) else []
    if arguments.rows:
        first = arguments.rows[0]
        name = first.name if is_plain(first.name) else words.CONFIRM_FIRST
        template = words.CONFIRM_TARGET if is_plain(first.text) else words.CONFIRM_SEE
        parts.append(template.format(name=name, value=first.text, place=place))
    return cut_plain(" ".join([*parts, words.CONFIRM]), limits.CONFIRM)


def confirm_lines(call: CallView, arguments: Arguments, offered: tuple[str, ...] = ("approve",)) -> list[str]:
    """The same as a line of a window, whose submit cannot ask once more; nothing where no high-risk call is approved."""
    if call.risk != "high":
        return []
    if "approve" not in offered:
        return [words.RISK]
    return [words.CONFIRM_IN_WINDOW.format(text=escape_mrkdwn(confirm_text(call, arguments, words.CONFIRM_WINDOW)))]


def edit_lines(call: CallView) -> list[str]:
    """What to know of an edit of this call's arguments, where it is typed and where it is approved."""
    return [words.EDIT_UNCHECKED] if call.unchecked else []


def _confirm(call: CallView, arguments: Arguments) -> Json:
    return {
        "title": elements.plain(words.CONFIRM_TITLE),
        "text": elements.plain(confirm_text(call, arguments, words.CONFIRM_CARD)),
        "confirm": elements.plain(words.CONFIRM_YES),
        "deny": elements.plain(words.CONFIRM_NO),
        "style": "danger",
    }


def _quorum(call: CallView) -> str:
    has = words.QUORUM.format(needed=call.approvals_needed, has=len(call.approvals))
    people = [words.mention(user) for user in call.approvals[: limits.PEOPLE]]
    return f"{has} ({', '.join(people)})" if people else has


def _is_open(call: CallView) -> bool:
    return call.state in (CallState.WAITING, CallState.DECIDED, CallState.READ_ONLY)

"""The text that stands beside the blocks: what screen readers read and notifications show.

It exists because for some people this text is the whole card. It says everything that a decision needs, or says that
it does not. Chat.update refuses more than 4,000 characters of it. It must not know the blocks.
"""

from blocks import call as said
from blocks import limits, words
from blocks.args import Arguments, Parsed, name_text, one_line, skimmed
from blocks.models import CallState, CallView, RootView
from blocks.rows import preview
from blocks.text import blanks_counted, cut, cut_marked, escape_mrkdwn, units


def card_text(call: CallView, parsed: Parsed, arguments: Arguments) -> tuple[str, bool]:
    """The text of a card, and whether tool and arguments are in it in full."""
    read_out, whole, note = _read_out(parsed, arguments)
    tool, tool_whole = _tool(call, limits.TOOL)
    named = [] if said.is_question(call) else [words.FALLBACK_TOOL.format(tool=tool)]
    parts = [_opening(call), *named, *said.people_lines(call, rings=call.total == 1)[:1]]
    if call.state is CallState.WAITING and call.decide_by:
        parts.append(words.DECIDE_BY.format(when=words.moment(call.decide_by)))
    if call.started_with:
        values = escape_mrkdwn(said.started_text(call).replace("\n", ", "))
        parts.append(words.FALLBACK_STARTED.format(values=values))
    lines = [" ".join(_ended(part) for part in parts)]
    template = words.FALLBACK_EDITED if said.is_edited(call) else words.FALLBACK_ARGUMENTS
    template = words.FALLBACK_QUESTION if said.is_question(call) else template
    lines.append(template.format(arguments=read_out))
    missing = [f"{words.POLICY_LINE}:\n{escape_mrkdwn(call.policy_line)}"] if call.policy_line else []
    text = "\n".join([*lines, *note, *missing, *said.notice_lines(call)])
    return cut_marked(text, limits.FALLBACK), whole and tool_whole


def root_text(root: RootView, title: str, progress: str) -> str:
    """The text of the message above a batch: each call with its state, tool and final values, as far as it fits."""
    lines = [f"{escape_mrkdwn(title)}. {progress}."]
    for call in root.calls[: limits.FALLBACK_CALLS]:
        tool = words.QUESTION if said.is_question(call) else _tool(call, limits.ROOT_TOOL)[0]
        values, whole = preview(skimmed(said.final_arguments(call), call.masks, reach=limits.READ_ROOT))
        told = f"{escape_mrkdwn(blanks_counted(values))}{'' if whole else ' …'}"
        edited = f"{words.EDITED_MARK} " if said.is_edited(call) else ""
        line = f"{call.position + 1}. {words.STATE_WORDS[call.state]}: {tool}"
        lines.append(f"{line}, {edited}{told}" if told else line)
    more = len(root.calls) - limits.FALLBACK_CALLS
    lines += [words.AND_MORE.format(count=words.count(more))] if more > 0 else []
    return cut_marked("\n".join(lines), limits.FALLBACK)


def _opening(call: CallView) -> str:
    title = escape_mrkdwn(said.heading(call))
    if call.state is CallState.WAITING:
        return words.FALLBACK_WAITING.format(title=title)
    return " ".join(_ended(line) for line in [title, *said.state_lines(call)]).replace("*", "")


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _tool(call: CallView, limit: int) -> tuple[str, bool]:
    name = escape_mrkdwn(blanks_counted(name_text(call.tool[: limit + 1])))
    return cut_marked(name, limit), units(name) <= limit


def _read_out(parsed: Parsed, arguments: Arguments) -> tuple[str, bool, list[str]]:
    text, whole = one_line(parsed, limits.FALLBACK_ARGUMENTS)
    text = escape_mrkdwn(blanks_counted(text))
    note = [words.FALLBACK_HIDDEN] if arguments.suspected else []
    if whole and units(text) <= limits.FALLBACK_ARGUMENTS:
        return text or words.MISSING, not arguments.suspected, note
    kept = cut(text, limits.FALLBACK_ARGUMENTS)
    total = words.count(max(arguments.total, len(kept)))
    size = total if arguments.known else words.ABOUT.format(count=total)
    return f"{kept} …", False, [words.FALLBACK_CUT.format(shown=words.count(len(kept)), total=size), *note]

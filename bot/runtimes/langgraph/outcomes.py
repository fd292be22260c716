"""What became of each call, read from the thread's messages.

The agent server's own word is the ToolMessage under a call's id: its status and LangChain's marker tell a real run
from a rejection and from a human's answer, which look alike otherwise. Nothing here looks at runs or threads: what a
result proves about a dispatch is for `bot.runtimes.langgraph.verdict`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.json import JsonProblem, canonical, dump, parse
from bot.core.model import DecisionType, Outcome

MAX_TEXT = 20_000
LINES, LINES_CHARS = 3, 300
CUT = re.compile(r"… \(\d+ more characters\)\Z")
MARKER = "hitl_interrupt_decision"
EDIT_NOTICE = "Note: a human reviewer replaced this tool call"
EDIT_NOTICE_END = "Tool response:"
STOCK_REJECTION = "User rejected the tool call for `"
_DECIDED = {"reject": Outcome.REJECTED, "respond": Outcome.ANSWERED}


@dataclass(frozen=True, slots=True)
class CallResult:
    """One call's ToolMessage.

    `edited` is the state's word on whether a reviewer replaced the call, None where it has none (per-call mode);
    `noticed` is LangChain's notice in the text, which a deployment may switch off and a tool's own output can imitate.
    `says_rejected`: the stock sentence of a rejection without the marker, as older versions write it.
    """

    outcome: Outcome
    text: str
    edited: bool | None = None
    edited_args: str | None = None
    noticed: bool = False
    says_rejected: bool = False

    @property
    def lines(self) -> str:
        """The first lines, for tenants whose policy shows that much of a result."""
        return first_lines(self.text)


def first_lines(text: str) -> str:
    """At most three lines and 300 characters, with an ellipsis where something is left out."""
    kept = "\n".join(text.splitlines()[:LINES])[:LINES_CHARS]
    return kept if len(kept) >= len(text.rstrip("\n")) else f"{kept}…"


def call_results(
    messages: Iterable[Any], tool_call_ids: Sequence[str | None], *, edited: Mapping[str, Any] | None = None
) -> tuple[CallResult | None, ...]:
    """The result of each call, None where none is visible (also where the call's id is not known).

    `edited` is the state's `hitl_edited_tool_calls`, None where the state has no such key; it covers the thread's
    last decided turn only. The newest message counts if an id has several, and none from before the call was made: some
    agents count their ids anew in each turn.
    """
    found = _answers_to(messages)
    return tuple(_result(found.get(call_id), call_id, edited) if call_id else None for call_id in tool_call_ids)


def answer_text(messages: Iterable[Any], tool_call_id: str | None) -> str | None:
    """All of what stands as a call's result, however long; None where no message answers the call."""
    found = _answers_to(messages).get(tool_call_id) if tool_call_id else None
    return None if found is None else content_text(found.get("content"))


def own_words(text: str) -> str:
    """The result of an edited call without LangChain's notice that goes before it: the agent needs that, people do not."""
    if not text.startswith(EDIT_NOTICE):
        return text
    return text.partition(f"\n\n{EDIT_NOTICE_END}")[2].strip("\n")


def is_whole(text: str) -> bool:
    """Whether a result that is kept is all of it; a tool that ends its own words as a cut one ends is only read again."""
    return CUT.search(text) is None


def _answers_to(messages: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """The newest message under each call's id that stands after the call itself."""
    found: dict[str, dict[str, Any]] = {}
    for message in messages:
        if _is_ai(message):
            for call in _calls_in(message):
                found.pop(_text(call.get("id")) or "", None)
        elif (call_id := _answers(message)) is not None:
            found[call_id] = message
    return found


def _is_ai(message: Any) -> bool:
    return isinstance(message, dict) and message.get("type") in ("ai", "AIMessageChunk")


def _calls_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    listed = message.get("tool_calls")
    return [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []


def _answers(message: Any) -> str | None:
    if not isinstance(message, dict) or message.get("type") not in ("tool", "ToolMessageChunk"):
        return None
    call_id = message.get("tool_call_id")
    return call_id if isinstance(call_id, str) else None


def _result(message: dict[str, Any] | None, call_id: str, edited: Mapping[str, Any] | None) -> CallResult | None:
    if message is None:
        return None
    text = content_text(message.get("content"))
    decided = _DECIDED.get(_marked(message))
    outcome = decided or (Outcome.FAILED if message.get("status") == "error" else Outcome.EXECUTED)
    replaced = None if edited is None else edited.get(call_id)
    return CallResult(
        outcome,
        _bounded(text),
        edited=None if edited is None else replaced is not None,
        edited_args=dump(replaced["args"]) if isinstance(replaced, dict) and "args" in replaced else None,
        noticed=text.startswith(EDIT_NOTICE),
        says_rejected=outcome is Outcome.FAILED and text.startswith(STOCK_REJECTION),
    )


def _marked(message: dict[str, Any]) -> str:
    """The human decision that LangChain says this message stands for, "" for a tool's own result."""
    extra = message.get("additional_kwargs")
    if not isinstance(extra, dict) or extra.get("lc_source") != MARKER:
        return ""
    noted = extra.get("lc_data")
    decision = noted.get("decision") if isinstance(noted, dict) else None
    return decision if isinstance(decision, str) else ""


def content_text(content: Any) -> str:
    """A message's content as text: a string as it is, blocks joined, anything else as JSON."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else dump(content)
    return "\n".join(_block(block) for block in content)


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    return dump(block)


def _bounded(text: str) -> str:
    left_out = len(text) - MAX_TEXT
    return text if left_out <= 0 else f"{text[:MAX_TEXT]}… ({left_out} more characters)"


def explained(
    result: CallResult, decision: DecisionType, *, final_args: str | None = None, said: str | None = None
) -> Outcome | None:
    """The outcome, if this result is what the decision sent asks for; None if it is not, or cannot be told.

    `said` is the reason or the answer as it was sent. LangChain before 1.5.2 writes an answer as a plain success, and
    before 1.4 a reason as the whole of an error, both without a marker, so the words that were sent tell. An approval
    counts as overruled only by the state's word, never by a notice in the text, which a tool could print.
    """
    ran = result.outcome in (Outcome.EXECUTED, Outcome.FAILED)
    own = said is not None and result.text == _bounded(said)
    match decision:
        case DecisionType.APPROVE:
            return result.outcome if ran and not result.edited and not result.says_rejected else None
        case DecisionType.EDIT:
            replaced = result.edited is not False or result.noticed
            fits = ran and replaced and _same_values(result.edited_args, final_args) and not result.says_rejected
            return result.outcome if fits else None
        case DecisionType.REJECT:
            theirs = result.outcome is Outcome.FAILED and (own or result.says_rejected)
            return Outcome.REJECTED if result.outcome is Outcome.REJECTED or theirs else None
    plain = result.outcome is Outcome.EXECUTED and own
    return Outcome.ANSWERED if result.outcome is Outcome.ANSWERED or plain else None


def unopposed(result: CallResult, decision: DecisionType, *, final_args: str | None = None) -> Outcome:
    """The outcome of a call whose result our answer does not explain, though it was the only one that there was.

    A tool that asks for itself (`interrupt()`) writes what it likes once it is answered. An error after a rejection is
    the rejection; a plain result after an approval says that it ran. What is left was taken, and nobody can say more.
    """
    if decision is DecisionType.REJECT and result.outcome is Outcome.FAILED:
        return Outcome.REJECTED
    to_run = decision in (DecisionType.APPROVE, DecisionType.EDIT)
    ran = result.outcome in (Outcome.EXECUTED, Outcome.FAILED)
    other = result.edited if decision is DecisionType.APPROVE else not _same_values(result.edited_args, final_args)
    return result.outcome if to_run and ran and not other else Outcome.TAKEN


def _same_values(seen: str | None, sent: str | None) -> bool:
    """Whether both say the same; the server's numbers come back re-spelled (12.70 as 12.7), so by value."""
    if seen is None or sent is None:
        return True
    return json.dumps(json.loads(seen), sort_keys=True) == json.dumps(json.loads(sent), sort_keys=True)


def tool_call_ids(messages: Sequence[Any], calls: Sequence[tuple[str, Any]]) -> tuple[str | None, ...]:
    """The id of each proposed call `(tool, args)`, args as source text, as a tree, or None to match by name alone.

    An interrupt carries no ids and leaves ungated calls out, so its calls are a subsequence of the last AI message's.
    A position whose match is not the only possible one stays None, and so does an id that several calls of the message
    bear: another call's result is worse than none.
    """
    proposed = _last_calls(messages)
    wanted = [(name, _comparable(args)) for name, args in calls]
    forward = _matched(proposed, wanted)
    backward = _matched(proposed[::-1], wanted[::-1])
    if forward is None or backward is None:
        return (None,) * len(calls)
    last = len(proposed) - 1
    pairs = zip(forward, (last - index for index in reversed(backward)), strict=True)
    found = (proposed[first][2] if first == other else None for first, other in pairs)
    return tuple(call_id if is_only_one(messages, call_id) else None for call_id in found)


def call_ids_of(messages: Iterable[Any]) -> frozenset[str]:
    """The ids of all calls that these messages make."""
    calls = (call for message in messages if _is_ai(message) for call in _calls_in(message))
    return frozenset(call_id for call in calls if (call_id := _text(call.get("id"))))


def is_only_one(messages: Sequence[Any], call_id: str | None) -> bool:
    """Whether no other call of the last AI message bears this id; an agent is not bound to make them unique."""
    return [one for _, _, one in _last_calls(messages)].count(call_id) <= 1


def _last_calls(messages: Sequence[Any]) -> list[tuple[str, bytes | None, str | None]]:
    """Name, comparable arguments and id of each call in the last AI message."""
    last: dict[str, Any] = next((message for message in reversed(messages) if _is_ai(message)), {})
    calls = _calls_in(last)
    return [(_text(call.get("name")) or "", _comparable(call.get("args")), _text(call.get("id"))) for call in calls]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _comparable(args: Any) -> bytes | None:
    """Canonical bytes of arguments given as source text or as a tree; None means any."""
    if args is None:
        return None
    try:
        return canonical(parse(args, constants=True) if isinstance(args, str) else args)
    except JsonProblem:
        return b""


def _matched(
    proposed: Sequence[tuple[str, bytes | None, str | None]], wanted: Sequence[tuple[str, bytes | None]]
) -> list[int] | None:
    """Where each wanted call stands in `proposed`, taking the first fit; None unless all fit in order."""
    places: list[int] = []
    start = 0
    for name, args in wanted:
        fits = (
            index
            for index in range(start, len(proposed))
            if proposed[index][0] == name and (args is None or proposed[index][1] == args)
        )
        place = next(fits, None)
        if place is None:
            return None
        places.append(place)
        start = place + 1
    return places

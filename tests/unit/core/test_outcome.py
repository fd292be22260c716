from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.json import Number, canonical
from bot.core.model import DecisionType, Outcome
from bot.runtimes.langgraph.outcomes import (
    EDIT_NOTICE,
    MAX_TEXT,
    CallResult,
    answer_text,
    call_results,
    content_text,
    explained,
    first_lines,
    is_whole,
    own_words,
    tool_call_ids,
    unopposed,
)

APPROVE, EDIT, REJECT, RESPOND = DecisionType


def tool(call_id: str = "c1", content: Any = "done", status: str = "success", decided: str = "") -> dict[str, Any]:
    marker = {"lc_source": "hitl_interrupt_decision", "lc_data": {"decision": decided}} if decided else {}
    return {
        "type": "tool",
        "tool_call_id": call_id,
        "content": content,
        "status": status,
        "additional_kwargs": marker,
    }


def result_of(message: dict[str, Any], **how: Any) -> CallResult:
    (found,) = call_results([message], ["c1"], **how)
    assert found is not None
    return found


# -- what one message says


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        (tool(), Outcome.EXECUTED),
        (tool(status="error", content="Error invoking tool"), Outcome.FAILED),
        (tool(status="error", decided="reject"), Outcome.REJECTED),
        (tool(decided="respond"), Outcome.ANSWERED),
        (tool(decided="something new"), Outcome.EXECUTED),
        ({"type": "tool", "tool_call_id": "c1"}, Outcome.EXECUTED),
        ({**tool(), "additional_kwargs": {"lc_source": "hitl_interrupt_decision", "lc_data": 7}}, Outcome.EXECUTED),
        ({**tool(), "additional_kwargs": {"lc_source": "else", "lc_data": {"decision": "reject"}}}, Outcome.EXECUTED),
    ],
)
def test_the_marker_and_the_status_tell_what_became_of_a_call(message: dict[str, Any], outcome: Outcome) -> None:
    assert result_of(message).outcome is outcome


def test_a_result_stands_under_its_own_calls_id() -> None:
    messages = [{"type": "ai"}, "odd", {"type": "tool"}, tool("c2", "two"), tool("c1", "one")]

    first, second, third, unnamed = call_results(messages, ["c1", "c2", "c3", None])

    assert (first and first.text, second and second.text, third, unnamed) == ("one", "two", None, None)


def test_the_newest_message_of_a_call_counts() -> None:
    (found,) = call_results([tool(content="old"), tool(content="new")], ["c1"])

    assert found is not None
    assert found.text == "new"


def test_a_rejection_in_the_stock_words_without_the_marker_is_noted_and_not_believed() -> None:
    found = result_of(tool(status="error", content="User rejected the tool call for `x` with reason: no"))

    assert (found.outcome, found.says_rejected) == (Outcome.FAILED, True)


@pytest.mark.parametrize(
    ("edited", "seen", "args"),
    [
        (None, None, None),
        ({}, False, None),
        ({"c2": {"name": "x", "args": {}}}, False, None),
        ({"c1": {"name": "x", "args": {"n": Number("1.50")}}}, True, '{"n":1.50}'),
        ({"c1": "odd"}, True, None),
    ],
)
def test_the_states_map_tells_whether_a_call_was_replaced(edited: Any, seen: bool | None, args: str | None) -> None:
    found = result_of(tool(), edited=edited)

    assert (found.edited, found.edited_args) == (seen, args)


def test_the_notice_of_an_edit_is_noted() -> None:
    assert result_of(tool(content=f"{EDIT_NOTICE} before it ran.\ndone")).noticed


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (["a", {"type": "text", "text": "b"}, {"type": "image"}], 'a\nb\n{"type":"image"}'),
        ({"a": Number("1.0")}, '{"a":1.0}'),
    ],
)
def test_any_content_becomes_text(content: Any, text: str) -> None:
    assert content_text(content) == text


def test_all_of_a_result_can_be_had_from_the_messages_however_long() -> None:
    long = "x" * 1_000_000
    messages = [tool("c1", "old"), tool("c2", "other"), tool("c1", long)]
    assert answer_text(messages, "c1") == long
    assert answer_text(messages, "c3") is None
    assert answer_text(messages, None) is None


def test_the_tools_own_words_stand_after_the_notice_of_an_edit() -> None:
    notice = "Note: a human reviewer replaced this tool call before it ran. Executed instead: f with arguments {}."
    assert (
        own_words(f"{notice}\n\nTool response:\nrefunded 12.7\n\nTool response: x")
        == "refunded 12.7\n\nTool response: x"
    )
    assert own_words(notice) == ""
    assert own_words("Note: all is well") == "Note: all is well"


def test_a_kept_result_tells_whether_it_is_all() -> None:
    assert is_whole(result_of(tool(content="done")).text)
    assert not is_whole(result_of(tool(content="x" * 20_001)).text)


def test_a_result_without_end_is_cut_and_says_by_how_much() -> None:
    found = result_of(tool(content="x" * (MAX_TEXT + 5)))

    assert found.text.endswith("x… (5 more characters)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one", "one"),
        ("one\ntwo\nthree\n", "one\ntwo\nthree"),
        ("1\n2\n3\n4", "1\n2\n3…"),
        ("x" * 301, "x" * 300 + "…"),
    ],
)
def test_first_lines_are_few_and_say_when_something_is_missing(text: str, shown: str) -> None:
    assert first_lines(text) == CallResult(Outcome.EXECUTED, text).lines == shown


# -- what it proves of a decision


def result(outcome: Outcome = Outcome.EXECUTED, **more: Any) -> CallResult:
    return CallResult(outcome, "text", **more)


@pytest.mark.parametrize(
    ("decision", "seen"),
    [
        (APPROVE, result()),
        (APPROVE, result(Outcome.FAILED)),
        (APPROVE, result(edited=False)),
        (APPROVE, result(noticed=True)),
        (EDIT, result(edited=True)),
        (EDIT, result(Outcome.FAILED, edited=True)),
        (EDIT, result(edited=None)),
        (EDIT, result(edited=False, noticed=True)),
        (REJECT, result(Outcome.REJECTED)),
        (REJECT, result(Outcome.FAILED, says_rejected=True)),
        (RESPOND, result(Outcome.ANSWERED)),
    ],
)
def test_a_result_as_asked_for_bears_the_decision_out(decision: DecisionType, seen: CallResult) -> None:
    assert explained(seen, decision) is not None


@pytest.mark.parametrize(
    ("decision", "seen"),
    [
        (APPROVE, result(Outcome.REJECTED)),
        (APPROVE, result(Outcome.ANSWERED)),
        (APPROVE, result(edited=True)),
        (EDIT, result(Outcome.REJECTED)),
        (EDIT, result(edited=False)),
        (REJECT, result()),
        (REJECT, result(Outcome.FAILED)),
        (REJECT, result(Outcome.ANSWERED)),
        (APPROVE, result(Outcome.FAILED, says_rejected=True)),
        (RESPOND, result()),
        (RESPOND, result(Outcome.REJECTED)),
    ],
)
def test_a_result_of_another_answer_does_not(decision: DecisionType, seen: CallResult) -> None:
    assert explained(seen, decision) is None


@pytest.mark.parametrize(
    ("seen", "sent", "same"),
    [
        ('{"a":12.7,"b":1}', '{"b":1,"a":12.70}', True),
        ('{"a":1000.0}', '{"a":1e3}', True),
        ('{"a":1}', '{"a":2}', False),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":true}', '{"a":1}', False),
        (None, '{"a":1}', True),
        ('{"a":1}', None, True),
    ],
)
def test_an_edit_is_borne_out_by_its_own_values_however_spelled(seen: str, sent: str, same: bool) -> None:
    assert (explained(result(edited=True, edited_args=seen), EDIT, final_args=sent) is not None) is same


# What the middleware writes under a call's id when it was rejected or answered, by LangChain's version; the versions
# before 1.5.2 set no marker. `SAID` is the reason or the answer as it was sent.
SAID = "A human reviewer rejected this call and it was not executed. Their reason: no"
STOCK = "User rejected the tool call for `x` with id c1"
WRITTEN = [
    ("1.0.0", REJECT, SAID, tool(content=SAID, status="error"), Outcome.REJECTED),
    ("1.0.0", REJECT, None, tool(content=STOCK, status="error"), Outcome.REJECTED),
    ("1.3.0", REJECT, SAID, tool(content=SAID, status="error"), Outcome.REJECTED),
    ("1.3.0", RESPOND, "the second one", tool(content="the second one"), Outcome.ANSWERED),
    (
        "1.5.1",
        REJECT,
        "no",
        tool(content="User rejected the tool call for `x` with reason: no", status="error"),
        Outcome.REJECTED,
    ),
    ("1.5.1", RESPOND, "the second one", tool(content=[{"type": "text", "text": "the second one"}]), Outcome.ANSWERED),
    ("1.5.2", REJECT, "no", tool(content="anything", status="error", decided="reject"), Outcome.REJECTED),
    ("1.5.2", RESPOND, "yes", tool(content="yes", decided="respond"), Outcome.ANSWERED),
    ("JavaScript", REJECT, "no", tool(content="no", status="error"), Outcome.REJECTED),
]


@pytest.mark.parametrize(("version", "decision", "said", "message", "outcome"), WRITTEN)
def test_every_version_s_way_of_writing_our_own_answer_is_ours(
    version: str, decision: DecisionType, said: str | None, message: dict[str, Any], outcome: Outcome
) -> None:
    assert explained(result_of(message), decision, said=said) is outcome, version


def test_a_long_reason_is_its_own_though_what_is_kept_of_it_is_cut() -> None:
    long = "x" * (2 * MAX_TEXT)

    assert explained(result_of(tool(content=long, status="error")), REJECT, said=long) is Outcome.REJECTED


@pytest.mark.parametrize(
    ("decision", "seen", "outcome"),
    [
        (REJECT, result(Outcome.FAILED), Outcome.REJECTED),
        (REJECT, result(), Outcome.TAKEN),
        (REJECT, result(Outcome.ANSWERED), Outcome.TAKEN),
        (RESPOND, result(), Outcome.TAKEN),
        (RESPOND, result(Outcome.FAILED), Outcome.TAKEN),
        (APPROVE, result(Outcome.REJECTED), Outcome.TAKEN),
        (APPROVE, result(edited=True), Outcome.TAKEN),
        (APPROVE, result(Outcome.FAILED, says_rejected=True), Outcome.FAILED),
        (EDIT, result(edited=False), Outcome.EXECUTED),
        (EDIT, result(edited=True, edited_args='{"n":2}'), Outcome.TAKEN),
    ],
)
def test_what_nobody_else_can_have_answered_is_told_no_more_surely_than_it_is_known(
    decision: DecisionType, seen: CallResult, outcome: Outcome
) -> None:
    assert unopposed(seen, decision, final_args='{"n":1}') is outcome


# -- which call is which


def test_a_result_from_before_the_call_was_made_is_another_calls() -> None:
    again = [ai(("x", {}, "c1")), tool("c1", "first"), {"type": "human"}, ai(("x", {}, "c1"))]

    assert call_results(again, ["c1"]) == (None,)
    assert answer_text(again, "c1") is None
    assert answer_text([*again, tool("c1", "second")], "c1") == "second"


def test_an_id_that_two_calls_of_a_turn_bear_names_neither() -> None:
    twins = [ai(("x", {"n": Number("1")}, "c1"), ("y", {}, "c1"), ("z", {}, "c2"))]

    assert tool_call_ids(twins, [("x", None), ("y", None), ("z", None)]) == (None, None, "c2")
    assert tool_call_ids(twins, [("y", None)]) == (None,)


def ai(*calls: tuple[str, Any, str]) -> dict[str, Any]:
    return {"type": "ai", "tool_calls": [{"name": name, "args": args, "id": call_id} for name, args, call_id in calls]}


A, B, C = ("x", {"n": Number("1")}, "c1"), ("y", {"n": Number("2")}, "c2"), ("x", {"n": Number("3")}, "c3")


@pytest.mark.parametrize(
    ("calls", "ids"),
    [
        ([("x", '{"n":1}'), ("y", '{ "n" : 2 }'), ("x", {"n": Number("3")})], ("c1", "c2", "c3")),
        ([("x", '{"n":1}'), ("x", '{"n":3}')], ("c1", "c3")),
        ([("y", None)], ("c2",)),
        ([], ()),
        ([("x", '{"n":3}'), ("x", '{"n":1}')], (None, None)),
        ([("z", '{"n":1}')], (None,)),
        ([("x", '{"n":1.0}')], (None,)),
        ([("x", "no json")], (None,)),
        ([("x", None)], (None,)),
    ],
)
def test_proposed_calls_are_a_subsequence_of_the_messages(calls: list[Any], ids: tuple[Any, ...]) -> None:
    assert tool_call_ids([ai(A, B, C)], calls) == ids


def test_only_the_last_ai_message_is_looked_at() -> None:
    assert tool_call_ids([ai(A), ai(B), {"type": "tool"}, "odd"], [("x", '{"n":1}')]) == (None,)


def test_twins_are_told_apart_only_when_all_of_them_are_asked_about() -> None:
    twins = ai(("x", {}, "c1"), ("x", {}, "c2"))

    assert tool_call_ids([twins], [("x", "{}"), ("x", "{}")]) == ("c1", "c2")
    assert tool_call_ids([twins], [("x", "{}")]) == (None,)


@pytest.mark.parametrize(
    "messages",
    [[], [{"type": "ai"}], [{"type": "ai", "tool_calls": ["odd", {"name": 7, "args": None}]}], [{"type": "human"}]],
)
def test_messages_without_calls_name_none(messages: list[Any]) -> None:
    assert tool_call_ids(messages, [("x", "{}")]) == (None,)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 2), st.booleans()), max_size=8))
def test_an_id_is_never_that_of_another_call(proposed: list[tuple[str, int, bool]]) -> None:
    message = ai(*((name, {"n": Number(str(n))}, f"c{index}") for index, (name, n, _) in enumerate(proposed)))
    gated = [index for index, (*_, asked) in enumerate(proposed) if asked]

    found = tool_call_ids([message], [(proposed[index][0], f'{{"n":{proposed[index][1]}}}') for index in gated])

    assert all(call_id in (None, f"c{index}") for call_id, index in zip(found, gated, strict=True))


def test_argument_trees_compare_as_their_source_text() -> None:
    assert canonical({"n": Number("1")}) == b'{"n":1}'

import json
from typing import Any

import pytest

from bot.core.json import Number
from bot.runtimes.langgraph import wire
from bot.runtimes.langgraph.wire import PendingInterrupt, UnreadableBody
from tests.kit.agent_shapes import IID, IID_2, ai, asked, call, interrupt, run, state, task, tool


def read(value: Any) -> wire.ThreadState:
    return wire.thread_state(wire.tree(json.dumps(value).encode()))


def only(value: Any) -> PendingInterrupt:
    (found,) = read(value).pending
    return found


def test_a_paused_thread_lists_its_interrupt_with_its_task() -> None:
    one = only(state(task(interrupt())))

    assert (one.id, one.task_name, one.task_error) == (IID, "HumanInTheLoopMiddleware.after_model", None)


def test_an_error_of_the_task_comes_with_its_interrupt() -> None:
    assert only(state(task(interrupt(), error="ValueError('no')"))).task_error == "ValueError('no')"


def test_an_error_that_is_no_text_is_still_an_error() -> None:
    assert only(state(task(interrupt(), error={"a": 1}))).task_error == '{"a":1}'


def test_interrupts_are_counted_not_tasks() -> None:
    found = read(state(task(interrupt(), interrupt(IID_2)))).pending

    assert [one.id for one in found] == [IID, IID_2]


def test_the_same_interrupt_listed_twice_is_one() -> None:
    assert len(read(state(task(interrupt()), task(interrupt(), task_id="task-2"))).pending) == 1


def test_two_values_under_one_id_are_both_kept() -> None:
    found = read(state(task(interrupt(value=asked("a")), interrupt(value=asked("b"))))).pending

    assert [one.value["action_requests"][0]["name"] for one in found] == ["a", "b"]


def test_an_interrupt_that_no_task_lists_is_found_in_the_states_own_list() -> None:
    one = only(state(interrupts=[interrupt()]))

    assert (one.id, one.task_id) == (IID, "")


def test_an_interrupt_without_an_id_or_a_frame_is_kept_as_it_is() -> None:
    found = read(state(task("May I?", {"value": 7}))).pending

    assert [(one.id, one.value) for one in found] == [("", "May I?"), ("", Number("7"))]


def test_a_response_schema_is_kept_where_the_server_shows_one() -> None:
    assert only(state(task(interrupt(response_schema={"type": "object"})))).response_schema == {"type": "object"}


def test_numbers_stay_as_the_server_wrote_them() -> None:
    body = b'{"tasks":[{"interrupts":[{"id":"x","value":[12.70,1e3,12345678901234567890,NaN]}]}]}'
    (one,) = wire.thread_state(wire.tree(body)).pending

    assert [item.text for item in one.value] == ["12.70", "1e3", "12345678901234567890", "NaN"]


def nested(*messages: Any, **more: Any) -> dict[str, Any]:
    inner = state(task(interrupt(), task_id="inner"), messages=messages)
    return task(interrupt(), name="branch", task_id="outer", state=inner, **more)


def test_an_interrupt_of_a_branch_is_placed_in_its_innermost_task() -> None:
    one = only(state(nested(checkpoint={"checkpoint_ns": "branch:outer"})))

    assert (one.task_id, one.task_name, one.checkpoint_ns) == (
        "inner",
        "HumanInTheLoopMiddleware.after_model",
        "branch:outer",
    )


def test_an_error_of_the_branch_reaches_its_interrupt() -> None:
    assert only(state(nested(error="boom"))).task_error == "boom"


def test_messages_of_an_interrupt_end_with_those_of_its_own_branch() -> None:
    other = task(name="branch", task_id="other", state=state(messages=[ai(call("other"))]))
    seen = read(state(nested(ai(call())), other, messages=[ai()]))

    assert seen.messages_for(seen.pending[0]) == (ai(), ai(call()))


def test_all_messages_hold_those_of_branches_and_of_finished_tasks() -> None:
    finished = task(name="tools", result={"messages": [tool("call_9")]})
    seen = read(state(nested(ai(call())), finished, messages=[ai()]))

    assert seen.all_messages == (ai(), ai(call()), tool("call_9"))


def test_a_branch_namespace_is_also_read_where_aegra_shows_it() -> None:
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": "branch:1"}}

    assert only(state(task(interrupt(), name="branch", state=config))).checkpoint_ns == "branch:1"


def test_nesting_without_end_is_read_to_a_depth_and_no_further() -> None:
    deep = state(task(interrupt()))
    for _ in range(40):
        deep = state(task(name="branch", state=deep))

    assert read(deep).pending == ()


def test_the_checkpoint_is_named_by_either_key() -> None:
    old = {**state(), "checkpoint_id": None, "checkpoint": {"checkpoint_id": "cp-9"}}

    assert (read(state()).checkpoint_id, read(old).checkpoint_id) == ("cp-2", "cp-9")


def test_edited_calls_are_told_apart_from_a_state_without_the_key() -> None:
    some = state()
    some["values"]["hitl_edited_tool_calls"] = {}

    assert (read(state()).edited_tool_calls, read(some).edited_tool_calls) == (None, {})


def test_the_mark_of_the_writing_run_is_read_from_the_metadata() -> None:
    assert read(state(metadata={"placet_dispatch": "d_1"})).dispatch == "d_1"


@pytest.mark.parametrize(
    "value",
    [{}, [], None, "x", 7, {"detail": "Not Found"}, {"tasks": {}}, {"values": {}, "tasks": "none"}],
)
def test_a_body_that_is_no_state_is_unreadable(value: Any) -> None:
    with pytest.raises(UnreadableBody):
        read(value)


@pytest.mark.parametrize(
    "value",
    [
        {"values": None, "tasks": []},
        {"values": {"messages": "none"}, "tasks": [None, 7, {}]},
        {"tasks": [{"interrupts": {"a": 1}, "state": [], "result": 3}], "next": None, "metadata": []},
    ],
)
def test_odd_parts_of_a_state_count_as_missing(value: Any) -> None:
    seen = read(value)

    assert (seen.messages, seen.pending, seen.all_messages) == ((), (), ())


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b'{"a":1,"a":2}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableBody):
        wire.tree(body)


def rows(*items: Any) -> Any:
    return wire.tree(json.dumps(items).encode())


MARK = {"placet_dispatch": "d_1", "placet_attempt": 2}


@pytest.mark.parametrize(
    "where",
    [
        {"config": {"metadata": MARK}},
        {"metadata": {"owner": "a", **MARK}},
        {"kwargs": {"config": {"metadata": MARK}}},
        {"config": {"metadata": {}}, "metadata": MARK},
    ],
)
def test_our_mark_is_found_wherever_a_server_shows_it(where: dict[str, Any]) -> None:
    (one,) = wire.run_rows(rows(run(**where)))

    assert (one.dispatch, one.attempt) == ("d_1", 2)


@pytest.mark.parametrize("where", [{}, {"config": None}, {"metadata": {"placet_dispatch": 7, "placet_attempt": "2"}}])
def test_a_run_without_our_mark_has_none(where: dict[str, Any]) -> None:
    (one,) = wire.run_rows(rows(run(**where)))

    assert (one.dispatch, one.attempt) == (None, None)


def test_times_are_milliseconds_whatever_their_spelling() -> None:
    spelled = [
        "2026-11-30T09:20:44.981222Z",
        "2026-11-30T09:20:44.981222+00:00",
        "2026-11-30T10:20:44.981+01:00",
        "2026-11-30T09:20:44.981",
    ]

    assert {wire.milliseconds(one) for one in spelled} == {1796030444981}


@pytest.mark.parametrize("spelled", [None, "", "soon", 5])
def test_what_is_no_time_is_none(spelled: Any) -> None:
    assert wire.milliseconds(spelled) is None


@pytest.mark.parametrize("value", [{}, [7], [{}], [{"run_id": ""}], [{"run_id": 7}], None])
def test_a_body_that_is_no_list_of_runs_is_unreadable(value: Any) -> None:
    with pytest.raises(UnreadableBody):
        wire.run_rows(wire.tree(json.dumps(value).encode()))


def test_a_thread_needs_nothing_but_its_id() -> None:
    full = {"thread_id": "t", "status": "busy", "updated_at": "2026", "metadata": {"slack_user": "U1"}, "user_id": "a"}

    assert wire.thread_rows(rows(full, {"thread_id": "u"})) == (
        wire.ThreadRow("t", "busy", "2026", {"slack_user": "U1"}),
        wire.ThreadRow("u", "", "", {}),
    )


def test_a_history_tells_who_wrote_each_checkpoint() -> None:
    entry = state(metadata={"run_id": "run-2", **MARK}, created_at="2026-11-30T09:20:44Z", next=["tools"])
    (one,) = wire.history_entries(rows(entry))

    assert (one.checkpoint_id, one.parent_id, one.at, one.run_id) == ("cp-2", "cp-1", 1_796_030_444_000, "run-2")
    assert (one.dispatch, one.attempt, one.next) == ("d_1", 2, ("tools",))


def test_a_history_entry_without_a_checkpoint_is_unreadable() -> None:
    with pytest.raises(UnreadableBody):
        wire.history_entries(rows({"values": {}}))


# -- whose an interrupt is, and what an error on its task says


def test_tasks_beside_each_other_that_list_one_interrupt_share_it() -> None:
    beside = task(interrupt(), task_id="task-2")

    assert only(state(task(interrupt()), beside)).shared
    assert only(state(nested(), task(interrupt(), name="branch", task_id="other"))).shared
    inner = state(task(interrupt(), task_id="a"), task(interrupt(), task_id="b"))
    assert only(state(task(interrupt(), name="branch", task_id="outer", state=inner))).shared


@pytest.mark.parametrize(
    "listed",
    [state(task(interrupt())), state(nested()), state(task(interrupt(), interrupt())), state(nested(error="x"))],
)
def test_an_interrupt_that_is_listed_again_on_its_own_way_is_nobody_elses(listed: dict[str, Any]) -> None:
    assert not only(listed).shared


def test_a_task_that_holds_an_answer_asks_again() -> None:
    assert not only(state(task(interrupt()))).answered
    assert only(state(task(interrupt()), next=[])).answered
    assert not only({"tasks": [task(interrupt())]}).answered


@pytest.mark.parametrize(
    ("name", "error", "refused"),
    [
        ("HumanInTheLoopMiddleware.after_model", "KeyError('decisions')", True),
        ("tools", "1 validation error for tagged-union[ApproveDecision,RejectDecision]\n  Input tag", True),
        ("tools", "1 validation error for ApproveDecision\ntype", True),
        ("tools", 'ValueError("Unexpected human decision: {}. Decision type")', True),
        ("branch", "ValueError('Number of human decisions (2) does not match')", True),
        ("tools", "RuntimeError('Unexpected human decision: no')", False),
        ("tools", "1 validation error for Payment\namount", False),
        ("tools", "RuntimeError('had its effect and failed')", False),
        ("HumanInTheLoopMiddleware.after_model", None, False),
    ],
)
def test_an_error_of_the_answer_is_told_from_one_of_the_tool(name: str, error: str | None, refused: bool) -> None:
    assert only(state(task(interrupt(), name=name, error=error))).answer_refused is refused


def test_the_errors_of_all_tasks_are_kept() -> None:
    inner = state(task(name="tools", error="RuntimeError('in')"))

    assert read(state(task(name="branch", error="RuntimeError('out')", state=inner), task())).errors == (
        "RuntimeError('out')",
        "RuntimeError('in')",
    )


@pytest.mark.parametrize(
    ("name", "namespace"), [("tools", "tools:task-1"), ("HumanInTheLoopMiddleware.after_model", "")]
)
def test_a_task_that_may_run_an_agent_by_itself_names_where_that_keeps_its_checkpoints(
    name: str, namespace: str
) -> None:
    assert only(state(task(interrupt(), name=name))).checkpoint_ns == namespace

"""Every shape of interrupt, read without guessing."""

from __future__ import annotations

import pytest

from bot.core.json import parse
from bot.core.model import InterruptShape
from bot.runtimes.langgraph.interrupts import parse_interrupt, parse_pending
from tests.kit.factories import (
    ALL,
    APPROVE,
    EDIT,
    INTERRUPT,
    OTHER_INTERRUPT,
    REJECT,
    RESPOND,
    make_batch,
    make_config,
    make_interrupt,
    make_request,
    tree,
)


def batch(requests, configs=None):
    return make_interrupt(value=make_batch(requests, configs))


def with_args(args):
    return batch([make_request() | {"args": args}])


def test_a_batched_interrupt_becomes_one_call_for_each_request_in_order():
    parsed = batch([make_request("a"), make_request("b"), make_request("c")])
    assert [(call.position, call.tool) for call in parsed.calls] == [(0, "a"), (1, "b"), (2, "c")]


def test_a_batched_interrupt_that_pairs_has_no_problem():
    parsed = batch([make_request("a"), make_request("b")])
    assert (parsed.shape, parsed.problem) == (InterruptShape.BATCHED, "")


def test_allowed_decisions_are_paired_by_position_where_one_tool_appears_twice():
    parsed = batch(
        [make_request("transfer"), make_request("transfer")],
        [make_config("transfer", ["approve", "reject"]), make_config("transfer", ["reject"])],
    )
    assert [call.allowed for call in parsed.calls] == [(APPROVE, REJECT), (REJECT,)]


@pytest.mark.parametrize("configs", [[make_config("a")], [make_config("a"), make_config("b"), make_config("b")], []])
def test_lists_of_unequal_length_leave_nothing_decidable(configs):
    parsed = batch([make_request("a"), make_request("b")], configs)
    assert parsed.problem == "configs_do_not_pair"
    assert [call.allowed for call in parsed.calls] == [(), ()]


@pytest.mark.parametrize("configs", [None, {}, "approve", 1, {"a": make_config("a")}])
def test_review_configs_that_are_no_list_leave_nothing_decidable(configs):
    value = make_batch([make_request("a")]) | {"review_configs": configs}
    assert make_interrupt(value=value).problem == "configs_do_not_pair"


def test_requests_without_any_review_configs_are_shown_and_not_decidable():
    parsed = make_interrupt(value={"action_requests": [make_request("a")]})
    assert (parsed.shape, parsed.calls[0].tool, parsed.problem) == (InterruptShape.BATCHED, "a", "configs_do_not_pair")


def test_a_misspelt_key_for_review_configs_is_the_same_as_none():
    value = {"action_requests": [make_request("a")], "review_config": [make_config("a")]}
    assert make_interrupt(value=value).problem == "configs_do_not_pair"


def test_configs_that_name_the_tools_in_another_order_are_not_paired_again_by_name():
    parsed = batch([make_request("a"), make_request("b")], [make_config("b"), make_config("a")])
    assert [call.problem for call in parsed.calls] == ["config_names_another_tool"] * 2
    assert [call.allowed for call in parsed.calls] == [(), ()]


def test_a_config_without_a_name_is_no_config_of_this_call():
    parsed = batch([make_request("a")], [{"allowed_decisions": ["approve"]}])
    assert parsed.calls[0].problem == "config_names_another_tool"


@pytest.mark.parametrize("config", [None, "a", [], 1])
def test_a_config_that_is_no_object_allows_nothing(config):
    parsed = batch([make_request("a")], [config])
    assert parsed.calls[0].problem == "no_config"


def test_one_undecidable_position_closes_the_whole_interrupt():
    parsed = batch([make_request("a"), make_request("b")], [make_config("a"), make_config("b", [])])
    assert parsed.problem == "undecidable_position"
    assert [call.problem for call in parsed.calls] == ["", "no_usable_decision"]


@pytest.mark.parametrize("listed", [[], ["escalate"], ["Approve", "REJECT"], [None, 1, True], [["approve"]]])
def test_a_list_without_any_decision_that_we_know_allows_nothing(listed):
    parsed = batch([make_request("a")], [make_config("a", listed)])
    assert (parsed.calls[0].allowed, parsed.calls[0].problem) == ((), "no_usable_decision")


@pytest.mark.parametrize("wrong", [None, "approve", {"approve": True}, True])
def test_allowed_decisions_that_are_no_list_allow_nothing(wrong):
    config = {"action_name": "a", "allowed_decisions": wrong}
    assert batch([make_request("a")], [config]).calls[0].problem == "no_allowed_decisions"


def test_a_misspelt_key_for_allowed_decisions_allows_nothing():
    config = {"action_name": "a", "allowed_decision": ["approve"]}
    assert batch([make_request("a")], [config]).calls[0].problem == "no_allowed_decisions"


def test_unknown_decision_types_are_ignored_and_remembered():
    call = batch([make_request("a")], [make_config("a", ["respond", "escalate", 7, "escalate"])]).calls[0]
    assert (call.allowed, call.ignored) == ((RESPOND,), ("escalate", "7"))


def test_decision_types_of_an_odd_kind_are_ignored_and_remembered():
    call = batch([make_request("a")], [make_config("a", [{"type": "approve"}, ["edit"], "reject"])]).calls[0]
    assert (call.allowed, call.ignored) == ((REJECT,), ('{"type":"approve"}', '["edit"]'))


def test_allowed_decisions_stand_in_one_fixed_order_and_once():
    call = batch([make_request("a")], [make_config("a", ["respond", "approve", "respond", "approve"])]).calls[0]
    assert call.allowed == (APPROVE, RESPOND)


def test_arguments_are_kept_as_source_text():
    text = '{"b":12.70,"a":[9007199254740993,"7"],"c":{"z":null,"y":false}}'
    value = parse(f'{{"action_requests":[{{"name":"a","args":{text}}}],"review_configs":[]}}')
    assert parse_interrupt(INTERRUPT, value).calls[0].args == text


def test_empty_arguments_are_an_object_and_everything_stays_allowed():
    call = with_args({}).calls[0]
    assert (call.args, call.args_object, call.allowed, call.problem) == ("{}", True, ALL, "")


@pytest.mark.parametrize(
    ("args", "text"),
    [(None, "null"), ("", '""'), ('{"a":1}', '"{\\"a\\":1}"'), ([1], "[1]"), (7, "7"), (True, "true"), (1.5, "1.5")],
)
def test_arguments_that_are_no_object_are_shown_and_can_be_neither_approved_nor_edited(args, text):
    call = with_args(args).calls[0]
    assert (call.args, call.args_object, call.allowed) == (text, False, (REJECT, RESPOND))


def test_missing_arguments_are_not_the_word_null():
    request = make_request("a")
    del request["args"]
    call = batch([request]).calls[0]
    assert (call.args, call.allowed) == (None, (REJECT, RESPOND))


def test_a_call_that_could_only_be_run_and_has_no_object_arguments_is_not_decidable():
    parsed = batch([make_request("a") | {"args": None}], [make_config("a", ["approve", "edit"])])
    assert (parsed.calls[0].allowed, parsed.calls[0].problem) == ((), "arguments_not_an_object")


@pytest.mark.parametrize("described", [None, "", 7, ["x"], {"text": "x"}])
def test_a_description_that_says_nothing_is_none(described):
    assert batch([make_request("a") | {"description": described}]).calls[0].description is None


@pytest.mark.parametrize("described", ["D" * 9000, "Args: {'a': 'x'}", "\u202e\x00"])
def test_a_description_is_kept_as_written(described):
    assert batch([make_request("a") | {"description": described}]).calls[0].description == described


def test_a_missing_description_is_none():
    request = make_request("a")
    del request["description"]
    assert batch([request]).calls[0].description is None


@pytest.mark.parametrize("name", [None, "", 7, ["a"], {"name": "a"}])
def test_a_request_without_a_tool_name_is_not_decidable(name):
    value = {"action_requests": [make_request(name)], "review_configs": [make_config("a")]}
    assert make_interrupt(value=value).calls[0].problem == "no_tool_name"


@pytest.mark.parametrize("request_", [None, "a", 7, ["a"]])
def test_a_request_that_is_no_object_is_shown_and_not_decidable(request_):
    parsed = make_interrupt(value={"action_requests": [request_], "review_configs": [make_config("a")]})
    assert (parsed.calls[0].problem, parsed.problem) == ("not_a_call", "undecidable_position")


@pytest.mark.parametrize("requests", [[], None, {}, "x", 7])
def test_an_interrupt_without_any_requests_is_no_batch(requests):
    parsed = make_interrupt(value={"action_requests": requests, "review_configs": []})
    assert (parsed.shape, parsed.problem) == (InterruptShape.OTHER, "no_action_requests")


OLD_SHAPES = [
    [{"action_request": {"action": "a", "args": {}}, "config": {"allow_accept": True}, "description": "x"}],
    {"action_request": {"action": "a", "args": {}}, "config": {"allow_accept": True, "allow_ignore": True}},
    {"action_request": {"name": "a", "args": {}}, "review_config": make_config("a")},
]


@pytest.mark.parametrize(
    "value", ["Go on?", 7, 1.5, True, None, [], {}, ["approve"], {"type": "approve"}, {"question": "?"}, *OLD_SHAPES]
)
def test_any_other_value_is_shown_whole_and_not_decidable(value):
    parsed = parse_interrupt(INTERRUPT, tree(value))
    call = parsed.calls[0]
    assert (parsed.shape, parsed.problem, call.allowed) == (InterruptShape.OTHER, "not_a_tool_call", ())
    assert parse(call.args or "") == tree(value)


def test_a_value_that_nests_too_deeply_is_shown_and_not_decidable():
    deep = "[" * 300 + "]" * 300
    value = parse(f'{{"action_requests":[{{"name":"a","args":{{"x":{deep}}}}}],"review_configs":[]}}')
    parsed = parse_interrupt(INTERRUPT, value)
    assert (parsed.shape, parsed.problem) == (InterruptShape.OTHER, "nested_too_deeply")
    assert parsed.calls[0].args == parsed.raw


@pytest.mark.parametrize(
    "text",
    [
        '{"action_requests":[{"name":"a","args":{"n":123456789012345678901234567890}}]}',
        '{"action_requests":[{"name":"a","args":{"n":NaN}}]}',
        '{"action_requests":[{"name":"a\\ud800","args":{"s":"\\u0000\\udfff"}}]}',
        '{"action_requests":[{"name":"a","args":{"":""}}]}',
    ],
)
def test_odd_numbers_and_characters_are_kept_whole(text):
    parsed = parse_interrupt(INTERRUPT, parse(text, constants=True))
    assert parsed.raw == text


def test_gated_calls_alone_are_counted_whatever_else_the_agent_called():
    assert len(batch([make_request("send_email")]).calls) == 1


@pytest.mark.parametrize(
    "interrupt_id", ["", "0f1e", INTERRUPT.upper(), f"{INTERRUPT}0", f"{INTERRUPT}\n", "../state", "thread-1", "é" * 32]
)
def test_an_id_that_no_server_takes_as_a_key_leaves_nothing_decidable(interrupt_id):
    value = tree(make_batch([make_request("a")]))
    assert parse_interrupt(interrupt_id, value).problem == "unusable_id"


def test_the_content_hash_does_not_depend_on_the_order_of_keys():
    value = make_batch([make_request("a")])
    assert make_interrupt(value=value).content_hash == make_interrupt(value=dict(reversed(value.items()))).content_hash


def test_another_description_is_other_content():
    changed = make_batch([make_request("a", description="another")])
    assert (
        make_interrupt(value=changed).content_hash != make_interrupt(value=make_batch([make_request("a")])).content_hash
    )


def pending(*found):
    return parse_pending([(interrupt_id, tree(value), None) for interrupt_id, value in found])


def test_several_pending_interrupts_are_read_apart():
    parsed = pending((INTERRUPT, make_batch([make_request("a")])), (OTHER_INTERRUPT, make_batch([make_request("b")])))
    assert [(one.interrupt_id, one.calls[0].tool, one.problem) for one in parsed] == [
        (INTERRUPT, "a", ""),
        (OTHER_INTERRUPT, "b", ""),
    ]


def test_the_same_interrupt_listed_twice_is_one():
    value = make_batch([make_request("a")])
    parsed = pending((INTERRUPT, value), (INTERRUPT, value))
    assert [one.problem for one in parsed] == [""]


def test_two_values_under_one_id_are_both_shown_and_neither_is_decidable():
    parsed = pending((INTERRUPT, make_batch([make_request("a")])), (INTERRUPT, make_batch([make_request("b")])))
    assert [(one.calls[0].tool, one.problem) for one in parsed] == [("a", "shared_id"), ("b", "shared_id")]


def test_a_shared_id_does_not_close_interrupts_under_other_ids():
    a, b = make_batch([make_request("a")]), make_batch([make_request("b")])
    parsed = pending((INTERRUPT, a), (INTERRUPT, b), (OTHER_INTERRUPT, a))
    assert [one.problem for one in parsed] == ["shared_id", "shared_id", ""]


def test_nothing_pending_is_nothing_parsed():
    assert parse_pending([]) == ()


def test_an_edit_only_call_keeps_edit_alone():
    assert batch([make_request("a")], [make_config("a", ["edit"])]).calls[0].allowed == (EDIT,)

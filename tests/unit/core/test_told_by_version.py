"""Whatever LangChain wrote and in whatever order, a batch that our own run alone answered is told as it was decided."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from bot.core.model import DecisionType, Outcome
from bot.runtimes.langgraph.outcomes import call_results
from bot.runtimes.langgraph.verdict import Observation, RunRow, VerdictKind, judge

APPROVE, EDIT, REJECT, RESPOND = DecisionType
TIMES = 400
T0 = 1_796_030_444_000
TOLD = {
    APPROVE: Outcome.EXECUTED,
    EDIT: Outcome.EXECUTED,
    REJECT: Outcome.REJECTED,
    RESPOND: Outcome.ANSWERED,
}
WORDS = ["no", "", "User rejected the tool call for `x`", "Error", "42", "ja 不", "a\nb", "x" * 30_000, "None"]
VERSIONS = ("1.0.0", "1.3.0", "1.5.1", "1.5.2", "by hand", "javascript")


def written(
    version: str, decision: DecisionType, call_id: str, said: str | None, dice: random.Random
) -> dict[str, Any]:
    """The message that this version leaves under a call's id."""
    if decision is REJECT:
        named = f"User rejected the tool call for `t` with reason: {said}"
        bare = version in ("1.0.0", "1.3.0", "by hand", "javascript")
        stock = f"User rejected the tool call for `t` with id {call_id}"
        content, status = (said if bare else named) if said else stock, "error"
    elif decision is RESPOND:
        content, status = said, "success"
    else:
        content, status = dice.choice(WORDS), "success"
    blocks = dice.random() < 0.2 and content
    message = {
        "type": "tool",
        "tool_call_id": call_id,
        "content": [{"type": "text", "text": content}] if blocks else content,
        "status": status,
        "additional_kwargs": {},
    }
    if version == "1.5.2" and decision in (REJECT, RESPOND):
        data = {"decision": decision.value}
        message["additional_kwargs"] = {"lc_source": "hitl_interrupt_decision", "lc_data": data}
    if version.startswith("1.5") and decision is EDIT:
        message["content"] = f"Note: a human reviewer replaced this tool call …\n\nTool response:\n\n{content}"
    return message


def a_batch(version: str, dice: random.Random) -> tuple[Observation, tuple[Outcome, ...]]:
    sent = tuple(dice.choice(list(DecisionType)) for _ in range(dice.randint(1, 6)))
    said = tuple(
        dice.choice([word for word in WORDS if word or one is REJECT]) or None if one in (REJECT, RESPOND) else None
        for one in sent
    )
    ids = [f"c{at}" for at in range(len(sent))]
    calls = {"type": "ai", "tool_calls": [{"name": "t", "args": {}, "id": one} for one in ids]}
    told = [written(version, *each, dice) for each in zip(sent, ids, said, strict=True)]
    dice.shuffle(told)
    before = [
        {"type": "ai", "tool_calls": [{"name": "t", "args": {}, "id": ids[0]}]},
        told[0] | {"tool_call_id": ids[0]},
    ]
    edited = {ids[at]: {"name": "t", "args": {}} for at, one in enumerate(sent) if one is EDIT}
    messages = [*(before if dice.random() < 0.3 else []), calls, *told]
    results = call_results(messages, ids, edited=edited if version.startswith("1.5") else None)
    ours = RunRow("ours", "success", T0, "d_1", 1, T0 + 90)
    proposer = RunRow("proposer", "success", T0 - dice.choice([200, 5_000, 90_000]), None, None, T0 - 100)
    sibling = RunRow("sibling", "success", T0 + 3, "d_2", 1, T0 + 80)
    return Observation(
        dispatch="d_1",
        kind=dice.choice(["aegra", "langgraph"]),
        sent=sent,
        results=results,
        listed=False,
        same_digest=False,
        task_error=None,
        thread_status="idle",
        runs=(sibling, ours, proposer) if dice.random() < 0.3 else (ours, proposer),
        sent_args=tuple("{}" if one is EDIT else None for one in sent),
        said=said,
        siblings=frozenset({"d_2"}),
        asked_by="proposer",
    ), tuple(TOLD[one] for one in sent)


@pytest.mark.parametrize("version", VERSIONS)
def test_our_own_answer_is_told_as_it_was_decided_whatever_the_version_writes(version: str) -> None:
    seed = random.randrange(10**6)  # put the printed one here to see the same again
    print(f"seed {seed}")
    dice = random.Random(seed)
    for _ in range(TIMES):
        seen, outcomes = a_batch(version, dice)
        verdict = judge(seen)
        assert verdict.kind in (VerdictKind.DONE, VerdictKind.UNOPPOSED), seen
        assert verdict.alarms == (), seen
        assert [one for one in verdict.outcomes if one is not None] == list(outcomes), seen


@pytest.mark.parametrize("version", VERSIONS)
def test_somebody_else_is_named_only_where_a_run_of_theirs_took_part(version: str) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    dice = random.Random(seed)
    for _ in range(TIMES):
        seen, _ = a_batch(version, dice)
        other, _ = a_batch(dice.choice(VERSIONS), dice)
        swapped = tuple(other.results[at % len(other.results)] for at in range(len(seen.sent)))
        alone = replace(seen, results=swapped)
        theirs = RunRow("theirs", "success", T0 + dice.randint(-900, 80), None, None, T0 + 2_000)
        assert judge(alone).kind in (VerdictKind.DONE, VerdictKind.UNOPPOSED, VerdictKind.TAKEN_NO_RESULT), alone
        raced = judge(replace(alone, runs=(theirs, *alone.runs)))
        assert raced.kind in (VerdictKind.DONE, VerdictKind.LOST_RACE, VerdictKind.RACED, VerdictKind.TAKEN_NO_RESULT)
        assert raced.raced_by == ("theirs",)

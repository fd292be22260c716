"""Whatever way an agent is built, what people are told of a call is what the service saw of it.

`pytest -m matrix` adds older LangChains, which write differently what became of a call. `PLACET_TEST_DUMP` names a folder
for what the servers and the cards said.
"""

import asyncio
import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from blocks import words
from bot.core.model import Outcome
from tests.live.pattern_runs import BOOM, DISABLE, EDITED, EMAIL, Seen, fresh_database, run_all
from tests.live.pythons import LANGCHAINS, NoPython
from tests.live.servers import PATTERNS, PER_CALL, aegra_server, langgraph_server

pytestmark = [pytest.mark.live]

TOLD = {
    "approve": Outcome.EXECUTED,
    "edit": Outcome.EXECUTED,
    "reject": Outcome.REJECTED,
    "reject-silently": Outcome.REJECTED,
    "respond": Outcome.ANSWERED,
    "raise": Outcome.FAILED,
}
NEWEST = "newest"
BY_HAND = ("functional", "task_in_node", "tool_interrupt")  # they ask by `interrupt()`, without the middleware
NOBODY_ELSE = ("outside Slack", "Superseded", "Broken", "answered_elsewhere", "poisoned")


def decisions_of(pattern, langchain):
    """LangChain 1.0 takes no answer in a tool's place; what asks by hand takes whatever it understands."""
    return [one for one in TOLD if langchain != "1.0" or one != "respond" or pattern in BY_HAND]


def cells_of(langchain):
    patterns = PATTERNS + PER_CALL * (langchain == NEWEST)
    return [(pattern, decision) for pattern in patterns for decision in decisions_of(pattern, langchain)]


CELLS = [
    pytest.param(kind, langchain, cell, id="-".join((kind, langchain, *cell)), marks=[pytest.mark.matrix] * older)
    for langchain, older in [(NEWEST, 0), *((one, 1) for one in LANGCHAINS)]
    for kind in ("aegra", "langgraph_dev")
    for cell in cells_of(langchain)
]


@pytest.fixture(scope="module")
def everything(request, tmp_path_factory, migrated_file):
    """What was seen of every cell on one server, `(pattern, decision) -> Seen`; all of them are held at the first question."""
    held = {}

    def seen_on(kind, langchain):
        if (kind, langchain) not in held:
            folder = tmp_path_factory.mktemp(f"{kind}-{langchain}")
            with ExitStack() as stack:
                if langchain == NEWEST:
                    server = request.getfixturevalue(kind)
                else:
                    server = stack.enter_context(older_server(request, kind, folder, langchain))
                seen = asyncio.run(run_all(server, fresh_database(migrated_file, folder), cells_of(langchain)))
            held[kind, langchain] = seen
            if dump := os.environ.get("PLACET_TEST_DUMP"):
                keep(Path(dump) / f"{kind}-{langchain}", seen.values())
        return held[kind, langchain]

    return seen_on


def older_server(request, kind, folder, langchain):
    try:
        if kind == "aegra":
            return aegra_server(folder, request.getfixturevalue("postgres"), langchain=langchain)
        return langgraph_server(folder, langchain=langchain)
    except NoPython as missing:
        pytest.skip(f"not run: {missing}")


def keep(folder, seen):
    folder.mkdir(parents=True, exist_ok=True)
    for one in seen:
        said = {"state": one.state, "runs": one.runs, "card": one.card, "audit": one.audit, "failed": one.failed}
        path = folder / f"{one.pattern}-{one.decision}.json"
        path.write_text(json.dumps(said, indent=1, ensure_ascii=False))


def shows_no_result(kind, langchain, seen: Seen):
    """Whether the server tells nowhere which call it was, or where what asked keeps its checkpoints."""
    if seen.pattern == "tool_interrupt":
        return True  # what the tool answers bears the name of another call
    if seen.pattern == "agent_in_task" and kind == "langgraph_dev":
        return True
    if seen.pattern == "functional_agent" and seen.decision == "edit" and langchain in ("1.0", "1.3"):
        return True  # the proposal is rewritten before anybody could see it
    unnamed = ("functional", "functional_agent", "task_in_node") * (kind == "langgraph_dev")
    return langchain == "1.0" and seen.pattern in ("deep_subagent", *unnamed)


def what_should_be_told(kind, langchain, seen: Seen):
    told = TOLD[seen.decision]
    came_of_it = told in (Outcome.EXECUTED, Outcome.ANSWERED)
    return Outcome.TAKEN if came_of_it and shows_no_result(kind, langchain, seen) else told


def what_should_run(seen: Seen):
    """(tool, arguments) of everything that the service may have seen."""
    call = BOOM if seen.decision == "raise" else DISABLE
    if seen.pattern == "tool_interrupt":
        call = DISABLE | {"args": DISABLE["args"] | ({"reason": "raise"} if seen.decision == "raise" else {})}
    args = call["args"] | ({"reason": EDITED} if seen.decision == "edit" else {})
    ran = [(call["name"], args)] if seen.decision in ("approve", "edit", "raise") else []
    return [(EMAIL["name"], EMAIL["args"])] * seen.pattern.startswith("send") + ran


@pytest.mark.parametrize(("kind", "langchain", "cell"), CELLS)
def test_the_service_saw_what_was_decided_and_people_are_told_that(everything, kind, langchain, cell):
    seen = everything(kind, langchain)[cell]
    if seen.unreadable:
        assert cell[0].startswith("functional")
        assert (seen.review, seen.effects, seen.noted) == (None, [], True)
        return
    assert not seen.failed
    review, expected = seen.review, what_should_be_told(kind, langchain, seen)

    assert [(one["tool"], one["args"]) for one in seen.effects] == what_should_run(seen)
    assert (review.state.value, review.actions[0].outcome) == ("resumed", expected)
    assert words.STATES[expected.value] in seen.card
    assert not [said for said in NOBODY_ELSE if said in seen.card or said in json.dumps(seen.audit)]
    (sealed,) = [content for kind, content in seen.audit if kind.startswith("review.") and "outcomes" in content]
    assert sealed["outcomes"] == {"0": expected.value}
    assert [content["alarm"] for kind, content in seen.audit if kind == "dispatch.alarm"] == ["raised"] * (
        seen.decision == "raise"
    )
    if seen.sibling is not None:
        assert (seen.sibling.state.value, seen.sibling.actions[0].outcome) == ("resumed", Outcome.EXECUTED)

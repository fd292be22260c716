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
# What the tool answers bears the name of another call; and langgraph dev does not tell where an agent inside a @task
# keeps its checkpoints.
NO_RESULT = {
    "aegra": ("tool_interrupt",),
    "langgraph_dev": ("tool_interrupt", "agent_in_task"),
}
NOBODY_ELSE = ("outside Slack", "Superseded", "Broken", "answered_elsewhere", "poisoned")


def decisions_of(pattern, langchain):
    """LangChain 1.0 takes no answer in a tool's place; what asks by hand takes whatever it understands."""
    return [one for one in TOLD if langchain != "1.0" or one != "respond" or pattern in BY_HAND]


def cells_of(langchain):
    patterns = PATTERNS + PER_CALL * (langchain == NEWEST)
    return [(pattern, decision) for pattern in patterns for decision in decisions_of(pattern, langchain)]


SERVERS = [(kind, langchain) for langchain in (NEWEST, *LANGCHAINS) for kind in ("aegra", "langgraph_dev")]
CELLS = [
    # The very same object for every cell of a server: by that pytest knows that nothing has to be set up anew.
    pytest.param(
        server,
        cell,
        id="-".join((*server, *cell)),
        marks=[] if server[1] == NEWEST else pytest.mark.matrix,
    )
    for server in SERVERS
    for cell in cells_of(server[1])
]


@pytest.fixture(scope="module")
def everything(request, tmp_path_factory, migrated_file):
    """What was seen of every cell on one server: `(pattern, decision) -> Seen`."""
    kind, langchain = request.param
    folder = tmp_path_factory.mktemp(f"{kind}-{langchain}")
    with ExitStack() as stack:
        if langchain == NEWEST:
            server = request.getfixturevalue(kind)
        else:
            server = stack.enter_context(older_server(request, kind, folder, langchain))
        seen = asyncio.run(run_all(server, fresh_database(migrated_file, folder), cells_of(langchain)))
    if dump := os.environ.get("PLACET_TEST_DUMP"):
        keep(Path(dump) / f"{kind}-{langchain}", seen.values())
    return seen


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


def what_should_be_told(seen: Seen, kind: str):
    told = TOLD[seen.decision]
    return Outcome.TAKEN if seen.pattern in NO_RESULT[kind] and told in (Outcome.EXECUTED, Outcome.ANSWERED) else told


def what_should_run(seen: Seen):
    """(tool, arguments) of everything that the service may have seen."""
    call = BOOM if seen.decision == "raise" else DISABLE
    if seen.pattern == "tool_interrupt":
        call = DISABLE | {"args": DISABLE["args"] | ({"reason": "raise"} if seen.decision == "raise" else {})}
    args = call["args"] | ({"reason": EDITED} if seen.decision == "edit" else {})
    ran = [(call["name"], args)] if seen.decision in ("approve", "edit", "raise") else []
    return [(EMAIL["name"], EMAIL["args"])] * seen.pattern.startswith("send") + ran


@pytest.mark.parametrize(("everything", "cell"), CELLS, indirect=["everything"], scope="module")
def test_the_service_saw_what_was_decided_and_people_are_told_that(everything, cell, request):
    seen = everything[cell]
    if seen.unreadable:
        assert cell[0].startswith("functional")
        assert (seen.review, seen.effects, seen.noted) == (None, [], True)
        return
    assert not seen.failed
    review, expected = seen.review, what_should_be_told(seen, request.node.callspec.params["everything"][0])

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

"""What a run was started with, from its listed row into the body of the answer that resumes it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.json import Number, dump, parse
from bot.runtimes.langgraph.probe import carried_along
from bot.runtimes.langgraph.resume import commands_body, resume_body
from bot.runtimes.langgraph.run_context import (
    NOTHING,
    RunContext,
    RunContextLoss,
    RunContextLost,
    read_surroundings,
    started_of,
)
from tests.kit.factories import make_review

DATA = Path(__file__).parents[2] / "data" / "agent"
SERVERS = {
    "run_id": "r1",
    "thread_id": "t1",
    "graph_id": "ops",
    "assistant_id": "a1",
    "user_id": "approvals",
    "checkpoint_id": "c1",
    "checkpoint_ns": "",
    "checkpoint_map": {"": "c1"},
    "thread_ts": "2026",
    "langgraph_auth_user": {"identity": "approvals"},
    "langgraph_request_id": "q1",
    "__after_seconds__": 0,
    "__pregel_node_finished": None,
}
AT = "2026-11-30T00:00:0{}Z"


def langgraph(run_id="r1", at=0, *, context=None, configurable=None, status="success", **more):
    """A row of langgraph dev: context and configurable each hold a copy of what was sent as the other."""
    sent, copied = configurable or context or {}, context or configurable or {}
    config = {"configurable": {**sent, **SERVERS}, "metadata": {"created_by": "system"}, **more.pop("config", {})}
    kwargs = {"config": config, "context": copied, "interrupt_before": None, "interrupt_after": None, **more}
    return tree({"run_id": run_id, "status": status, "created_at": AT.format(at), "kwargs": kwargs})


def aegra(run_id="r1", at=0, *, context=None, config=None, status="interrupted"):
    """A row of Aegra: as sent, and a context that was not sent is a copy of configurable."""
    config = config or {}
    copied = context or config.get("configurable") or {}
    row = {"run_id": run_id, "status": status, "created_at": AT.format(at), "config": config, "context": copied}
    return tree(row)


def tree(value):
    return parse(json.dumps(value))


def body(found, kind, route="runs"):
    """The body that resumes with it, in plain JSON; of a command, its parameters."""
    make = commands_body if route == "commands" else resume_body
    made = make(
        assistant="ops",
        interrupt_id="0" * 32,
        answer_tree={},
        dispatch_id="d",
        attempt=1,
        kind=kind,
        carried=found.carried(kind, route),
    )
    read = json.loads(made)
    return read.get("params") or read


def test_a_run_started_with_nothing_is_answered_with_nothing():
    for row in (langgraph(), aegra(), langgraph(config={"metadata": {"m": 1}})):
        found = read_surroundings(row)
        assert not found
        assert found.carried("langgraph", "runs") == NOTHING


@pytest.mark.parametrize("route", ["runs", "commands"])
def test_configurable_values_leave_without_what_servers_add(route):
    for kind, row in (
        ("langgraph", langgraph(configurable={"org": "acme"})),
        ("aegra", aegra(config={"configurable": {"org": "acme", **SERVERS}})),
    ):
        sent = body(read_surroundings(row), kind, route)
        assert sent["config"]["configurable"] == {"org": "acme"}


def test_aegra_is_sent_both_where_the_row_has_both():
    found = read_surroundings(aegra(context={"org": "a"}, config={"configurable": {"org": "b"}}))
    sent = body(found, "aegra")
    assert (sent["context"], sent["config"]["configurable"]) == ({"org": "a"}, {"org": "b"})


def test_langgraph_is_never_sent_both():
    for row in (
        langgraph(context={"org": "a"}),
        langgraph(configurable={"org": "a"}),
        langgraph(context={"org": "a", "user_id": "u1"}),
    ):
        sent = body(read_surroundings(row), "langgraph")
        assert ("context" in sent) != ("configurable" in sent["config"])


def test_a_context_of_which_the_servers_schema_dropped_a_copy_leaves_as_a_context():
    row = langgraph(context={"org": "a", "extra": 1})
    del row["kwargs"]["config"]["configurable"]["extra"]
    sent = body(read_surroundings(row), "langgraph")
    assert sent["context"] == {"org": "a", "extra": 1}
    assert "configurable" not in sent["config"]


def test_a_context_that_the_server_notes_as_one_leaves_as_one():
    row = langgraph(context={"org": "a"})
    row["kwargs"]["config"]["configurable"]["__context_provided__"] = True
    assert body(read_surroundings(row), "langgraph")["context"] == {"org": "a"}


def test_a_user_id_in_the_context_is_the_clients_own_and_goes_along():
    for kind, row in (("langgraph", langgraph(context={"user_id": "u1"})), ("aegra", aegra(context={"user_id": "u1"}))):
        sent = body(read_surroundings(row), kind)
        assert sent["context"] == {"user_id": "u1"}
        assert "configurable" not in sent["config"]


def test_tags_limits_and_stops_go_along_and_metadata_is_ours_alone():
    config = {"tags": ["t1", "ü"], "recursion_limit": 33, "metadata": {"m": 1}, "run_name": "mine"}
    row = langgraph(config=config, interrupt_before=["tools"], interrupt_after="*")
    sent = body(read_surroundings(row), "langgraph")
    assert sent["config"] == {
        "tags": ["t1", "ü"],
        "recursion_limit": 33,
        "metadata": {"placet_dispatch": "d", "placet_attempt": 1},
    }
    assert (sent["interrupt_before"], sent["interrupt_after"]) == (["tools"], "*")


@pytest.mark.parametrize(
    "row", [langgraph(interrupt_before=["tools"]), langgraph(context={"user_id": "u1"})], ids=["stops", "user"]
)
def test_what_langgraphs_commands_would_drop_is_not_sent_over_them(row):
    found = read_surroundings(row)
    with pytest.raises(RunContextLost, match="surroundings_unsendable"):
        found.carried("langgraph", "commands")


@pytest.mark.parametrize(
    "row",
    [
        {"run_id": "r1"},
        {"run_id": "r1", "kwargs": {}},
        {"run_id": "r1", "kwargs": "none"},
        {"run_id": "r1", "config": []},
        {"run_id": "r1", "config": {"configurable": "x"}},
        {"run_id": "r1", "config": {}, "context": ["x"]},
        {"run_id": "r1", "config": {"tags": "x"}},
        {"run_id": "r1", "config": {"recursion_limit": "many"}},
    ],
)
def test_a_row_of_another_shape_is_no_row_without_surroundings(row):
    with pytest.raises(RunContextLost, match="surroundings_gone"):
        started_of([tree(row)], "r1")


def test_the_run_is_found_by_the_checkpoints_id_whatever_the_order():
    rows = [langgraph("r1", 1, context={"org": "a"}), langgraph("r0", 0, context={"org": "old"})]
    for listed in (rows, rows[::-1]):
        started = started_of(listed, "r1")
        assert (started.run_id, started.surroundings.context) == ("r1", {"org": "a"})


def test_several_that_may_have_asked_must_have_been_started_alike():
    same = [langgraph("r2", 2, context={"org": "a"}), langgraph("r1", 1, context={"org": "a"})]
    assert started_of(same, "r1").run_id == "r1"
    with pytest.raises(RunContextLost, match="surroundings_differ"):
        started_of([langgraph("r2", 2), *same], "r1")
    with pytest.raises(RunContextLost, match="surroundings_differ"):
        started_of([langgraph("r2", 1), *same], "r1")  # in the same millisecond


def test_a_later_run_that_still_goes_on_has_asked_nothing_yet():
    rows = [langgraph("r2", 2, status="running"), langgraph("r1", 1, context={"org": "a"})]
    assert started_of(rows, "r1").surroundings.context == {"org": "a"}


@pytest.mark.parametrize("rows", [[], [langgraph("r2")], ["no row"]])
def test_a_run_that_is_not_listed_is_gone(rows):
    with pytest.raises(RunContextLost, match="surroundings_gone"):
        started_of(rows, "r1")


def test_without_an_id_of_the_checkpoint_all_listed_runs_must_agree():
    rows = [langgraph("r2", 2, context={"org": "a"}), langgraph("r1", 1, context={"org": "a"})]
    assert started_of(rows, None).surroundings.context == {"org": "a"}
    with pytest.raises(RunContextLost, match="surroundings_differ"):
        started_of([*rows, langgraph("r0", 0)], None)


def test_the_seal_tells_every_change_and_nothing_of_the_values():
    found = read_surroundings(aegra(context={"org": "acme", "n": 1}, config={"tags": ["t"], "recursion_limit": 3}))
    changed = [
        replace(found, context={"org": "acme", "n": Number("1.0")}),
        replace(found, context={"org": "acme"}),
        replace(found, configurable={"org": "acme"}),
        replace(found, tags=()),
        replace(found, recursion_limit=None),
        replace(found, stops={"interrupt_before": "*"}),
    ]
    seals = {one.seal(b"salt") for one in (found, *changed)}
    assert len(seals) == 1 + len(changed)
    assert found.seal(b"salt") == replace(found, context={"n": Number("1"), "org": "acme"}).seal(b"salt")
    assert found.seal(b"other") not in seals
    assert "acme" not in repr(found)


class Client:
    """Counts what is asked."""

    def __init__(self, row):
        self.row, self.asked = row, 0

    async def surroundings(self, thread_id, run_id):
        self.asked += 1
        if self.row is None:
            raise RunContextLost(RunContextLoss.GONE)
        return read_surroundings(self.row)


@pytest.mark.asyncio
async def test_the_last_look_is_one_read_and_only_where_the_run_had_any():
    bare, had = make_review(), read_surroundings(langgraph(context={"org": "acme"}))
    full = bare.evolve(asked_by="r1", surroundings=had.seal(bare.salt))
    same, other, gone = (Client(row) for row in (langgraph(context={"org": "acme"}), langgraph(), None))

    assert await carried_along(bare, gone, route="runs") == NOTHING
    assert gone.asked == 0
    assert await carried_along(full, same, route="runs") == had.carried("aegra", "runs")
    assert await carried_along(full, other, route="runs") is None
    assert await carried_along(full, gone, route="runs") is None
    assert [client.asked for client in (same, other, gone)] == [1, 1, 1]
    assert await carried_along(full.evolve(problem=RunContextLoss.DIFFER.value), same, route="runs") is None


# -- any surroundings at all


def _text(rng):
    return "".join(rng.choice('abzÄß漢🙂\u202e"\\\n `*<!') for _ in range(rng.randrange(6)))


def _value(rng, depth=0):
    kind = rng.randrange(9 if depth < 3 else 6)
    if kind == 6:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind > 6:
        return {_text(rng): _value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return [None, True, rng.randrange(-(2**63), 2**63), rng.random() * 1e6, _text(rng), ""][kind]


def _keys(rng):
    mine = {f"k{_text(rng)}": _value(rng) for _ in range(rng.randrange(5))}
    theirs = {name: SERVERS[name] for name in rng.sample(sorted(SERVERS), rng.randrange(len(SERVERS)))}
    return mine, {**mine, **theirs}


def test_whatever_a_run_was_started_with_its_own_keys_alone_come_back():
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(400):
        (context, listed), (configurable, listed_too) = _keys(rng), _keys(rng)
        for one in (listed, listed_too):
            one.pop("user_id", None)  # a client's own in a context, a server's in `configurable`: judged above
        found = read_surroundings(aegra(context=listed, config={"configurable": listed_too}))
        sent = body(found, "aegra")
        assert sent.get("context", {}) == (context if listed else configurable)
        assert sent["config"].get("configurable", {}) == configurable
        for row in (langgraph(context=context), langgraph(configurable=context)):
            for route in ("runs", "commands"):
                sent = body(read_surroundings(row), "langgraph", route)
                assert (sent.get("context") or sent["config"].get("configurable", {})) == context
                assert json.loads(dump(read_surroundings(row).context)) == context


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("aegra-*.json")))
def test_every_recorded_row_of_aegra_is_read(name):
    recorded = parse((DATA / name).read_text())
    for row in recorded["runs"]:
        assert isinstance(read_surroundings(row), RunContext)

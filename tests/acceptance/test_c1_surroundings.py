"""C1: an approved tool sees what the run that asked was started with, exactly, or does not run and people read why."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.store.rows import metadata
from tests.kit.agent_relay import relaying
from tests.kit.office import ADA, WHO, local_agent, open_office, policy_text
from tests.kit.operating import ask
from tests.kit.steps import (
    blindfold,
    deciding,
    heard,
    opened,
    pause,
    paused,
    redrawn,
    resume,
    run_on,
    says,
    sent,
    stands,
    unblind,
)

pytestmark = pytest.mark.asyncio

ROUTES = pytest.mark.parametrize("route", ["runs", "commands"])
KINDS = pytest.mark.parametrize("kind", ["langgraph", "aegra"])
TOKEN = "tok-5f1c9a7e-of-acme"
CONTEXT = {"context": {"org": "acme", "limits": {"größe": [1, None, 2.5, True]}, "token": TOKEN}}
CONFIGURABLE = {"config": {"configurable": {"org": "acme", "seat": 7}, "tags": ["t1"], "recursion_limit": 33}}


def seen(office, thread):
    """What the tools that ran on a thread saw of what surrounds them."""
    return [{key: one.get(key) for key in ("context", "configurable", "tags")} for one in office.effects(thread)]


async def approved(office, review, who=ADA):
    await office.click(who, await office.card_of(review, button="decide.approve"), "decide.approve")


@KINDS
@ROUTES
async def test_c1_an_approved_tool_sees_the_context_that_its_run_was_started_with(office_of, kind, route):
    async with office_of(kind=kind, resume=route) as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)

        await approved(office, review)
        await stands(office, review, "resumed")

        (saw,) = seen(office, thread)
        assert saw["context"] == CONTEXT["context"]


@KINDS
@ROUTES
async def test_c1_an_approved_tool_sees_the_configurable_values_and_tags_of_its_run(office_of, kind, route):
    async with office_of(kind=kind, resume=route) as office:
        thread = await office.propose("one", started=CONFIGURABLE)
        (review,) = await opened(office, thread)

        await approved(office, review)
        await stands(office, review, "resumed")

        (saw,) = seen(office, thread)
        assert (saw["configurable"], saw["tags"]) == ({"org": "acme", "seat": 7}, ["t1"])
        (body,) = sent(office, thread)
        assert (body.get("params") or body)["config"]["recursion_limit"] == 33


async def test_c1_both_leave_where_both_came(office_of):
    async with office_of(kind="aegra") as office:
        started = {"context": {"org": "acme"}, "config": {"configurable": {"org": "other"}, "tags": ["t1"]}}
        thread = await office.propose("one", started=started)
        (review,) = await opened(office, thread)

        await approved(office, review)
        await stands(office, review, "resumed")

        (saw,) = seen(office, thread)
        assert saw == {"context": {"org": "acme"}, "configurable": {"org": "other"}, "tags": ["t1"]}


@KINDS
@ROUTES
async def test_c1_the_next_question_of_a_resumed_run_is_answered_with_the_same(office_of, kind, route):
    async with office_of(kind=kind, resume=route) as office:
        thread = await office.propose("two-turns", started=CONTEXT)
        for who in (ADA, ADA):
            (review,) = await opened(office, thread)
            await approved(office, review, who)
            await stands(office, review, "resumed")
            await office.hint(thread)

        assert [one["context"] for one in seen(office, thread)] == [CONTEXT["context"]] * 2


@KINDS
async def test_c1_branches_answered_one_by_one_and_a_rejection_carry_it_too(office_of, kind):
    async with office_of(kind=kind) as office:
        thread = await office.propose("parallel", started=CONTEXT)
        for review in await opened(office, thread, 2):
            await approved(office, review)
            await stands(office, review, "resumed")

        assert [one["context"] for one in seen(office, thread)] == [CONTEXT["context"]] * 2
        assert all(body["context" if kind == "aegra" else "config"] for body in sent(office, thread))


async def test_c1_names_that_servers_set_are_never_sent(office_of):
    mine = {"org": "acme", "thread_ts": "1", "checkpoint_ns": "", "langgraph_auth_user_id": "root", "__x": 1}
    async with office_of(kind="aegra") as office:
        thread = await office.propose("one", started={"config": {"configurable": {**mine, "user_id": "u1"}}})
        (review,) = await opened(office, thread)

        await approved(office, review)
        await stands(office, review, "resumed")

        (body,) = sent(office, thread)
        assert body["config"]["configurable"] == {"org": "acme"}
        assert set(body["config"]) == {"configurable", "metadata"}
        assert not {"thread_ts", "checkpoint_ns", "langgraph_auth_user_id", "__x"} & set(body["context"])


async def test_c1_a_call_that_expires_is_rejected_with_it(office_of):
    async with office_of(more="    decide_within: 10m\n") as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)

        office.advance(601_000)
        await stands(office, review, "resumed")

        (body,) = sent(office, thread)
        assert body["config"]["configurable"] == CONTEXT["context"]
        assert office.ran(thread) == []


@KINDS
async def test_c1_a_fenced_answer_carries_it(office_of, kind):
    async with office_of(kind=kind, more="    resend: fence\n") as office:
        thread = await office.propose("two-turns", started=CONTEXT)
        for _ in range(2):
            (review,) = await opened(office, thread)
            await approved(office, review)
            await stands(office, review, "resumed")
            await office.hint(thread)

        assert [one["context"] for one in seen(office, thread)] == [CONTEXT["context"]] * 2


async def test_c1_a_run_of_which_nothing_is_listed_any_more_is_not_decided_here_and_people_read_why(tmp_path):
    async with local_agent(tmp_path) as agent, relaying(agent.url) as relay:
        policy = policy_text(relay.url)
        database = f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}"
        async with open_office(database, agent, policy=policy) as office:
            relay.order(ends=("/runs",), method="GET", body=[])
            thread = await office.propose("one", started=CONTEXT)
            (review,) = await opened(office, thread)
            card = await office.card_of(review)

            assert deciding(card) == []
            assert "no longer shows the run that asked this" in says(card)
            assert office.ran(thread) == []


async def test_c1_what_is_gone_at_the_last_moment_stops_the_answer_and_a_new_card_says_why(office_of):
    async with office_of() as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        await pause(office)
        await approved(office, review)
        forget_runs(office, thread)
        await resume(office)

        ended = await stands(office, review, "superseded")
        assert ended.why == "surroundings_changed"
        (again,) = await opened(office, thread)
        assert again.id != review.id
        assert "no longer shows the run" in says(await office.card_of(again))
        assert deciding(await office.card_of(again)) == []
        await redrawn(office, review, "is gone or has changed")
        assert (heard(office, thread), office.ran(thread)) == ([], [])


async def test_c1_what_changed_after_the_approval_is_stale_and_asked_anew(office_of):
    async with office_of() as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        await pause(office)
        await approved(office, review)
        change_run(office, thread, {"context": {"org": "evil"}})
        await resume(office)

        await stands(office, review, "superseded")
        (again,) = await opened(office, thread)
        assert (heard(office, thread), office.ran(thread)) == ([], [])

        await approved(office, again)
        await stands(office, again, "resumed")
        assert [one["context"] for one in seen(office, thread)] == [{"org": "evil"}]


async def test_c1_a_question_that_two_runs_may_have_asked_with_different_contexts_is_not_decided_here(office_of):
    async with office_of() as office:
        blindfold(office)
        thread = await office.propose("one", started=CONTEXT)
        await run_on(office, thread, {"assistant_id": "ops", "command": {"resume": {"0" * 32: {}}}})
        await office.until(lambda: _rested(office, thread), "the other run to end")
        unblind(office)
        await office.hint(thread)

        (review,) = await opened(office, thread)
        card = await office.card_of(review)
        assert "Several runs may have asked this" in says(card)
        assert deciding(card) == []


async def test_c1_nothing_of_it_stands_in_any_table_log_card_or_export(office_of, caplog, capsys):
    async with office_of(tools="      flaky_op: {result: status}\n") as office:
        for preset, button in (("two-turns", "decide.approve"), ("boom", "decide.approve")):
            thread = await office.propose(preset, started=CONTEXT)
            (review,) = await opened(office, thread)
            await office.click(ADA, await office.card_of(review, button=button), button)
            await stands(office, review, "resumed")

        async with office.stores[0].read() as tx:
            rows = [repr((await tx.conn.execute(select(table))).all()) for table in metadata.sorted_tables]
        shown = json.dumps(await office.messages())
        logged = caplog.text + "".join(capsys.readouterr())
        assert office.effects()[0]["context"]["token"] == TOKEN
        assert not any(TOKEN in held or "größe" in held or "gr\\\\xf6" in held for held in (*rows, shown, logged))


async def test_c1_named_keys_stand_on_the_card_as_a_claim_and_the_rest_does_not(office_of):
    async with office_of(shows="[org, region]") as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        card = await redrawn(office, review, "Whoever started the run says")

        assert "org: acme" in says(card)
        assert "region: nothing given" in says(card)
        assert "org: acme" in card["text"]
        assert TOKEN not in says(card)
        assert "decide.approve" in deciding(card)


async def test_c1_a_named_key_that_holds_a_secret_is_hidden_on_the_card(office_of):
    async with office_of(shows="[token]") as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        card = await redrawn(office, review, "Whoever started the run says")

        assert "token: [hidden]" in says(card)
        assert TOKEN not in says(card)


async def test_c1_a_repair_carries_it_and_what_it_asks_is_answered_with_it(office_of):
    async with office_of() as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        bad = {"resume": {review.interrupt_id: {"decisions": []}}}
        body = {"assistant_id": "ops", "command": bad}
        (await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)).raise_for_status()
        await office.hint(thread)
        broken = await stands(office, review, "broken")

        assert (await ask(office, "repair", review=broken))["ok"]
        await paused(office, thread)
        (fresh,) = await opened(office, thread)
        await approved(office, fresh)
        await stands(office, fresh, "resumed")
        assert [one["context"] for one in seen(office, thread)] == [CONTEXT["context"]]


async def test_c1_a_thread_whose_run_is_gone_is_not_repaired(office_of):
    async with office_of() as office:
        thread = await office.propose("one", started=CONTEXT)
        (review,) = await opened(office, thread)
        bad = {"resume": {review.interrupt_id: {"decisions": []}}}
        body = {"assistant_id": "ops", "command": bad}
        (await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)).raise_for_status()
        await office.hint(thread)
        broken = await stands(office, review, "broken")
        forget_runs(office, thread)

        told = await ask(office, "repair", review=broken)
        assert not told["ok"]
        assert "so a fork would run without it" in told["text"]


@KINDS
@ROUTES
async def test_c1_calls_asked_one_by_one_are_answered_with_it(office_of, kind, route):
    tools = '      "*": {decisions: [approve, reject]}\n'
    async with office_of(kind=kind, resume=route, tools=tools) as office:
        thread = await office.propose("per-call", started=CONTEXT)
        for review in await opened(office, thread, 2):
            await approved(office, review)
            await stands(office, review, "resumed")

        assert [one["context"] for one in seen(office, thread)] == [CONTEXT["context"]] * 2


@KINDS
async def test_c1_whatever_a_run_was_started_with_the_tool_sees_the_same(office_of, kind):
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    async with office_of(kind=kind) as office:
        for _ in range(6):
            given = {f"k{rng.randrange(99)}{_word(rng)}": _value(rng) for _ in range(rng.randrange(1, 5))}
            started = {"context": given} if rng.random() < 0.5 else {"config": {"configurable": given}}
            thread = await office.propose("one", started=started)
            (review,) = await opened(office, thread)
            await approved(office, review)
            await stands(office, review, "resumed")
            (saw,) = seen(office, thread)
            assert saw["context"] == given
            assert saw["configurable"] in (given, None if "context" in started else given)


def _word(rng):
    return "".join(rng.choice("abÄß漢🙂-.* ") for _ in range(rng.randrange(5)))


def _value(rng, depth=0):
    kind = rng.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {_word(rng): _value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return [None, True, rng.randrange(-(2**53), 2**53), rng.randrange(999) / 8, _word(rng), ""][kind]


async def _rested(office, thread):
    return (await office.thread(thread))["status"] != "busy"


def _ledger(office):
    return sqlite3.connect(Path(office.agent.effects_file).with_name("agent.sqlite"))


def forget_runs(office, thread):
    """Delete the thread's runs on the agent server, as its own housekeeping might."""
    with _ledger(office) as ledger:
        ledger.execute("DELETE FROM run WHERE thread_id = ?", (thread,))


def change_run(office, thread, more):
    """Have the server say that the run was started with something else."""
    with _ledger(office) as ledger:
        for run, request in ledger.execute("SELECT run_id, request FROM run WHERE thread_id = ?", (thread,)).fetchall():
            ledger.execute("UPDATE run SET request = ? WHERE run_id = ?", (json.dumps(json.loads(request) | more), run))

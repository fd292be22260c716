"""The assistant of one attempt: like the thread's own, and never taken for another."""

from __future__ import annotations

import uuid
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot.errors import AgentRejected, AgentUnreachable
from bot.policy.source import parse
from bot.runtimes.langgraph.client import AgentClient
from bot.runtimes.langgraph.fence import fence_id, fenced, put_up, resend_of
from tests.kit.agent_canned import canned
from tests.kit.factories import TARGET, make_action, make_review
from tests.kit.office import policy_text

OTHER = """\
      pay: {resend: fence}
      wire: {resend: never}
"""


def claimed(attempt=0, dispatch="d_1"):
    return SimpleNamespace(dispatch_id=dispatch, attempt=attempt)


def tenant(more=""):
    return parse(policy_text("http://127.0.0.1:2026", tools=OTHER, more=more)).tenants["demo"]


def review_of(*tools, **target):
    actions = [make_action(position, tool=tool) for position, tool in enumerate(tools)]
    return make_review(*actions, target=replace(TARGET, **target))


@pytest.mark.parametrize(
    ("tools", "resend"),
    [
        (["disable_user"], "settle"),
        (["disable_user", "pay"], "fence"),
        (["pay", "disable_user"], "fence"),
        (["wire", "pay", "disable_user"], "never"),
        (["pay", "wire"], "never"),
    ],
)
def test_of_the_tools_in_a_review_the_strictest_counts(tools, resend):
    assert resend_of(review_of(*tools), tenant()) == resend


@pytest.mark.parametrize(
    ("kind", "route", "honoured"),
    [
        ("aegra", "runs", True),
        ("aegra", "commands", True),
        ("langgraph", "runs", True),
        ("langgraph", "commands", False),
    ],
)
def test_no_fence_is_put_up_where_the_server_runs_an_answer_under_another_assistant(kind, route, honoured):
    assert fenced(review_of("pay", kind=kind, route=route), tenant()) is honoured


def test_only_what_the_policy_says_is_fenced():
    assert not fenced(review_of("disable_user"), tenant())
    assert not fenced(review_of("pay", "wire"), tenant())
    assert fenced(review_of("disable_user"), tenant("    resend: fence\n"))


def test_each_attempt_of_each_dispatch_has_one_id_and_it_is_the_same_after_a_crash():
    ids = [fence_id(claimed(attempt, dispatch)) for dispatch in ("d_1", "d_2") for attempt in (0, 1)]

    assert len({*ids}) == 4
    assert ids[0] == fence_id(claimed())
    assert [str(uuid.UUID(one)) for one in ids] == ids


async def made(http, original, named="a-1"):
    answers = {"POST /assistants": {}, **({f"GET /assistants/{named}": original} if original else {})}
    async with canned(**answers) as server:
        fence = await put_up(AgentClient(server.server(), http), claimed(), named)
        return fence, server.asked[-1].body


@pytest.mark.asyncio
async def test_it_is_a_copy_of_the_threads_own(http):
    config = {"tags": ["x"], "configurable": {"model": "m", "n": 1.50}}
    fence, body = await made(http, {"graph_id": "ops", "config": config, "context": {"model": "m", "n": 1.50}})

    assert (body["assistant_id"], body["graph_id"]) == (fence, "ops")
    assert body["context"] == {"model": "m", "n": 1.50}
    # Both servers keep the two equal, and refuse to be told both.
    assert body["config"] == {"tags": ["x"], "metadata": {"placet_fence": fence}}


@pytest.mark.asyncio
async def test_a_copy_of_a_fence_is_its_own(http):
    fence, body = await made(http, {"graph_id": "ops", "config": {"metadata": {"placet_fence": "old", "a": 1}}})

    assert body["config"] == {"metadata": {"placet_fence": fence, "a": 1}}
    assert "context" not in body


@pytest.mark.asyncio
async def test_a_graphs_name_is_taken_where_there_is_no_assistant_of_that_id(http):
    _, body = await made(http, None, named="agent_platform")

    assert body["graph_id"] == "agent_platform"


@pytest.mark.asyncio
@pytest.mark.parametrize(("status", "error"), [(503, AgentUnreachable), (403, AgentRejected), (422, AgentRejected)])
async def test_where_it_cannot_be_made_nothing_was_sent(http, status, error):
    async with canned(**{"POST /assistants": status, "GET /assistants/a-1": {"graph_id": "ops"}}) as server:
        with pytest.raises(error):
            await put_up(AgentClient(server.server(), http), claimed(), "a-1")

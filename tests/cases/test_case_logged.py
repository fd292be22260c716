"""Reported inputs that an operator must hear of at once: each is a line in the log, without an argument in it."""

from __future__ import annotations

import shutil

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from bot.core.model import Target
from bot.policy.source import parse as read_policy
from bot.runtimes.langgraph.thread_sync import ThreadReading, record_sighting
from bot.runtimes.langgraph.wire import PendingInterrupt, ThreadRow, ThreadState
from bot.serve import warn_of_policy
from bot.store import policies
from bot.store.policies import text_digest
from bot.store.upgrade import open_store
from tests.kit.factories import INTERRUPT, make_batch, make_config, make_request, started_bare, tree
from tests.kit.office import policy_text
from tests.kit.running import database_in

pytestmark = pytest.mark.asyncio
URL = "http://127.0.0.1:2026"


@pytest_asyncio.fixture
async def store(migrated_file, tmp_path):
    shutil.copy(migrated_file, tmp_path / "placet.db")
    opened = await open_store(database_in(tmp_path))
    yield opened
    await opened.close()


async def lines_of(store, value, *, looks=1):
    """What is logged when a thread that shows this interrupt is read."""
    tenant = read_policy(policy_text(URL)).tenants["demo"]
    pending = PendingInterrupt(INTERRUPT, tree(value), None, "task-1", "tools", None, "")
    state = ThreadState((), ("tools",), (pending,), None, {}, None)
    row = ThreadRow("thread-1", "interrupted", "2026-11-30T00:00:00Z", {})
    with capture_logs() as said:
        for _ in range(looks):
            seen = ThreadReading(
                Target(URL, "langgraph", "approvals", "agent"), row, state, await store.now() + 1, started_bare
            )
            await record_sighting(store, tenant, seen, policy_version=1, settled=True)
    return said


async def test_case_006_lists_that_do_not_pair_are_logged_once_and_without_an_argument(store):
    calls = [make_request("delete_file", {"path": "/srv/a"}), make_request("send_email", {"body": "hi"})]
    value = {"action_requests": calls, "review_configs": [make_config("delete_file", ["approve", "reject"])]}

    (line,) = await lines_of(store, value, looks=3)

    assert (line["log_level"], line["action"], line["problem"]) == ("warning", "undecidable", "configs_do_not_pair")
    assert line["review"].startswith("r_")
    assert "/srv/a" not in str(line)


async def test_case_008_a_decision_that_nobody_knows_is_logged_by_its_name(store):
    allowed = ["respond", "escalate", "x" * 900, {"approve": "\u202e"}]

    (line,) = await lines_of(store, make_batch([make_request("ask_user")], [make_config("ask_user", allowed)]))

    assert (line["action"], line["position"], line["names"]) == ("ignored", 0, ["escalate", "?", "?"])


async def test_case_008_which_call_of_a_batch_has_no_usable_decision_is_logged(store):
    calls = [make_request("ask_user"), make_request("drop_db")]

    (line,) = await lines_of(store, make_batch(calls, [make_config("ask_user"), make_config("drop_db", [])]))

    assert (line["problem"], line["calls"]) == ("undecidable_position", {1: "no_usable_decision"})


async def test_a_well_formed_interrupt_is_not_worth_a_line(store):
    assert await lines_of(store, make_batch([make_request()])) == []


@pytest.mark.parametrize(
    ("reviewers", "told"),
    [("      []\n", True), ('      - {user: U0ADA, tools: ["*"], may: [approve, reject]}\n', False)],
    ids=["none", "one"],
)
async def test_case_036_a_policy_under_which_nobody_may_decide_is_warned_of_at_start(store, reviewers, told):
    text = policy_text(URL, reviewers=reviewers)
    async with store.begin() as tx:
        await policies.apply(tx, text=text, digest=text_digest(text), by="test")

    with capture_logs() as said:
        await warn_of_policy(store)

    faults = [line["fault"] for line in said if line["action"] == "policy_warning"]
    assert any("nobody may decide anything" in fault for fault in faults) == told

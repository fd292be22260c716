"""B12 intake: hints are a way in for anybody on the network, so they reach nothing but a bounded reading of a thread."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass, field

import pytest
from starlette.requests import Request
from starlette.types import ASGIApp

from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.serving import serving
from bot.store.policies import Policies
from bot.web.app import HttpEndpoints, create_web
from bot.web.hints import POLICY_READS, Hints
from tests.kit.office import AgentServer, open_office, policy_text
from tests.kit.steps import opened

pytestmark = pytest.mark.asyncio

TOKEN = "demo-intake-token-for-loopback-only"
OTHER_TOKEN = "another-intake-token-for-loopback"
PATTERNS = '[approvals, "app-*"]'
POLLED = 5  # readings of the one thread that waits, which are due without any hint


@contextlib.asynccontextmanager
async def intake_of(office_of, clock):
    """An intake over a real store, and what it let through."""
    async with office_of(users=PATTERNS) as office:
        hints = []
        secrets = {"PLACET_INTAKE_DEMO": TOKEN, "PLACET_INTAKE_OTHER": OTHER_TOKEN}
        yield Hints(office.stores[0], Policies(), secrets.get, lambda *hint: hints.append(hint), clock), hints


def request(thread, body, *, token=TOKEN, tenant="demo"):
    """A request as the router hands it on."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def receive():
        return {"type": "http.request", "body": content, "more_body": False}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [(b"authorization", f"Bearer {token}".encode())],
        "path_params": {"tenant": tenant, "thread_id": thread},
    }
    return Request(scope, receive)


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


BAD_THREADS = ["..", "../assistants", "a/b", "%2e%2e", "a" * 65, "", "a\n", "a b", "t?x=1", "t#x", "ä", "\x00"]
BAD_USERS = ["root", "approvals ", "app-\r\nX-Api-Key: 1", "app-ä", "app-" + "a" * 200, "", "*", 7, None, ["approvals"]]


async def test_b12_traversal_and_foreign_identities_are_not_admitted(office_of):
    async with intake_of(office_of, Clock()) as (intake, hints):
        for thread in BAD_THREADS:
            answer = await intake.sync(request(thread, {"user_id": "approvals"}))
            assert answer.status_code == 422, thread
            assert (await intake.webhook(request("x", {"thread_id": thread}))).status_code == 422, thread
        for user in BAD_USERS:
            assert (await intake.sync(request("t-1", {"user_id": user}))).status_code == 422, user
        for body in (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000):
            assert (await intake.sync(request("t-1", body))).status_code == 422

        assert hints == []


async def test_b12_another_tenant_s_token_and_no_token_look_the_same(office_of):
    async with intake_of(office_of, Clock()) as (intake, hints):
        answers = [
            await intake.sync(request("t-1", {"user_id": "approvals"}, token=token, tenant=tenant))
            for token, tenant in ((OTHER_TOKEN, "demo"), ("", "demo"), (TOKEN, "other"), (TOKEN, "*"), ("ä", "demo"))
        ]

        assert {(answer.status_code, answer.body) for answer in answers} == {(401, answers[0].body)}
        assert hints == []


@dataclass
class Asked:
    """An agent server's front that keeps who asked for which path."""

    app: ASGIApp
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            identity = dict(scope["headers"]).get(b"x-user-id", b"").decode()
            self.requests.append((scope["method"], scope["path"], identity))
        await self.app(scope, receive, send)


class CountedPolicies(Policies):
    """The policies, and how often the database was asked for them."""

    asked = 0

    async def in_force(self, tx):
        self.asked += 1
        return await super().in_force(tx)


@contextlib.asynccontextmanager
async def counted(tmp_path, clock):
    """An office on SQLite, its agent server's front, and an intake of its hints that is timed by this clock."""
    app = Asked(create_agent(database=tmp_path / "agent.sqlite", effects_file=tmp_path / "effects.jsonl"))
    async with serving(app) as url:
        agent = AgentServer(url, tmp_path / "effects.jsonl")
        text = policy_text(url, users=PATTERNS)
        async with open_office(f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}", agent, policy=text) as office:
            placet = office.replicas[0]

            def hint(*about):
                placet.watcher.hint(*about)
                placet.loops["watch"].wake()

            secrets = {"PLACET_INTAKE_DEMO": TOKEN, "PLACET_INTAKE_OTHER": OTHER_TOKEN}
            intake = Hints(office.stores[0], CountedPolicies(), secrets.get, hint, clock)
            yield office, app, intake


async def ready():
    return None


async def posted(web, path, body, token):
    """One request, straight into the application; answers its status."""
    content, status = json.dumps(body).encode(), []

    async def receive():
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message):
        status.extend([message["status"]] if message["type"] == "http.response.start" else [])

    headers = [(b"authorization", f"Bearer {token}".encode()), (b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
    await web({**scope, "query_string": b"", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}, receive, send)
    return status[0]


def flood(threads, number):
    """The next of many hints: one in ten from elsewhere or by nobody, the others about threads that exist and do not."""
    thread = threads[number % len(threads)] if number % 3 else f"t-{number % 500}"
    match number % 10:
        case 0:
            return f"/v1/tenants/demo/threads/{thread}/sync", {"user_id": "somebody-else"}, TOKEN
        case 1:
            return f"/v1/tenants/demo/threads/{thread}/sync", {"user_id": "approvals"}, OTHER_TOKEN
        case 2:
            return "/v1/tenants/demo/webhook", {"thread_id": thread}, TOKEN
    return f"/v1/tenants/demo/threads/{thread}/sync", {"user_id": "app-one"}, TOKEN


async def test_b12_ten_thousand_hints_in_ten_seconds_are_a_hundred_readings_as_the_tenant_s_own_identities(tmp_path):
    clock = Clock()
    async with counted(tmp_path, clock) as (office, asked, intake):
        web = create_web(HttpEndpoints(None, intake, ready))
        made = await office.agents.post("/threads", json={"metadata": {}}, headers={"X-User-Id": "somebody-else"})
        foreign = made.raise_for_status().json()["thread_id"]
        own = await office.propose("one")
        (review,) = await opened(office, own)
        asked.requests.clear()

        told = Counter()
        for number in range(10_000):
            clock.now += 0.001
            told[await posted(web, *flood([foreign, own], number))] += 1
        await office.until(lambda: read(office), "every hint to be read")

        assert 100 <= told[202] <= 101
        assert intake.policies.asked <= 11 * POLICY_READS
        assert set(told) == {202, 401, 422, 429}
        states = [one for one in asked.requests if one[1].endswith("/state")]
        assert 0 < len(states) <= told[202] + POLLED
        assert {identity for _, _, identity in asked.requests} <= {"approvals", "app-one"}
        assert [one.id for one in await office.reviews()] == [review.id]


async def read(office):
    placet = office.replicas[0]
    return not placet.watcher._hints and not len(placet.tasks)


async def test_b12_hints_about_threads_of_others_open_nothing(office_of):
    """The agent server shows an identity its own threads only; a hint cannot borrow another one."""
    async with office_of(users=PATTERNS) as office:
        made = await office.agents.post("/threads", json={"metadata": {}}, headers={"X-User-Id": "somebody-else"})
        foreign = made.raise_for_status().json()["thread_id"]
        headers = {"Authorization": f"Bearer {TOKEN}"}
        body = {"user_id": "app-one"}
        answer = await office.bots[0].post(f"/v1/tenants/demo/threads/{foreign}/sync", json=body, headers=headers)
        thread = await office.propose("one")
        await office.review(thread)

        assert answer.status_code == 202
        assert await office.reviews(foreign) == []


async def test_b12_the_policy_with_patterns_is_as_the_tests_think():
    assert PATTERNS in policy_text("http://127.0.0.1:1", users=PATTERNS)

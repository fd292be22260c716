"""B12 intake: hints are a way in for anybody on the network, so they reach nothing but a bounded reading of a thread."""

from __future__ import annotations

import contextlib
import json

import pytest
from starlette.requests import Request

from bot.policies import Policies
from bot.web.intake import Intake
from tests.office import policy_text

pytestmark = pytest.mark.asyncio

TOKEN = "demo-intake-token-for-loopback-only"
OTHER_TOKEN = "another-intake-token-for-loopback"
PATTERNS = '[approvals, "app-*"]'


@contextlib.asynccontextmanager
async def intake_of(office_of, clock):
    """An intake over a real store, and what it let through."""
    async with office_of(users=PATTERNS) as office:
        hints = []
        secrets = {"PLACET_INTAKE_DEMO": TOKEN, "PLACET_INTAKE_OTHER": OTHER_TOKEN}
        yield Intake(office.stores[0], Policies(), secrets.get, lambda *hint: hints.append(hint), clock), hints


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


async def test_b12_whatever_the_number_of_hints_ten_a_second_are_readings(office_of):
    clock = Clock()
    async with intake_of(office_of, clock) as (intake, hints):
        for number in range(300):
            clock.now += 0.005
            await intake.sync(request(f"t-{number % 7}", {"user_id": "app-one"}))

        assert len(hints) == 20
        assert {hint[1] for hint in hints} == {"app-one"}


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

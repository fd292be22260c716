"""What happens to an agent server that the policy has left: no key of the new one may reach it, and going back works."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from bot.dispatch.follow_up import UnknownOutcomes
from bot.store import dispatches
from bot.store.policies import Policies
from tests.acceptance.test_a6_audit import an_unknown_outcome
from tests.kit.office import ADA, BEN, local_agent, policy_text
from tests.kit.steps import opened, pause, resume, rewrite, stands

pytestmark = pytest.mark.asyncio
KEY = "key-of-the-new-server"


def listen(office):
    """Every request that leaves the bot for an agent server by the pooled client: its address and its key."""
    heard = []
    for placet in office.replicas:
        placet.agents._secret = {"PLACET_AGENT_KEY_NEW": KEY}.get

        async def note(request):
            heard.append((str(request.url), KEY in str(request.headers.raw)))

        placet.agents._http.event_hooks["request"].append(note)
    return heard


def leaks(heard, office):
    return [url for url, has_key in heard if has_key and url.startswith(office.agent.url)]


async def move_away(office, url):
    policy = policy_text(url, kind=office.agent.kind)
    await office.apply_policy(policy.replace("users:", "api_key_env: PLACET_AGENT_KEY_NEW, users:"))


async def test_a1_moved_server_opening_an_old_result_does_not_send_the_new_servers_key_to_the_old_server(
    office_of, tmp_path
):
    (tmp_path / "elsewhere").mkdir()
    async with office_of() as office, local_agent(tmp_path / "elsewhere") as elsewhere:
        thread = await office.propose(
            turns=[
                [
                    {
                        "name": "refund",
                        "args": {
                            "order_id": 1,
                            "amount": 1.5,
                            "currency": "EUR " * 6000,
                            "notify": False,
                            "labels": None,
                        },
                    }
                ]
            ]
        )
        (review,) = await opened(office, thread)
        view = (await office.click(ADA, await office.card_of(review, button="review.open"), "review.open"))["view"]
        while any(block["block_id"] == "pages" and "Next page" in str(block) for block in view["blocks"]):
            view = (await office.press(ADA, view, "review.page.next", "pages"))["view"]
        await office.submit(ADA, {"d.0": "approve"})
        await office.settled(thread)
        card = await office.card_of(review, button="result.open")
        heard = listen(office)
        await move_away(office, elsewhere.url)
        await office.click(ADA, card, "result.open")

        async def shown():
            view = (await office.slack.get("/sandbox/modal", params={"user": ADA})).json()["view"]
            return view if view and "refunded" in str(view) else None

        await office.until(shown, "the result")
        assert leaks(heard, office) == []


async def test_a1_moved_server_looking_at_an_unknown_outcome_does_not_send_the_new_servers_key_to_the_old_server(
    office_of, tmp_path
):
    (tmp_path / "elsewhere").mkdir()
    async with office_of() as office, local_agent(tmp_path / "elsewhere") as elsewhere:
        await an_unknown_outcome(office)
        heard = listen(office)
        await move_away(office, elsewhere.url)
        office.stores[0].offset_ms += 120_000
        agents = office.replicas[0].agents
        await UnknownOutcomes(office.stores[0], Policies(), agents, lambda: None).step()
        assert leaks(heard, office) == []


async def test_a1_moved_server_a_call_that_waits_still_is_asked_about_again_when_the_policy_comes_back(
    office_of, tmp_path
):
    (tmp_path / "elsewhere").mkdir()
    async with office_of() as office, local_agent(tmp_path / "elsewhere") as elsewhere:
        thread = await office.propose("one")
        (first,) = await opened(office, thread)
        await pause(office)
        await office.click(BEN, await office.card_of(first, button="decide.approve"), "decide.approve")
        await rewrite(office, url=elsewhere.url)
        await stands(office, first, "superseded", why="moved_server")
        await office.apply_policy(policy_text(office.agent.url, kind=office.agent.kind) + "# back again\n")
        await resume(office)
        await office.hint(thread)
        (again,) = await opened(office, thread)
        assert again.id != first.id


async def test_a1_moved_server_an_answer_under_way_to_a_server_that_the_policy_left_becomes_an_explained_unknown(
    office_of, tmp_path
):
    (tmp_path / "elsewhere").mkdir()
    async with office_of() as office, local_agent(tmp_path / "elsewhere") as elsewhere:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        await pause(office)
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "decided")
        async with office.stores[0].begin() as tx:
            await tx.conn.execute(text("UPDATE tenants SET paused_at = NULL"))
            claim = await dispatches.claim_next(tx, owner="lost", lease_ms=600_000)
            assert await dispatches.arm(tx, claim, body_hash="b")
        heard = listen(office)
        await move_away(office, elsewhere.url)
        office.advance(601_000)

        await stands(office, review, "unknown", why="moved_server")
        assert leaks(heard, office) == []

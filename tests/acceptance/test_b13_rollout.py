"""B13 rollout: old cards on a new version, two versions at once, and a policy file that somebody forgot to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.serve import first_policy
from bot.store import policies
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, policy_text
from tests.kit.steps import opened, pause, resume, rewrite, stands

pytestmark = pytest.mark.asyncio

ONLY_BEN = '      - {user: U0BEN, tools: ["*"], may: [approve, edit, reject, respond]}\n'


async def test_b13_a_stale_policy_file_on_one_replica_grants_nothing(office_of, tmp_path):
    async with office_of(replicas=2) as office:
        old = policy_text(office.agent.url)
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")
        await rewrite(office, reviewers=ONLY_BEN)
        stale = tmp_path / "policy.yaml"
        stale.write_text(old)

        await first_policy(replace(office.settings, policy_path=stale), office.stores[1])
        for replica in (0, 1):
            await forge(
                office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card), replica=replica
            )
        await office.told(ADA, "not a reviewer")

        async with office.stores[1].read() as tx:
            assert (await policies.current(tx)).version == 2
        assert office.ran(thread) == []


async def test_b13_an_old_card_still_decides_what_it_showed(office_of):
    """Its buttons stay; whether they count is judged by what is stored now."""
    async with office_of(replicas=2) as office:
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")
        await rewrite(office, tools="      send_email: {title: Another}\n")

        await forge(office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card), replica=1)
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]


async def test_b13_a_button_of_another_version_is_answered_and_decides_nothing(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")
        (review,) = await opened(office, thread)

        for action in ("decide.later", "approve", "vote.up"):
            answer = await forge(office, pressed(ADA, showing_of(card, "decide.approve"), action, card=card))
            assert answer.status_code == 200

        assert (await stands(office, review, "open")).actions[0].decision is None


async def test_b13_a_decision_under_an_older_policy_is_judged_again_under_the_newest(office_of):
    async with office_of(replicas=2) as office:
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        review = await office.review(thread, state="decided")

        await rewrite(office, reviewers=ONLY_BEN)
        await resume(office)
        await stands(office, review, "open", why="voided_authority")
        await office.click(BEN, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]

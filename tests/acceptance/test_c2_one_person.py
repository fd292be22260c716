"""C2 one person: whatever the payload calls them, one person is one approval."""

from __future__ import annotations

import contextlib
import itertools
import json
import random

import pytest

from bot.sandbox.slack.records import Group, Member, Spelling, Team
from bot.sandbox.slack.seed import add_foreigner
from tests.acceptance.test_a2_home import my_queue, tab
from tests.acceptance.test_b5_poisoned import a_broken_review
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, CHANNEL, local_agent, open_office, policy_text
from tests.kit.office_fixtures import PATIENT
from tests.kit.operating import chosen
from tests.kit.steps import decide_in_modal, opened, redrawn, refusals, stands

pytestmark = pytest.mark.asyncio
ORG, ORG_BEN = "E0DEMO", "W0BEN"
SPELLINGS = [Spelling(org_wide, org_ids) for org_wide, org_ids in itertools.product((False, True), repeat=2)]
QUORUM = '      "*": {approvals: 2}\n'
REVIEWERS = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: ["*"], may: [approve, edit, reject]}
      - {group: S0LEADS, tools: ["*"], may: [approve, edit, reject]}
      - {user: W0BEN, tools: [refund], may: [approve]}
"""


def organisation(world, settings):
    """The workspace belongs to an organisation, which has another id for Ben; his groups list him by either."""
    world.add(
        Team("T0DEMO", "Demo", "demo", ORG),
        Member(BEN, "Ben", "T0DEMO", reviewer=True, org_id=ORG_BEN),
        Group("S0LEADS", "leads", "T0DEMO", (BEN,)),
    )
    return settings


@pytest.fixture
def org_office(database, tmp_path):
    """An office in an organisation."""

    @contextlib.asynccontextmanager
    async def make(*, tools="", **options):
        async with local_agent(tmp_path) as agent:
            text = policy_text(agent.url, reviewers=REVIEWERS, tools=tools)
            text = text.replace("team: T0DEMO,", f"team: T0DEMO, enterprise: {ORG},").replace(
                "[U0ADA]", f"[{ORG_BEN}]", 1
            )
            async with open_office(
                database, agent, policy=text, prepare=organisation, rules=PATIENT, **options
            ) as office:
                yield office

    return make


async def test_c2_one_person_approves_once_by_all_their_names_and_everywhere(org_office):
    async with org_office(tools=QUORUM) as office:
        seed = random.randrange(10_000)
        print(f"seed {seed}")
        spellings = random.Random(seed).sample(SPELLINGS, len(SPELLINGS))
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        office.world.spelling = spellings[0]
        await office.click(BEN, await office.card_of(review, button="decide.approve"), "decide.approve")
        card = await redrawn(office, review, "has 1")
        (first,) = (await stands(office, review, "open")).actions[0].approvals
        assert (first.by.team, first.by.user) == ("T0DEMO", ORG_BEN)

        for number, spelling in enumerate(spellings):
            office.world.spelling = spelling
            await office.click(BEN, card, "decide.approve")

            async def refused(count=number + 1):
                return [reason for _, reason in await refusals(office)].count("already_approved") >= count

            await office.until(refused, f"a refusal by {spelling}")
            assert "decide.approve" not in await my_queue(office, BEN)
        view = await tab(office, BEN, "Approved by you, 1 of 2", look=False)
        assert "decide.approve" not in json.dumps(view)
        assert office.ran(thread) == []

        office.world.spelling = spellings[-1]
        await office.click(BEN, card, "decision.take_back")
        await redrawn(office, review, "has 0")
        office.world.spelling = Spelling()
        await office.click(BEN, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.click(ADA, await redrawn(office, review, "has 1"), "decide.approve")
        await office.settled(thread)
        assert office.ran(thread) == ["disable_user"]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
async def test_c2_buttons_windows_home_command_and_menu_answer_alike(org_office, spelling):
    async with org_office() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        office.world.spelling = spelling
        await office.slack.get("/sandbox/home", params={"user": BEN})
        view = await tab(office, BEN, "Awaiting you: 1 call")
        assert "disable_user" in await my_queue(office, BEN) or "Disable user" in await my_queue(office, BEN)
        assert "decide.reject" in json.dumps(view)

        answer = await decide_in_modal(
            office, BEN, await office.card_of(review, button="decide.reject"), "reject", "Not today."
        )
        assert answer["errors"] == {}
        (after,) = await office.settled(thread)

        assert office.ran(thread) == []
        assert (after.actions[0].decision.by.team, after.actions[0].decision.by.user) == ("T0DEMO", ORG_BEN)
        assert "other_workspace" not in [reason for _, reason in await refusals(office)]


async def test_c2_a_window_opened_by_one_name_is_sent_by_another(org_office):
    async with org_office() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        for before, after in itertools.pairwise([*SPELLINGS, SPELLINGS[0]]):
            office.world.spelling = before
            window = await office.click(BEN, await office.card_of(review, button="decide.edit"), "decide.edit")
            field = next(block["block_id"] for block in window["view"]["blocks"] if block["type"] == "input")
            office.world.spelling = after
            shown = await office.submit(BEN, {field: "u_changed"})
            assert (shown["error"], shown["errors"]) == (None, {})
            assert "u_changed" in json.dumps(shown["view"])
        await office.submit(BEN)
        await office.settled(thread)
        assert [one["args"]["user_id"] for one in office.effects(thread)] == ["u_changed"]


async def test_c2_an_outsider_with_a_member_s_id_decides_nothing(org_office):
    async with org_office(tools=QUORUM) as office:
        add_foreigner(office.world, Member("U0EXT", "Ext", "T0PARTNER"), channel=CHANNEL)
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")
        await office.click(ADA, card, "decide.approve")
        again = await redrawn(office, review, "has 1")
        for user in (ADA, BEN, ORG_BEN, "U0EXT"):
            for home in ("T0PARTNER", "E0PARTNER"):
                for action_id in ("decide.approve", "decision.take_back"):
                    showing = showing_of(again, action_id)
                    await forge(office, pressed(user, showing, action_id, card=again, home=home))

        held = await stands(office, review, "open")
        assert [one.by.user for one in held.actions[0].approvals] == [ADA]
        assert office.ran(thread) == []


async def test_c2_an_operator_is_known_by_every_name(org_office):
    async with org_office() as office:
        broken = await a_broken_review(office)
        for spelling in SPELLINGS:
            office.world.spelling = spelling
            window = await chosen(office, BEN, await redrawn(office, broken, "Broken"), "repair")
            assert window is not None, spelling
        await office.submit(BEN)
        await opened(office, broken.thread_id)

        asked = [event.actor for event in await office.events(broken.id) if event.kind == "repair.asked"]
        assert asked == [f"slack:T0DEMO/{ORG_BEN}"]

"""However Slack spells somebody, they are one person of a tenant; an outsider never is a member."""

from __future__ import annotations

import random

import pytest

from bot.access.context import ClickContext, NoClickContext, load_context, standings
from bot.access.deciding import DecisionRequest, DecisionService
from bot.access.person import Actor, known_person, presser_of
from bot.core.decide import Intent, Refusal
from bot.core.model import DecisionType, PersonId
from bot.policy.model import person_key
from bot.slack.client.people import people_save
from bot.store import people, policies, reviews
from bot.store.engine import Store
from bot.store.policies import Policies, text_digest
from bot.store.showings import insert_showing
from tests.kit.made import URL, given_review, make_showing
from tests.kit.office import policy_text

pytestmark = pytest.mark.asyncio
TEAM, ORG, ORG_ID, LOCAL = "T0DEMO", "E0DEMO", "W0ADA", "U0ADA"
SEEDS = range(12)
KEY = PersonId(TEAM, ORG_ID)


def policy(reviewers: str, tools: str = "") -> str:
    text = policy_text(URL, reviewers=reviewers, tools=tools)
    return text.replace("team: T0DEMO,", f"team: T0DEMO, enterprise: {ORG},")


def rules(rng: random.Random) -> str:
    """Ada named by one or both ids, or in one or two groups, by either id."""
    named = rng.sample(
        [
            f"{{user: {LOCAL}, tools: ['*'], may: [approve, edit, reject]}}",
            f"{{user: {ORG_ID}, tools: ['*'], may: [approve, edit, reject]}}",
            "{group: S0SUPPORT, tools: ['*'], may: [approve, edit, reject]}",
            "{group: S0LEADS, tools: ['*'], may: [approve, edit, reject]}",
        ],
        rng.randint(1, 4),
    )
    ben = "{user: U0BEN, tools: ['*'], may: [approve, edit, reject]}"
    return "".join(f"      - {line}\n" for line in [*named, ben])


def ada_as_told() -> dict[str, object]:
    org = {"id": ORG_ID, "enterprise_id": ORG, "teams": [TEAM, "T0SISTER"]}
    return {"id": LOCAL, "team_id": TEAM, "deleted": False, "enterprise_user": org}


def spelling(rng: random.Random) -> Actor:
    """One of the ways in which a payload may call Ada: workspace, organisation, Home, view, command; either id."""
    place, home = rng.choice(
        [(TEAM, TEAM), (TEAM, None), (TEAM, ORG), (TEAM, "T0SISTER"), (ORG, ORG), (ORG, TEAM), (ORG, None)]
    )
    return Actor(place, rng.choice([LOCAL, ORG_ID]), home)


async def prepared(store: Store, text: str, rng: random.Random) -> tuple[object, str]:
    review = await given_review(store, tenant="demo")
    showing = make_showing(review)
    async with store.begin() as tx:
        await policies.apply(tx, text=text, digest=text_digest(text), by="test", rollback=True)
        for group in ("S0SUPPORT", "S0LEADS"):
            await people.save_group(tx, TEAM, group, [rng.choice([LOCAL, ORG_ID])])
        await insert_showing(tx, showing)
        now = tx.now
    for user in (LOCAL, ORG_ID):
        await people_save(store, PersonId(TEAM, user), ada_as_told(), now)
    await people_save(store, PersonId(TEAM, "U0BEN"), {"id": "U0BEN", "team_id": TEAM}, now)
    return review, showing.id


def approving(actor: Actor, showing: str, delivery: str) -> DecisionRequest:
    return DecisionRequest(actor, showing, delivery, lambda _review, _showing: (Intent(0, DecisionType.APPROVE),))


@pytest.mark.parametrize("seed", SEEDS)
async def test_one_person_is_one_approval_by_whatever_names(store: Store, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    review, showing = await prepared(store, policy(rules(rng), '      "*": {approvals: 2}\n'), rng)
    decision_service = DecisionService(store, Policies())
    first, *others = [spelling(rng) for _ in range(5)]

    assert (await decision_service.rule(approving(first, showing, "d0"))).refused is None, first
    for number, again in enumerate(others, 1):
        result = await decision_service.rule(approving(again, showing, f"d{number}"))
        assert result.refused is not None, again
        assert result.refused.reason is Refusal.ALREADY_APPROVED, (again, result.refused)

    async with store.read() as tx:
        now = await reviews.load_review(tx, review.id)
    assert now is not None
    assert [one.by for one in now.actions[0].approvals] == [KEY]
    back = await decision_service.take_back(approving(rng.choice(others), showing, "back"))
    assert back.refused is None
    assert back.review is not None
    assert back.review.actions[0].approvals == ()


@pytest.mark.parametrize("seed", SEEDS)
async def test_somebody_from_outside_with_a_member_s_id_never_counts_as_the_member(store: Store, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    listed = rng.random() < 0.5
    text = policy(rules(rng), '      "*": {approvals: 2}\n')
    if listed:
        text = text.replace("    reviewers:", f"    outsiders: [{{team: T0PARTNER, user: {LOCAL}}}]\n    reviewers:")
    _, showing = await prepared(store, text, rng)
    decision_service = DecisionService(store, Policies())
    outsider = Actor(rng.choice([TEAM, ORG]), rng.choice([LOCAL, ORG_ID]), rng.choice(["T0PARTNER", "E0PARTNER"]))
    member = await decision_service.rule(approving(spelling(rng), showing, "d0"))

    result = await decision_service.rule(approving(outsider, showing, "d1"))
    back = await decision_service.take_back(approving(outsider, showing, "d2"))

    assert result.refused is not None
    assert result.refused.reason in (Refusal.OUTSIDER, Refusal.CANNOT_CONFIRM)
    assert back.refused is not None
    if member.refused is None:
        assert back.refused.reason is Refusal.NOT_AUTHOR


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_private_window_is_one_person_s_and_nobody_else_s(store: Store, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    text = policy(rules(rng))
    review, _ = await prepared(store, text, rng)
    private = make_showing(review, to=KEY)  # type: ignore[arg-type]
    async with store.begin() as tx:
        await insert_showing(tx, private)
    outsider = Actor(TEAM, rng.choice([LOCAL, ORG_ID]), "T0PARTNER")
    for actor, found in (
        (spelling(rng), ClickContext),
        (outsider, NoClickContext),
        (Actor(TEAM, "U0BEN", TEAM), NoClickContext),
    ):
        async with store.read() as tx:
            context = await load_context(tx, Policies(), actor, private.id)
        assert isinstance(context, found), actor


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_stored_key_means_the_same_person_at_the_dispatch(store: Store, seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    await prepared(store, policy(rules(rng)), rng)
    async with store.read() as tx:
        in_force = await Policies().in_force(tx)
        tenant = in_force.tenant("demo")
        assert tenant is not None
        for standing in await standings(tx, in_force, spelling(rng)):
            again = await known_person(tx, tenant, presser_of(tenant, standing.who), fresh_since=tx.now - 120_000)
            assert (person_key(tenant, again), again.unconfirmed) == (KEY, False)


@pytest.mark.parametrize(
    ("actor", "touches"),
    [
        (Actor(TEAM, LOCAL, TEAM), True),
        (Actor(ORG, LOCAL, ORG), True),
        (Actor("T0SISTER", LOCAL, "T0SISTER"), False),
        (Actor("T0OTHER", LOCAL, TEAM), False),
        (Actor("E0OTHER", LOCAL, TEAM), False),
        (Actor("", LOCAL, TEAM), False),
    ],
)
async def test_a_press_touches_a_tenant_through_its_workspace_or_its_organisation(store: Store, actor, touches) -> None:
    rng = random.Random(1)
    _, showing = await prepared(store, policy(rules(rng)), rng)
    for operator in (False, True):
        async with store.read() as tx:
            context = await load_context(tx, Policies(), actor, showing, operator=operator)
            listed = await standings(tx, await Policies().in_force(tx), actor)
        assert (isinstance(context, ClickContext), bool(listed)) == (touches, touches)
        if isinstance(context, NoClickContext):
            assert context.refused.reason is Refusal.OTHER_WORKSPACE


async def test_who_asked_for_a_call_is_known_by_each_of_their_ids(store: Store) -> None:
    text = policy(rules(random.Random(3)))
    rng = random.Random(3)
    await prepared(store, text, rng)
    review = await given_review(store, tenant="demo", requester=ORG_ID)
    showing = make_showing(review)
    async with store.begin() as tx:
        await insert_showing(tx, showing)

    result = await DecisionService(store, Policies()).rule(approving(Actor(TEAM, LOCAL, TEAM), showing.id, "own"))

    assert result.refused is not None
    assert result.refused.reason is Refusal.OWN_REQUEST


async def test_one_reading_tells_all_ids_of_an_account(store: Store) -> None:
    """Cleo asked by her account's id, and presses by the organisation's, by which alone Slack was asked."""
    text = policy("      - {user: W0CLEO, tools: ['*'], may: [approve, reject]}\n")
    await prepared(store, text, random.Random(7))
    review = await given_review(store, tenant="demo", requester="U0CLEO")
    showing = make_showing(review)
    async with store.begin() as tx:
        await insert_showing(tx, showing)
        now = tx.now
    org = {"id": "W0CLEO", "enterprise_id": ORG, "teams": [TEAM]}
    await people_save(store, PersonId(TEAM, "W0CLEO"), {"id": "U0CLEO", "team_id": TEAM, "enterprise_user": org}, now)

    result = await DecisionService(store, Policies()).rule(approving(Actor(ORG, "W0CLEO", ORG), showing.id, "own"))

    assert result.refused is not None
    assert result.refused.reason is Refusal.OWN_REQUEST


async def test_an_id_of_the_organisation_that_nobody_has_read_is_not_told_to_be_no_reviewer(store: Store) -> None:
    """The lists may know the same person by another id."""
    rng = random.Random(5)
    _, showing = await prepared(store, policy(rules(rng)), rng)

    result = await DecisionService(store, Policies()).rule(approving(Actor(ORG, "U0ADAELSEWHERE", ORG), showing, "new"))

    assert result.refused is not None
    assert result.refused.reason is Refusal.CANNOT_CONFIRM

"""What awaits one person, and the Home tab that shows it.

What awaits one person: every open call that they may decide, in the tenants of their workspace. The command and the
Home tab are drawn from this. Nothing here is a right: whoever presses is judged again. A workspace's person never
sees another workspace's tenant.

App Home: each person's own queue, drawn for them and kept up to date while they may be looking. An opened tab is a
row; a worker of whichever replica takes it publishes what the store says, at most once for each content. Tabs opened
within the last hour are looked at again, also after a restart, so that they converge like cards do. Nothing is
decided here: the buttons carry showings that only this person can use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from blocks import ids, words
from blocks.home import CALLS, HomeView, RenderedHome, ask_whom, home_view, pages
from bot.access.context import standings
from bot.access.person import Actor
from bot.core.model import Action, DecisionType, Offer, PersonId, Review, ReviewState, Showing, ShowingKind
from bot.core.take_back import authors
from bot.errors import SlackError
from bot.policy.matching import tool_settings
from bot.slack.client import web_api
from bot.slack.client.people import Clients, PeopleReader
from bot.slack.inbound.payloads import MalformedPayload, parse_click, parse_opened
from bot.slack.outbound.projection import DrawingContext, call_view, offered, read_only_positions
from bot.slack.windows.review import new_showing_id
from bot.store import messages, people, reviews, showings, tenants
from bot.store.decisions import decided_lately
from bot.store.engine import Store, Tx
from bot.store.messages import Tab
from bot.store.policies import InForce, Policies

MOST = 300


@dataclass(frozen=True, slots=True)
class AwaitingCall:
    """One call that a person may decide, and what it is drawn against."""

    review: Review
    action: Action
    drawing: DrawingContext
    risk: str


@dataclass(frozen=True, slots=True)
class PersonQueue:
    """A person's queue, riskiest and oldest first. `ask` says why there can be none; `unsure`: Slack was not asked yet."""

    calls: tuple[AwaitingCall, ...]
    stages: tuple[DrawingContext, ...]
    ask: str | None = None
    unsure: bool = False
    approved: tuple[AwaitingCall, ...] = ()  # what they have approved and what waits for others
    cut: bool = False  # a tenant has more reviews than are looked through


async def queue_of(tx: Tx, in_force: InForce, actor: Actor) -> PersonQueue:
    """Read what awaits this person."""
    paused = await tenants.paused(tx)
    stages = [
        DrawingContext(each.tenant, tx.now, each, each.tenant.name in paused or tenants.ALL in paused)
        for each in await standings(tx, in_force, actor)
    ]
    if not stages:
        return PersonQueue((), (), words.NO_TENANT_HERE)
    found = [await _pending(tx, drawing) for drawing in stages]
    calls = sorted((one for each in found for one in each.calls), key=_first)
    awaiting = [
        one
        for one in calls
        if one.drawing.viewed_by not in authors(one.action) and offered(one.review, one.action, one.drawing)
    ]
    told = _told(in_force, stages, awaiting)
    approved = tuple(one for one in calls if one.drawing.viewed_by in authors(one.action))
    return replace(told, approved=approved, cut=any(each.cut for each in found))


def _first(one: AwaitingCall) -> tuple[bool, int, str, int]:
    """Riskiest first, then oldest."""
    return one.risk != "high", one.review.opened_at, one.review.id, one.action.position


def _told(in_force: InForce, stages: Sequence[DrawingContext], calls: Sequence[AwaitingCall]) -> PersonQueue:
    viewers = [drawing.viewer.person for drawing in stages if drawing.viewer is not None]
    unsure = any(person.unconfirmed for person in viewers)
    not_sure = words.NEVER_SURE if any(person.unreadable for person in viewers) else words.NOT_SURE
    if calls or any(_is_reviewer(drawing) for drawing in stages):
        return PersonQueue(tuple(calls), tuple(stages), not_sure if unsure and not calls else None, unsure)
    operators = in_force.policy.operators if in_force.policy else ()
    return PersonQueue((), tuple(stages), not_sure if unsure else ask_whom(operators), unsure)


def _is_reviewer(drawing: DrawingContext) -> bool:
    person = drawing.viewer.person if drawing.viewer else None
    return person is not None and any(
        rule.may and (rule.user in person.ids or rule.group in person.groups) for rule in drawing.tenant.reviewers
    )


@dataclass(frozen=True, slots=True)
class _Pending:
    """One tenant's undecided calls, as far as they are looked through."""

    calls: tuple[AwaitingCall, ...]
    cut: bool


async def _pending(tx: Tx, drawing: DrawingContext) -> _Pending:
    found = await reviews.list_pending(tx, tenant=drawing.tenant.name, limit=MOST)
    waiting = [review for review in found if review.state is ReviewState.OPEN and not review.problem]
    calls = tuple(
        AwaitingCall(review, action, drawing, tool_settings(drawing.tenant, action.tool).risk)
        for review in waiting
        if not read_only_positions(review, drawing.tenant)
        for action in review.undecided
    )
    return _Pending(calls, len(found) == MOST)


log = structlog.get_logger("placet")
OPEN_MS = 3_600_000
LOOK_MS = 3_000
AT_ONCE = 50
LONGEST_PAGE = 4
LATELY = 8

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnHome:
    """A tab as it should be, with the showings of its cards."""

    rendered: RenderedHome
    made: tuple[Showing, ...]
    content: str
    page: int
    unsure: bool


class Home:
    """One replica's share of the Home tabs."""

    def __init__(self, store: Store, policies: Policies, clients: Clients, people: PeopleReader) -> None:
        self._store, self._policies, self._clients, self._people = store, policies, clients, people
        self.wake: Callable[[], None] = lambda: None
        self.asked: Callable[[], None] = lambda: None

    def register(self, app: AsyncApp) -> None:
        """Put the pages' buttons on the app, before the listener that catches every other."""
        for way in ("back", "next"):
            app.action(f"{ids.HOME_PAGE}.{way}")(self.turn)

    async def opened(self, body: Body) -> None:
        """Somebody looks at their tab: a hint."""
        with contextlib.suppress(MalformedPayload):
            actor = parse_opened(body)
            if actor is not None:
                await self._hint(actor, 0)

    async def turn(self, ack: AsyncAck, body: Body) -> None:
        """Another page of the tab."""
        with contextlib.suppress(MalformedPayload):
            click = parse_click(body)
            if click.value.isdecimal() and len(click.value) < LONGEST_PAGE:
                await self._hint(click.actor, int(click.value))
        await ack()

    async def _hint(self, actor: Actor, page: int) -> None:
        """One row for one person's tab, however Slack calls them: two would draw over each other."""
        async with self._store.begin() as tx:
            in_force = await self._policies.in_force(tx)
            here = [each.tenant.slack_team for each in await standings(tx, in_force, actor)]
            team = actor.team if actor.team in here else min(here, default=actor.team)
            if self._clients(team) is None:
                return  # a workspace that the app is not installed in
            account = await people.account(tx, team, actor.user)
            person_id = account.person.person_id if account.person else None
            await messages.open_tab(tx, PersonId(team, person_id or actor.user), page)
        self.wake()

    async def step(self) -> bool:
        """Publish every tab that shows something else than it should."""
        async with self._store.read() as tx:
            due = await messages.is_due(tx)
        if not due:
            return False
        async with self._store.begin() as tx:
            taken = await messages.take_tabs(tx, every_ms=LOOK_MS, open_ms=OPEN_MS, limit=AT_ONCE)
        for tab in taken:
            await self._publish(tab)
        return len(taken) == AT_ONCE

    async def _publish(self, tab: Tab) -> None:
        who, client = tab.who, self._clients(tab.who.team)
        if client is None:
            async with self._store.begin() as tx:
                await messages.forget_tab(tx, who)
            return
        async with self._store.read() as tx:
            drawn = await self._drawn(tx, who, tab.page)
        if drawn.unsure:
            self._people.want(tab.who)
            self.asked()
        if drawn.content == tab.content:
            return
        async with self._store.begin() as tx:
            for showing in drawn.made:
                await showings.insert_showing(tx, showing)
        try:
            await web_api.call(client.views_publish(user_id=who.user, view=drawn.rendered.view))
        except SlackError as exc:
            log.warning("A Home tab could not be published.", action="slack_fault", code=exc.code)
            return
        async with self._store.begin() as tx:
            await messages.shows(tx, tab, page=drawn.page, content=drawn.content)

    async def _drawn(self, tx: Tx, who: PersonId, page: int) -> DrawnHome:
        found = await queue_of(tx, await self._policies.in_force(tx), Actor(who.team, who.user, None))
        page = min(page, pages(len(found.calls)) - 1)
        here = found.calls[page * CALLS : (page + 1) * CALLS]
        named = [(new_showing_id(), one) for one in here]
        cards = tuple(call_view(one.review, one.action, one.drawing, showing=showing) for showing, one in named)
        lately = await _lately(tx, found)
        rendered = home_view(HomeView(cards, len(found.calls), page, lately, found.ask, MOST if found.cut else None))
        made = tuple(
            _showing(showing, one, offer) for (showing, one), offer in zip(named, rendered.offers, strict=True)
        )
        return DrawnHome(rendered, made, _content(rendered, made), page, found.unsure)


async def _lately(tx: Tx, found: PersonQueue) -> tuple[Any, ...]:
    stages = {drawing.tenant.name: drawing for drawing in found.stages}
    if not stages:
        return ()
    approved = tuple(call_view(one.review, one.action, one.drawing, showing="") for one in found.approved[:LATELY])
    decided = await decided_lately(tx, {name: drawing.viewed_by for name, drawing in stages.items()}, limit=LATELY)
    return approved + tuple(
        call_view(review, review.actions[position], stages[review.tenant], showing="") for review, position in decided
    )


def _showing(showing_id: str, one: AwaitingCall, offer: Any) -> Showing:
    kinds = tuple(DecisionType(kind) for kind in offer.offered)
    return Showing(
        id=showing_id,
        review_id=one.review.id,
        position=one.action.position,
        kind=ShowingKind.HOME,
        digest=one.action.standing_digest,
        offers=(Offer(one.action.position, kinds, offer.complete),),
        to=one.drawing.viewed_by,
        at=one.drawing.now,
    )


def _content(rendered: RenderedHome, made: tuple[Showing, ...]) -> str:
    """What a reader could tell apart, and what is bound to it, without the showings' own ids."""
    content = json.dumps([rendered.view, [showing.digest for showing in made]])
    for showing in made:
        content = content.replace(showing.id, "s")
    return hashlib.sha256(content.encode()).hexdigest()

"""People at their Slack clients, and agents that propose: each case of the plan as one task.

People press what their cards show, look whether anything came of it, and press again when Slack told them that the app did
not answer. Every press is noted before it leaves, with whether Slack showed it as taken: what the bot must answer for.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx

from bot.sandbox.slack.clicks import ClickRequest, click
from bot.sandbox.slack.lookup import CannotDo, NotThere
from bot.sandbox.slack.records import Channel, Member
from bot.sandbox.slack.signed_http import FORM, HttpCourier
from bot.sandbox.slack.submits import submit
from bot.sandbox.slack.world import World
from tests.chaos.plan import Act, Call, Case
from tests.kit.forging import pressed, showing_of
from tests.kit.office import CHANNEL, CLEO, DAN, WHO, buttons

REVIEWERS = ("U0ADA", "U0BEN", "U0EVE", "U0FIN", "U0HAL", "U0IDA")
DECIDING = {Act.APPROVE: "approve", Act.REJECT: "reject", Act.EDIT: "edit", Act.RESPOND: "respond"}
EDITED = {"disable_user": ("reason", "fraud review"), "send_email": ("subject", "Your late order")}
TOKEN = re.compile(r"k\d{4}[a-f]|\d\.\d{6}\b")
TRIES = 8


@dataclass(slots=True)
class Press:
    """Somebody's decision on its way: `acked` once Slack showed it as taken."""

    call: str
    user: str
    kind: str
    at: float
    acked: bool = False


@dataclass(slots=True)
class Crowd:
    """Everybody outside the bot. `decided` asks the store whether a call has a decision."""

    world: World
    agents: httpx.AsyncClient
    decided: Callable[[str], Awaitable[bool]]
    told: Callable[[str], None]
    presses: list[Press] = field(default_factory=list)
    nasty: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    threads: dict[int, str] = field(default_factory=dict)  # by the case's number
    _seen: set[str] = field(default_factory=set)
    _cards: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _services: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    # -- one case

    async def play(self, case: Case, began: float) -> None:
        """Propose at the case's time, then do what its plan says about each call."""
        await asyncio.sleep(max(0.0, began + case.at - time.monotonic()))
        await self._propose(case)
        for turn in case.turns:
            await asyncio.gather(*(self._act(case, call) for call in turn))

    async def _propose(self, case: Case) -> None:
        scripts = [json.dumps({"turns": [[call.script]]}) for call in case.calls]
        script = json.dumps({"turns": [[call.script for call in turn] for turn in case.turns]})
        said: dict[str, Any] = {"messages": [{"role": "user", "content": script}]}
        given = {"scripts": scripts} if case.assistant == "fanout" else said
        made = await self._insist("/threads", {"metadata": {"slack_user": CLEO}})
        self.threads[case.number] = thread = made["thread_id"]
        # Not tried again once it may have started: a second run would propose the same calls twice.
        try:
            await self._ask(f"/threads/{thread}/runs", {"assistant_id": case.assistant, "input": given})
        except httpx.ConnectError:
            await self._insist(f"/threads/{thread}/runs", {"assistant_id": case.assistant, "input": given})
        except httpx.HTTPError:
            self.told(f"case {case.number}: nobody knows whether its run began")

    async def _insist(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                return await self._ask(path, body)
            except httpx.HTTPError:
                await asyncio.sleep(0.3)  # the server is down or asleep; the condition is its answer

    async def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return dict((await self.agents.post(path, json=body, headers=WHO)).raise_for_status().json())

    async def _act(self, case: Case, call: Call) -> None:
        people = [REVIEWERS[(case.number + step) % len(REVIEWERS)] for step in range(3)]
        await self._card(call)
        await asyncio.sleep(case.think)
        match call.act:
            case Act.IGNORE:
                return
            case Act.STRANGERS:
                await self._strangers(call)
                return
            case Act.DOUBLE:
                await asyncio.gather(*(self._decide(user, call, "approve") for user in people[:2]))
            case Act.RACE:
                await asyncio.gather(*map(self._decide, people, (call, call), ("approve", "reject")))
            case _:
                await self._decide(people[0], call, DECIDING[call.act])
        if case.replayed:
            await self._replay(people[0])
        if case.stale and await self.decided(call.id):
            await self._stale(people[2], call)

    # -- deciding

    async def _decide(self, user: str, call: Call, kind: str) -> None:
        """Press until the call is decided, by whomever."""
        for _ in range(TRIES):
            if await self.decided(call.id):
                return
            message = await self._card(call, f"decide.{kind}", patience=5.0)
            if message is not None:
                async with self._services[user]:
                    await self._try(user, call, kind, message)
            await self._soon_decided(call)

    async def _try(self, user: str, call: Call, kind: str, message: dict[str, Any]) -> None:
        try:
            await (self._approve if kind == "approve" else self._fill_in)(user, call, kind, message)
        except (NotThere, CannotDo):
            pass  # the card or the modal changed under the person's hand
        finally:
            self.world.set_modals(user, ())

    async def _approve(self, user: str, call: Call, kind: str, message: dict[str, Any]) -> None:
        press = self._noted(call, user, kind)
        wanted = ClickRequest(user, "decide.approve", channel=CHANNEL, ts=message["ts"], wait_s=0)
        press.acked = (await click(self.world, wanted)).acked
        self.told(f"{user} approves {call.id}: {'taken' if press.acked else 'not acknowledged'}")

    async def _fill_in(self, user: str, call: Call, kind: str, message: dict[str, Any]) -> None:
        opened = await click(
            self.world, ClickRequest(user, f"decide.{kind}", channel=CHANNEL, ts=message["ts"], wait_s=3)
        )
        view = opened.view
        if view is None or not any(block["type"] == "input" for block in view["blocks"]):
            return
        if kind == "edit":
            shown = (await submit(self.world, user, dict([EDITED[call.tool]]))).view
            if shown is None or shown["callback_id"] != "edit.confirm":
                return
            values = {}
        else:
            inputs = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
            values = {next(one for one in inputs if one.startswith("m.")): f"Said about {call.id}."}
        press = self._noted(call, user, kind)
        press.acked = (await submit(self.world, user, values)).acked
        self.told(f"{user} submits {kind} of {call.id}: {'taken' if press.acked else 'not acknowledged'}")

    def _noted(self, call: Call, user: str, kind: str) -> Press:
        press = Press(call.id, user, kind, time.time())
        self.presses.append(press)
        return press

    async def _soon_decided(self, call: Call) -> None:
        for _ in range(8):
            if await self.decided(call.id):
                return
            await asyncio.sleep(0.25)  # a person looks on; the condition is the decision

    # -- those who may not

    async def _strangers(self, call: Call) -> None:
        message = await self._card(call, "decide.approve", patience=5.0)
        if message is None:
            return
        showing = showing_of(message, "decide.approve")
        for user, kind in ((DAN, "not a reviewer"), (CLEO, "the requester")):
            await click(self.world, ClickRequest(user, "decide.approve", channel=CHANNEL, ts=message["ts"], wait_s=0))
            self.nasty[kind] += 1
        await self._post(pressed("U0FAR", showing, "decide.approve", card=message, team="T0FAR"), "another workspace")
        await self._post(pressed("U0ADA", "s_" + "a" * 26, "decide.approve", card=message), "an unknown showing")
        payload = pressed("U0ADA", showing, "decide.approve", card=message)
        await self._post(payload, "a bad signature", secret=False)

    async def _stale(self, user: str, call: Call) -> None:
        """What the card offered before it was decided, pressed by somebody who could have."""
        for delivery in reversed(self.world.deliveries):
            action = (delivery.payload.get("actions") or [{}])[0]
            if delivery.kind == "block_actions" and self._of(delivery.payload, call):
                forged = pressed(user, action.get("value", ""), "decide.approve", card=delivery.payload["message"])
                await self._post(forged, "a stale press")
                return

    def _of(self, payload: dict[str, Any], call: Call) -> bool:
        return call.token in json.dumps(payload.get("message", {}).get("blocks", []))

    async def _replay(self, user: str) -> None:
        """The same bytes once more, as a retry or somebody who recorded them would send them."""
        for delivery in reversed(self.world.deliveries):
            if delivery.payload.get("user", {}).get("id") == user and delivery.body:
                await self._courier.post(delivery.body, dict(delivery.headers))
                self.nasty["replayed"] += 1
                return

    async def _post(self, payload: dict[str, Any], kind: str, *, secret: bool = True) -> None:
        body = urlencode({"payload": json.dumps(payload)})
        headers = {**self._courier.signed(body if secret else f"{body}x"), "content-type": FORM}
        await self._courier.post(body, headers)
        self.nasty[kind] += 1

    @property
    def _courier(self) -> HttpCourier:
        courier = self.world.couriers["http"]
        assert isinstance(courier, HttpCourier)
        return courier

    # -- cards

    async def _card(
        self, call: Call, action_id: str | None = None, *, patience: float = 3600.0
    ) -> dict[str, Any] | None:
        """Wait for the card of a call, with such a button; None when it does not come."""
        await self.world.bell.until(lambda: self._find(call, action_id) is not None, patience)
        return self._find(call, action_id)

    def _find(self, call: Call, action_id: str | None) -> dict[str, Any] | None:
        posted = self.world.messages.get(CHANNEL, {})
        for ts in posted.keys() - self._seen:
            self._seen.add(ts)
            for token in set(TOKEN.findall(json.dumps(posted[ts].blocks))):
                self._cards[token].append(ts)
        for ts in reversed(self._cards[call.token]):
            message = self.world.message(CHANNEL, ts)
            if message is None:
                continue
            shown = {"ts": ts, "blocks": list(message.blocks)}
            offered = buttons(shown)
            if action_id in offered or (action_id is None and any(one.startswith("decide.") for one in offered)):
                return shown
        return None


def hire(world: World) -> None:
    """Let all reviewers into the workspace and the channel."""
    channel = world.channels[CHANNEL]
    fresh = [user for user in REVIEWERS if user not in world.people]
    world.add(
        *(Member(user, user[2:].title(), "T0DEMO", reviewer=True) for user in fresh),
        Channel(channel.id, channel.name, channel.team_id, channel.members | set(fresh), channel.kind),
    )

"""Requests that nobody should send, over every listener and every endpoint, the same ones in each run.

Each is a request whole, signed unless the lack of it is what is strange. Ids that are real in one workspace are
pressed from another, and by people without rights; none of these requests is one that anybody may make.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx

from blocks import ids
from bot.sandbox.slack.seed import SIGNING_SECRET
from bot.sandbox.slack.signed_http import FORM, signature
from tests.kit.forging import chosen, pressed, submitted, typed
from tests.kit.office import ADA, BEN, DAN, GUS
from tests.kit.two_tenants import EVE, TEAM

HOME_PAGES = (f"{ids.HOME_PAGE}.next", f"{ids.HOME_PAGE}.back")


def _names() -> list[str]:
    """Every identifier that our buttons and modals carry, whatever it is for."""
    found: set[str] = set()
    for name, value in vars(ids).items():
        if name.isupper() and not name.startswith("_"):
            held = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            found.update(one for one in held if isinstance(one, str))
    return sorted(found)


ACTIONS = (*_names(), *HOME_PAGES, "x.y", "")
CALLBACKS = (*_names(), "unheard_of", "")
EVENTS = (
    "app_home_opened", "user_change", "subteam_members_changed", "subteam_updated", "app_uninstalled",
    "tokens_revoked", "message", "reaction_added", "", "x" * 300,
)  # fmt: skip
JUNK = (
    "", "s_", "s_" + "a" * 26, "s_" + "A" * 26, "../../etc/passwd", "' OR 1=1 --", "\x00", "\ud800", "ä" * 500,
    "9" * 2000, "-1", "0", "<!channel>", "d.0", "{}",
)  # fmt: skip
SHAPES: tuple[Any, ...] = (None, [], {}, "", 7, True, 1e400, {"id": None}, [None], {"values": []}, {"id": "\x00"}, [[]])
BLOCKS = ("m.0", "e.0", "d.0", "d.99", "f.0.0", "f.0.9999.r999999", "m.99", "", "x", "m.0.r1", "\x00")
# Whoever presses, by the workspace they press from. None of them may decide anything in the first tenant.
NO_RIGHTS_HERE = (
    ("T0DEMO", DAN), ("T0DEMO", GUS), ("T0DEMO", EVE), ("T0DEMO", "U0NOBODY"), ("T0DEMO", ""), ("T0DEMO", "<@U0ADA>"),
    ("T0DEMO", "\x00"), (TEAM, ADA), (TEAM, EVE), (TEAM, BEN), ("T0", ADA), ("E0ORG", ADA), ("", ADA),
)  # fmt: skip
NO_RIGHTS_THERE = (
    (TEAM, DAN), (TEAM, BEN), (TEAM, "U0NOBODY"), ("T0DEMO", ADA), ("T0DEMO", EVE), ("T0DEMO", BEN), ("T0", EVE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strange:
    """One request; `refusal` are the statuses that alone are right for it, where only some are."""

    method: str
    path: str
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    refusal: tuple[int, ...] = ()

    def request(self, client: httpx.AsyncClient) -> httpx.Request:
        """As httpx sends it."""
        sent = {name: value.encode("latin-1", "replace") for name, value in self.headers.items()}
        return client.build_request(self.method, self.path, content=self.content, headers=sent)


@dataclass(frozen=True, slots=True)
class Real:
    """Showings that are real: of the first tenant, and of the second."""

    here: Sequence[str]
    there: Sequence[str]


def strange_requests(real: Real, chance: random.Random) -> list[Strange]:
    """All of them, shuffled."""
    makers = (presses, submissions, closings, mangled, events, commands, unsigned, unreadable, endpoints)
    found = [one for make in makers for one in make(real, chance)]
    chance.shuffle(found)
    return found


def _whose(real: Real, chance: random.Random) -> tuple[str, tuple[str, str]]:
    """Something to press on, and somebody who may not."""
    kind = chance.randrange(3)
    if kind == 0:
        return chance.choice(JUNK), chance.choice(NO_RIGHTS_HERE)
    return (
        (chance.choice(real.here), chance.choice(NO_RIGHTS_HERE))
        if kind == 1
        else (chance.choice(real.there), chance.choice(NO_RIGHTS_THERE))
    )


def presses(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Every button, on what is real and on what is not, in messages, modals and the Home tab."""
    for action in ACTIONS:
        for number in range(12):
            value, (team, user) = _whose(real, chance)
            home = chance.choice([None, None, "T0DEMO", "T0X"])
            block = chance.choice(BLOCKS)
            press = pressed(user, value, action, team=team, home=home, block_id=block)
            if number % 2 == 0:
                chose = f"{chance.choice(ids.OPERATIONS)}:{value}"
                press["actions"][0] |= {"type": "overflow", "value": None, "selected_option": {"value": chose}}
            if number % 3 == 0:
                press["view"] = submitted(user, value, chance.choice(CALLBACKS), team=team)["view"]
            elif number % 7 == 0:
                press["view"] = {**submitted(user, value, "", team=team)["view"], "type": "home"}
            yield signed(press)


def submissions(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Every modal, with inputs that it has and that it has not."""
    for callback in CALLBACKS:
        for _ in range(10):
            value, (team, user) = _whose(real, chance)
            filled = {block: typed("message", chance.choice(JUNK)) for block in chance.sample(BLOCKS, 3)}
            filled["d.0"] = chosen(chance.choice(["approve", "edit", "reject", "respond", "", "x"]))
            yield signed(submitted(user, value, callback, filled, team=team))


def closings(real: Real, chance: random.Random) -> Iterator[Strange]:
    """What Slack could deliver and no listener of ours asks for."""
    for kind in ("view_closed", "block_suggestion", "shortcut", "message_action", "dialog_submission", "x", ""):
        for _ in range(4):
            value, (team, user) = _whose(real, chance)
            yield signed({**submitted(user, value, "batch", team=team), "type": kind})


def mangled(real: Real, chance: random.Random) -> Iterator[Strange]:
    """A part is missing, or of another type."""
    for number in range(150):
        value, (team, user) = _whose(real, chance)
        base = (
            pressed(user, value, chance.choice(ACTIONS), team=team)
            if number % 2
            else submitted(user, value, chance.choice(CALLBACKS), team=team)
        )
        yield signed(_changed(base, chance))


def _changed(payload: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    key = chance.choice(sorted(payload))
    inner = payload[key]
    if isinstance(inner, dict) and inner and chance.random() < 0.5:
        return {**payload, key: _changed(inner, chance)}
    if isinstance(inner, list) and inner and isinstance(inner[0], dict) and chance.random() < 0.7:
        return {**payload, key: [_changed(inner[0], chance)]}
    left = {name: value for name, value in payload.items() if name != key}
    return left if chance.random() < 0.3 else {**left, key: chance.choice(SHAPES)}


def events(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Every event that we listen to and some that we do not, in envelopes that lack or twist something."""
    for name in EVENTS:
        for number in range(16):
            _, (team, user) = _whose(real, chance)
            junk = chance.choice(JUNK)
            event = {
                "type": name,
                "user": chance.choice([user, {"id": user}]),
                "tab": chance.choice(["home", "messages", None]),
                "subteam_id": chance.choice([None, "S0SUPPORT", junk, 7]),
                "subteam": chance.choice([None, {"id": "S0SUPPORT"}, {"id": junk}, {"id": {}}, [], "x"]),
            }
            if number % 2:
                event |= {"user": chance.choice([{"id": junk}, junk, *SHAPES]), "tab": chance.choice(SHAPES)}
            envelope = {"type": "event_callback", "team_id": team, "event_id": junk, "event": event}
            changed = chance.choice([envelope, _changed(envelope, chance)]) if number % 4 == 3 else envelope
            yield signed_bytes(json.dumps(changed).encode(), kind="application/json")


def commands(real: Real, chance: random.Random) -> Iterator[Strange]:
    """The command, with what it does not know, from wherever."""
    for _ in range(70):
        value, (team, user) = _whose(real, chance)
        text = chance.choice(["", value, f"who {value}", f"who {chance.choice(JUNK)}", "help \x00", "WHO  *"])
        form = {"command": chance.choice(["/approvals", "/approvals", "/other"]), "text": text, "user_id": user}
        form |= {"team_id": team} if chance.random() < 0.8 else {}
        yield signed_bytes(urlencode(form, errors="replace").encode())


def unsigned(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Good requests of somebody who may decide, without a good signature."""
    for number in range(60):
        body = urlencode({"payload": json.dumps(pressed(ADA, chance.choice(real.here), "decide.approve"))}).encode()
        good = signed_bytes(body).headers
        bad = (
            {**good, "x-slack-signature": signature("no", good["x-slack-request-timestamp"], body.decode())},
            {name: value for name, value in good.items() if name != "x-slack-signature"},
            {name: value for name, value in good.items() if name != "x-slack-request-timestamp"},
            {**good, "x-slack-request-timestamp": chance.choice(["0", "-1", "1e9", "ä", "9" * 400, "nan"])},
            {**good, "x-slack-signature": chance.choice(["", "v0=", "v0=ä", "v1=" + "0" * 64])},
        )[number % 5]
        yield Strange("POST", "/slack/events", body, bad, (401,))


def unreadable(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Bytes that are no payload at all, signed."""
    bodies = (
        b"", b"payload=", b"payload={}", b"payload=[]", b"{}", b"payload=null", b"payload=7", b"%", b"\xff\xfe",
        b"[" * 5000, b"payload=" + b"%5B" * 5000, b'{"type":"url_verification"}', b'{"type":"event_callback"}',
        b'{"type":"event_callback","event":null}', b'{"type":"event_callback","event":[]}', b"ssl_check=1&token=x",
    )  # fmt: skip
    for body in bodies:
        for kind in (FORM, "application/json", "text/plain"):
            yield signed_bytes(body, kind=kind)


def endpoints(real: Real, chance: random.Random) -> Iterator[Strange]:
    """Every other path, by every method, with what is no token of ours, and with a body of any kind."""
    tokens = ("", "Bearer", "Bearer x", "Basic eA==", "Bearer ä", "Bearer " + "x" * 5000)
    hinted = ("/v1/tenants/demo/threads/x/sync", "/v1/tenants/demo/webhook", "/v1/tenants/other/webhook")
    odd = (
        "/v1/tenants/demo/threads/..%2f..%2fx/sync", "/v1/tenants/%00/webhook", "/v1/tenants//webhook", "/nothing",
        "/v1/tenants/demo/threads//sync", "/v1/tenants/%2e%2e/threads/x/sync", "/slack/events/", "/docs",
        "/openapi.json",
    )  # fmt: skip
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        for path in ("/healthz", "/readyz", "/metrics", "/slack/events", *hinted, *odd):
            body = json.dumps({"user_id": chance.choice(JUNK), "thread_id": chance.choice(JUNK)}).encode()
            refusal = (401,) if path in hinted and method == "POST" else ()
            yield Strange(method, path, body, {"authorization": chance.choice(tokens)}, refusal)


def signed(payload: dict[str, Any]) -> Strange:
    """An interaction with a good signature."""
    return signed_bytes(urlencode({"payload": json.dumps(payload)}).encode())


def signed_bytes(body: bytes, *, kind: str = FORM) -> Strange:
    """Anything with a good signature."""
    stamp = str(int(time.time()))
    mark = hmac.new(SIGNING_SECRET.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    headers = {"content-type": kind, "x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={mark}"}
    return Strange("POST", "/slack/events", body, headers)

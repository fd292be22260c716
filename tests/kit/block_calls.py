"""Factories of view-models with everyday values, hostile strategies, and walks over what the builders return."""

import json
from dataclasses import replace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from blocks.models import BatchView, CallState, CallView, Decided, Mask, ReviewView, RootView

# No deadline: how fast a machine is says nothing about a property.
untimed = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=40
)
patient = settings(untimed, max_examples=20)

SHOWING = "s_6kq3v2n7w4abcdefghijklmnop"
ALL = ("approve", "edit", "reject", "respond")
ARGUMENTS = '{"user_id": "u_4821", "reason": "chargeback dispute", "notify": false}'
OPENED, DECIDED_AT, DEADLINE = 1_796_029_880, 1_796_030_000, 1_796_040_000


def make_call(**changes):
    values = {
        "showing": SHOWING,
        "tool": "disable_user",
        "arguments": ARGUMENTS,
        "offered": ALL,
        "title": "Disable user",
        "tenant": "acme",
        "requester": "U02DANA",
        "opened_at": OPENED,
        "decide_by": DEADLINE,
        "digest": "k3vd8w2mq7xa",
    }
    return CallView(**(values | changes))


def make_settled(state, decision="approve", **changes):
    decided = Decided(
        decision, "U03BEN", DECIDED_AT, message=changes.pop("message", None), arguments=changes.pop("final", None)
    )
    return make_call(state=CallState(state), decided=decided, offered=(), **changes)


def make_batch(count=3, **changes):
    calls = tuple(make_call(position=at, total=count, showing=f"s_{at:026d}") for at in range(count))
    return BatchView(**({"showing": SHOWING, "calls": calls} | changes))


def make_root(count=3, **changes):
    return RootView(**({"showing": SHOWING, "calls": make_batch(count).calls} | changes))


def dicts(node):
    """Every dictionary in a block or view."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from dicts(value)
    elif isinstance(node, list):
        for value in node:
            yield from dicts(value)


def all_texts(node):
    return [each["text"] for each in dicts(node) if isinstance(each.get("text"), str)]


def action_ids(blocks):
    return [each["action_id"] for each in dicts(blocks) if each.get("type") == "button"]


def choices(view, position):
    """The decisions that the inputs of one position offer: its radio buttons, or an answer that stands alone."""
    fields = {block["block_id"].split(".r")[0]: block for block in view["blocks"] if block["type"] == "input"}
    if f"d.{position}" in fields:
        return tuple(option["value"] for option in fields[f"d.{position}"]["element"]["options"])
    return ("respond",) if f"m.{position}" in fields else ()


def shown_text(blocks):
    """What rich_text shows, one string."""
    return "".join(all_texts([block for block in blocks if block["type"] == "rich_text"]))


NASTY = st.sampled_from(
    [
        "<!channel>", "<@U0VICTIM>", "<!subteam^S0ONCALL>", "<#C0GENERAL>", "<https://evil.example|runbook>", "&lt;!here&gt;",
        "```", "`", "*bold*", ":skull:", "\u202e", "\u2066", "\u200b", "\u00ad", "\U000e0041", "\ue000", "\ud800", "\x00", "\x1b[2K",
        "\u00a0", "\u3000", "\u2028", "\u3164", "\ufe0f", "\u0301" * 9, "\\u202e", "\\", '"', "\n\n\n\n\n\n\n", " " * 90, "שלום",
        "\U0001f600", "é", "[hidden]", "true", "7",
    ]
)  # fmt: skip
HOSTILE = st.lists(NASTY | st.text(max_size=8) | st.characters(), max_size=12).map("".join)
HUGE = st.builds(lambda text, times: ((text or "x") * times)[:4_000], HOSTILE, st.integers(1, 400))
TEXTS = HOSTILE | HUGE
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | HOSTILE,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(HOSTILE, children, max_size=4),
    max_leaves=12,
)
SOURCES = (
    st.dictionaries(TEXTS, VALUES | TEXTS, max_size=6).map(json.dumps)
    | st.dictionaries(st.text("ab", min_size=1, max_size=3), st.integers(), max_size=3).map(json.dumps)
    | VALUES.map(json.dumps)
    | TEXTS
    | st.none()
)
OFFERED = st.lists(st.sampled_from(ALL), unique=True).map(tuple)
PEOPLE = st.none() | st.just("U02DANA") | HOSTILE
MASKS = st.lists(
    st.builds(Mask, st.lists(st.sampled_from(["a", "b", 0, 1]), max_size=2).map(tuple), st.booleans()), max_size=2
).map(tuple)
DECISIONS = st.none() | st.builds(
    Decided,
    st.sampled_from(ALL),
    PEOPLE,
    st.none() | st.integers(0, 2_000_000_000),
    st.none() | TEXTS,
    st.none() | SOURCES,
)


def calls_with(**fixed):
    parts = {
        "tool": TEXTS,
        "arguments": SOURCES,
        "offered": OFFERED,
        "title": st.none() | TEXTS,
        "risk": st.sampled_from(["normal", "high"]),
        "description": st.none() | TEXTS,
        "tenant": HOSTILE,
        "requester": PEOPLE,
        "thread_link": st.none() | HOSTILE | st.just("https://agents.example/threads/1"),
        "decide_by": st.none() | st.just(DEADLINE),
        "state": st.sampled_from(CallState),
        "reason": st.none() | HOSTILE,
        "decided": DECISIONS,
        "outcome": st.none() | TEXTS,
        "notices": st.lists(HOSTILE, max_size=7).map(tuple),
        "approvals_needed": st.integers(1, 3),
        "approvals": st.lists(st.just("U03BEN") | HOSTILE, max_size=7).map(tuple),
        "masks": MASKS,
        "original": st.none() | SOURCES,
        "take_back": st.booleans(),
    }
    return st.builds(make_call, **(parts | fixed))


CALLS = calls_with()


def renumbered(calls):
    return tuple(replace(call, position=at, total=len(calls)) for at, call in enumerate(calls))


def make_review(call, **changes):
    return ReviewView(**({"call": call} | changes))

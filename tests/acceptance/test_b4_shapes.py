"""B4 shapes: every kind of interrupt becomes a card that can be decided, or one that says why it cannot."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge, pressed
from tests.kit.office import ADA
from tests.kit.steps import decide_in_modal, deciding, heard, opened, paused, says, sent, stands, start

pytestmark = pytest.mark.asyncio

OLD_ASK = [
    {
        "action_request": {"action": "disable_user", "args": {"user_id": "u_1"}},
        "config": {"allow_accept": True, "allow_edit": True, "allow_ignore": True, "allow_respond": True},
        "description": "Please look.",
    }
]
CALL = {"name": "disable_user", "args": {"user_id": "u_1"}}
# What an agent may pause on, and what its card must show of it.
UNDECIDABLE = {
    "a string": ({"kind": "string"}, "May I go on?"),
    "an object": ({"kind": "dict"}, "Pick one"),
    "a list": ({"kind": "list"}, "b"),
    "a number": ({"kind": "number"}, "7"),
    "nothing": ({"kind": "null"}, "null"),
    "an own schema": ({"kind": "schema"}, "typed"),
    "the oldest shape": ({"kind": "value", "value": OLD_ASK}, "Please look."),
    "calls without configs": ({"kind": "looks-like"}, "Tool: x"),
    "too few configs": (
        {"kind": "value", "value": {"action_requests": [CALL, CALL], "review_configs": [{}]}},
        "u_1",
    ),
    "another tool's config": (
        {
            "kind": "value",
            "value": {
                "action_requests": [CALL],
                "review_configs": [{"action_name": "refund", "allowed_decisions": ["approve"]}],
            },
        },
        "u_1",
    ),
    "no calls": ({"kind": "value", "value": {"action_requests": [], "review_configs": []}}, "action_requests"),
    "unknown decisions only": (
        {
            "kind": "value",
            "value": {
                "action_requests": [CALL],
                "review_configs": [{"action_name": "disable_user", "allowed_decisions": ["accept"]}],
            },
        },
        "u_1",
    ),
}
PER_CALL = {"execute_sql": ["decide.approve", "decide.reject"]}
LISTED = '      "*": {decisions: [approve, reject]}\n'
ALL_FOUR = ["decide.approve", "decide.edit", "decide.reject", "decide.respond"]


async def test_b4_shapes_that_cannot_be_answered_safely_are_shown_and_say_why(office_of):
    async with office_of() as office:
        threads = {}
        for what, (given, _) in UNDECIDABLE.items():
            threads[what] = await start(office, "freeform", given)
        for thread in threads.values():
            await paused(office, thread)

        for what, (_, shown) in UNDECIDABLE.items():
            (review,) = await opened(office, threads[what])
            cards = [await office.card_of(review, action.position) for action in review.actions]
            assert all("Cannot be decided here" in says(card) for card in cards), what
            assert any(shown in says(card) for card in cards), what
            assert [deciding(card) for card in cards] == [[]] * len(cards), what
            assert heard(office, threads[what]) == []


@pytest.mark.parametrize(
    ("kind", "tools", "offered"),
    [
        ("langgraph", "", {**PER_CALL, "disable_user": ALL_FOUR}),
        ("aegra", LISTED, {**PER_CALL, "disable_user": PER_CALL["execute_sql"]}),
    ],
)
async def test_b4_shapes_per_call_offers_what_the_schema_admits_or_the_policy_lists(office_of, kind, tools, offered):
    async with office_of(kind=kind, tools=tools) as office:
        thread = await office.propose("per-call")
        two = {review.actions[0].tool: review for review in await opened(office, thread, 2)}
        cards = {tool: await office.card_of(review, button="decide.approve") for tool, review in two.items()}
        assert {tool: deciding(card) for tool, card in cards.items()} == offered

        first = two["disable_user"]
        if kind == "langgraph":
            await office.click(ADA, cards["disable_user"], "decide.edit")
            await office.submit(ADA, {"reason": "edited"})
            await office.submit(ADA)
        else:
            await office.click(ADA, cards["disable_user"], "decide.approve")
        await stands(office, first, "resumed")
        await decide_in_modal(office, ADA, cards["execute_sql"], "reject", "Too broad.")
        await stands(office, two["execute_sql"], "resumed")

        (effect,) = office.effects(thread)
        assert effect["args"]["reason"] == ("edited" if kind == "langgraph" else "chargeback dispute")
        assert [type(next(iter(body["command"]["resume"].values()))["type"]) for body in sent(office, thread)] == [
            str,
            str,
        ]
        refused = next(one for one in await office.tool_messages(thread) if one["name"] == "execute_sql")
        assert "Too broad." in refused["content"]


async def test_b4_shapes_per_call_without_a_schema_offers_what_the_policy_lists(office_of):
    async with office_of(kind="aegra", tools="      execute_sql: {decisions: [reject]}\n") as office:
        thread = await office.propose("per-call")
        two = {review.actions[0].tool: review for review in await opened(office, thread, 2)}
        card = await office.card_of(two["execute_sql"], button="decide.reject")

        assert deciding(card) == ["decide.reject"]
        showing = next(e["value"] for b in card["blocks"] if b["type"] == "actions" for e in b["elements"])
        await forge(office, pressed(ADA, showing, "decide.approve", card=card))
        assert "does not allow this decision" in await office.told(ADA)
        assert heard(office, thread) == []

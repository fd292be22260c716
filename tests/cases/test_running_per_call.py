"""Calls asked one by one on a server that does not say what they allow, nor checks what they are given."""

from __future__ import annotations

import json

import pytest
import yaml

from bot.policy.source import parse
from tests.kit.forging import forge, pressed
from tests.kit.office import ADA, policy_text
from tests.kit.operating import ask
from tests.kit.running import as_json, fields, office_in
from tests.kit.steps import deciding, heard, opened, says, stands, start

pytestmark = pytest.mark.asyncio

SQL = "      execute_sql: {decisions: [approve, reject]}\n"
ANY = '      "*": {decisions: [approve, reject]}\n'
EDITS = '      "*": {decisions: [approve, edit, reject]%s}\n'
SCHEMA = (
    ", schema: {type: object, required: [user_id, reason], additionalProperties: false, "
    "properties: {user_id: {type: string, pattern: '^u_'}, reason: {type: string, maxLength: 30}}}"
)


async def two(office):
    """The preset's two calls that wait, by tool."""
    thread = await office.propose("per-call")
    return thread, {review.actions[0].tool: review for review in await opened(office, thread, 2)}


def policy_lines(card):
    """The YAML that a card shows as missing in the policy."""
    boxes = [
        part for block in card["blocks"] if block["type"] == "rich_text" for part in block["elements"]
        if part["type"] == "rich_text_preformatted"
    ]  # fmt: skip
    texts = ["".join(piece["text"] for piece in part["elements"]) for part in boxes]
    return next(text for text in texts if text.startswith("tenants:"))


async def test_what_nobody_says_is_allowed_is_shown_and_not_decided_and_the_missing_line_is_named(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=SQL) as office:
        thread, waiting = await two(office)
        closed = await office.card_of(waiting["disable_user"])
        open_ = await office.card_of(waiting["execute_sql"], button="decide.approve")
        showing = next(e["value"] for b in open_["blocks"] if b["type"] == "actions" for e in b["elements"])
        await forge(office, pressed(ADA, showing, "decide.respond", card=open_))
        await office.told(ADA)

        await office.click(ADA, open_, "decide.approve")
        await stands(office, waiting["execute_sql"], "resumed")

        assert deciding(closed) == []
        assert "Cannot be decided here" in says(closed)
        assert policy_lines(closed) == (
            "tenants:\n  demo:\n    tools:\n      disable_user:\n        decisions: [approve, reject]"
        )
        assert "decisions: [approve, reject]" in closed["text"]
        assert office.ran(thread) == ["execute_sql"]
        assert (await stands(office, waiting["disable_user"], "open")).problem


async def test_the_named_line_once_it_is_in_the_policy_brings_a_new_card_with_buttons(tmp_path):
    async with office_in(tmp_path, kind="aegra") as office:
        thread, waiting = await two(office)
        old = waiting["execute_sql"]
        line = policy_lines(await office.card_of(old))
        tree = yaml.safe_load(policy_text(office.agent.url, kind="aegra"))
        tree["tenants"]["demo"]["tools"] |= yaml.safe_load(line)["tenants"]["demo"]["tools"]
        text = json.dumps(tree)
        parse(text)

        await office.apply_policy(text)
        await stands(office, old, "superseded", why="allowed_changed")
        fresh = next(one for one in await opened(office, thread, 2) if one.actions[0].tool == "execute_sql")
        card = await office.card_of(fresh, button="decide.approve")
        await office.click(ADA, card, "decide.approve")
        await stands(office, fresh, "resumed")

        assert office.ran(thread) == ["execute_sql"]


async def test_a_shorter_list_takes_the_button_from_a_card_that_waits(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=ANY) as office:
        thread, waiting = await two(office)
        old = waiting["execute_sql"]
        card = await office.card_of(old, button="decide.approve")

        await office.apply_policy(policy_text(office.agent.url, kind="aegra", tools=ANY.replace("approve, ", "")))
        await stands(office, old, "superseded", why="allowed_changed")
        fresh = next(one for one in await opened(office, thread, 2) if one.actions[0].tool == "execute_sql")
        after = await office.card_of(fresh, button="decide.reject")
        showing = next(e["value"] for b in card["blocks"] if b["type"] == "actions" for e in b["elements"])
        await forge(office, pressed(ADA, showing, "decide.approve", card=card))

        assert deciding(after) == ["decide.reject"]
        assert heard(office, thread) == []


async def test_a_decision_that_the_policy_no_longer_lists_is_never_sent(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=ANY) as office:
        thread, waiting = await two(office)
        old = waiting["execute_sql"]
        await ask(office, "pause", tenant="demo")
        await office.click(ADA, await office.card_of(old, button="decide.approve"), "decide.approve")
        await stands(office, old, "decided")

        await office.apply_policy(policy_text(office.agent.url, kind="aegra", tools=ANY.replace("approve, ", "")))
        await ask(office, "resume", tenant="demo")
        await stands(office, old, "superseded", why="allowed_changed")
        await opened(office, thread, 2)

        assert heard(office, thread) == []
        assert office.ran(thread) == []


async def test_a_decision_that_the_policy_still_lists_stands_when_the_list_grows(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=ANY) as office:
        thread, waiting = await two(office)
        old = waiting["execute_sql"]
        await ask(office, "pause", tenant="demo")
        await office.click(ADA, await office.card_of(old, button="decide.approve"), "decide.approve")
        await stands(office, old, "decided")

        await office.apply_policy(policy_text(office.agent.url, kind="aegra", tools=EDITS % ""))
        await ask(office, "resume", tenant="demo")
        await stands(office, old, "resumed")

        assert office.ran(thread) == ["execute_sql"]


async def test_a_tool_that_only_takes_an_answer_offers_only_that(tmp_path):
    turns = json.dumps({"turns": [[{"name": "ask_user", "args": {"question": "Which order?"}}]]})
    async with office_in(tmp_path, kind="aegra", tools="      ask_user: {decisions: [respond]}\n") as office:
        thread = await start(office, "ops_per_call", {"messages": [{"role": "user", "content": turns}]})
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.respond")
        assert deciding(card) == ["decide.respond"]

        answer = await office.click(ADA, card, "decide.respond")
        field = next(block["block_id"] for block in answer["view"]["blocks"] if block["type"] == "input")
        await office.submit(ADA, {field: "order 7"})
        await stands(office, review, "resumed")

        assert office.ran(thread) == []


async def edit_of(office, waiting):
    card = await office.card_of(waiting["disable_user"], button="decide.edit")
    return (await office.click(ADA, card, "decide.edit", wait_s=20))["view"]


async def test_an_edit_that_nobody_can_check_says_so_where_it_is_typed_and_where_it_is_approved(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=EDITS % "") as office:
        thread, waiting = await two(office)
        form = await edit_of(office, waiting)
        confirm = (await office.submit(ADA, {"reason": "edited"}))["view"]
        await office.submit(ADA)
        await stands(office, waiting["disable_user"], "resumed")

        assert "Nobody can check this edit" in json.dumps(form)
        assert "Nobody can check this edit" in json.dumps(confirm)
        assert office.effects(thread)[0]["args"]["reason"] == "edited"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"reason": "far too long for the schema's thirty characters"}, "At most 30 characters"),
        ({"user_id": "root"}, "does not take this"),
    ],
)
async def test_an_edit_is_checked_against_the_policy_s_schema_at_its_field(tmp_path, typed, said):
    async with office_in(tmp_path, kind="aegra", tools=EDITS % SCHEMA) as office:
        thread, waiting = await two(office)
        form = await edit_of(office, waiting)
        refused = await office.submit(ADA, typed)
        again = await office.submit(ADA, {"user_id": "u_7", "reason": "short"})
        await office.submit(ADA)
        await stands(office, waiting["disable_user"], "resumed")

        assert "Nobody can check" not in json.dumps(form)
        assert said in json.dumps(refused["errors"])
        assert again["errors"] is None or again["errors"] == {}
        assert office.effects(thread)[0]["args"] == {"user_id": "u_7", "reason": "short"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ('{"user_id": "u_7"}', "reason is missing"),
        ('{"user_id": "u_7", "reason": "x", "more": 1}', "does not take this"),
    ],
)
async def test_an_edit_as_json_is_checked_as_a_whole(tmp_path, typed, said):
    async with office_in(tmp_path, kind="aegra", tools=EDITS % SCHEMA) as office:
        thread, waiting = await two(office)
        form = await as_json(office, ADA, await edit_of(office, waiting))
        (field,) = fields(form, "e")
        refused = await office.submit(ADA, {field: typed})

        assert said in refused["errors"][field]
        assert heard(office, thread) == []


async def test_an_edit_that_a_stricter_schema_refuses_by_now_is_not_sent(tmp_path):
    async with office_in(tmp_path, kind="aegra", tools=EDITS % "") as office:
        thread, waiting = await two(office)
        await ask(office, "pause", tenant="demo")
        await edit_of(office, waiting)
        await office.submit(ADA, {"user_id": "root"})
        await office.submit(ADA)
        await stands(office, waiting["disable_user"], "decided")

        await office.apply_policy(policy_text(office.agent.url, kind="aegra", tools=EDITS % SCHEMA))
        await ask(office, "resume", tenant="demo")
        await stands(office, waiting["disable_user"], "open", why="voided_authority")

        assert heard(office, thread) == []

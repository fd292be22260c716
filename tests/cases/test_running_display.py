"""What the agent wrote is shown and never acts: no link, no mention, nothing hidden, no secret in the channel."""

from __future__ import annotations

import json

import pytest

from tests.kit.forging import forge
from tests.kit.office import ADA, buttons
from tests.kit.running import approve, button, decisions, office_in, opened, press_of, said

pytestmark = pytest.mark.asyncio

HOSTILE = (
    "x` <https://evil.example/login|Approve here> <!channel> <@U0BEN> <!subteam^S0SUPPORT> <#C0GENERAL> &lt;!here&gt;"
)
ACTING = ("<https://evil", "<!channel", "<!here", "<!subteam", "<#C0GENERAL", "|Approve here>")
ACTIVE = ("link", "user", "usergroup", "broadcast", "channel")


def parsed_texts(node):
    """Every text that Slack parses: mrkdwn objects, and a message's own text."""
    if isinstance(node, list):
        return [text for one in node for text in parsed_texts(one)]
    if not isinstance(node, dict):
        return []
    own = [node["text"]] if node.get("type") == "mrkdwn" else []
    return own + [text for value in node.values() for text in parsed_texts(value)]


def elements(node, kinds):
    """Every rich_text element of these kinds."""
    if isinstance(node, list):
        return [found for one in node for found in elements(one, kinds)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") in kinds and "elements" not in node and "fields" not in node else []
    return own + [found for value in node.values() for found in elements(value, kinds)]


def shown_literally(node):
    """All text in elements that nothing parses."""
    return "".join(one["text"] for one in elements(node, ("text",)))


def assert_inert(message):
    for text in [message.get("text") or "", *parsed_texts(message["blocks"])]:
        assert not [bad for bad in ACTING if bad in text], text
    assert elements(message["blocks"], ACTIVE) == []


async def test_case_031_and_032_what_the_agent_wrote_links_and_mentions_nothing_in_any_state(tmp_path):
    async with office_in(tmp_path) as office:
        turns = [
            [{"name": "disable_user", "args": {"user_id": HOSTILE, "reason": "see <https://evil.example|runbook>"}}]
        ]
        thread = await office.propose(turns=turns)
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, ADA, card, "decide.edit")

        await approve(office, ADA, card)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")

        for message in (card, view, settled):
            assert_inert(message)
        assert "<!channel>" in shown_literally(card["blocks"])
        assert "&lt;!here&gt;" in shown_literally(card["blocks"]), "what was escaped already is told from what was not"
        (effect,) = office.effects(thread)
        assert effect["args"]["user_id"] == HOSTILE


async def test_case_032_a_reason_that_a_reviewer_typed_mentions_nobody_either(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")

        await said(office, ADA, card, "reject", HOSTILE)
        await office.settled(thread)
        settled = await office.card("Rejected", without="decide.reject")

        assert_inert(settled)
        assert "<!channel>" in shown_literally(settled["blocks"])


async def test_case_031_a_hostile_tool_name_stands_in_code_and_in_no_button_dialog_or_header(tmp_path):
    reviewers = '      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}\n'
    async with office_in(tmp_path, reviewers=reviewers) as office:
        await office.propose("hostile")
        root = await office.card("wait together", button="review.open")
        cards = [message for message in await office.cards(3) if message["thread_ts"]]
        view = await opened(office, ADA, root, "review.open")

        for message in (root, *cards, view):
            assert_inert(message)
            for block in message["blocks"]:
                label = json.dumps([block.get("text"), [one.get("text") for one in block.get("elements", [])]])
                if block["type"] in ("header", "actions"):
                    assert "evil.example" not in label


async def test_case_034_a_card_that_leaves_something_out_takes_no_approve_even_forged(tmp_path):
    async with office_in(tmp_path) as office:
        tail = "; rm -rf /var/lib/app"
        command = "systemctl status app" + "; echo ok" * 900 + tail
        thread = await office.propose(turns=[[{"name": "restart_host", "args": {"host": command}}]])
        card = await office.card("restart_host", button="review.open")

        answer = await forge(office, press_of(card, "decide.approve", value=button(card)["value"]))
        await office.told(ADA, "cannot be approved")

        assert answer.status_code == 200
        assert "decide.approve" not in buttons(card)
        assert "characters shown" in json.dumps(card["blocks"])
        assert tail not in shown_literally(card["blocks"])
        assert await decisions(office) == 0
        assert office.ran(thread) == []

        await said(office, ADA, card, "reject", "Not all of it can be seen.")
        await office.settled(thread)
        (message,) = await office.tool_messages(thread)
        assert "Not all of it can be seen." in message["content"]
        assert office.ran(thread) == []


async def test_case_034_whoever_opened_every_page_may_approve_and_all_of_it_runs(tmp_path):
    async with office_in(tmp_path) as office:
        command = "systemctl status app" + "; echo ok" * 900 + "; rm -rf /var/lib/app"
        thread = await office.propose(turns=[[{"name": "restart_host", "args": {"host": command}}]])
        card = await office.card("restart_host", button="review.open")

        view = await opened(office, ADA, card, "review.open")
        offered_first = json.dumps(view["blocks"])
        seen = shown_literally(view["blocks"])
        while (turn := next_page(view)) is not None:
            view = (await office.press(ADA, view, "review.page.next", turn))["view"]
            seen += shown_literally(view["blocks"])
        await office.submit(ADA, {"d.0": "approve"})
        await office.settled(thread)

        assert '"approve"' not in offered_first
        assert "rm -rf /var/lib/app" in seen
        assert [effect["args"]["host"] for effect in office.effects(thread)] == [command]


def next_page(view):
    """The block of the view's Next button, if there is one."""
    for block in view["blocks"]:
        if block["type"] == "actions" and any(one["action_id"] == "review.page.next" for one in block["elements"]):
            return block["block_id"]
    return None


DSN, BEARER = "postgres://u:FAKE-PW@db/x", "Bearer FAKE-TOKEN-0002"


async def test_case_035_a_value_shaped_like_a_secret_stays_out_of_channel_and_log_and_still_runs(tmp_path, capsys):
    async with office_in(tmp_path) as office:
        thread = await office.propose(turns=[[{"name": "disable_user", "args": {"user_id": DSN, "reason": BEARER}}]])
        card = await office.card("disable_user")
        assert "FAKE" not in json.dumps(card)

        view = await opened(office, ADA, card, "review.open")
        await office.submit(ADA, {"d.0": "approve"})
        await office.settled(thread)
        settled = await office.card("Ran", without="review.open")

        assert "decide.approve" not in buttons(card)
        assert "FAKE" not in json.dumps(settled) + capsys.readouterr().out
        assert "FAKE-PW" in shown_literally(view["blocks"]), "whoever decides sees all of it, in private"
        assert [effect["args"]["user_id"] for effect in office.effects(thread)] == [DSN]

"""A node that asks the same several times: each question has a card of its own, also where all have one interrupt id."""

import json
from contextlib import ExitStack

import pytest

from bot.core.model import Outcome
from tests.kit.office import ADA, CLEO, WHO
from tests.live.offices import office_at
from tests.live.pattern_runs import EVERY_DECISION, REVIEWER, fresh_database
from tests.live.servers import ASKS_THRICE
from tests.live.test_patterns import NEWEST, older_server

pytestmark = [pytest.mark.live, pytest.mark.asyncio]
SERVERS = [
    pytest.param(kind, langchain, marks=[] if langchain == NEWEST else pytest.mark.matrix)
    for langchain in (NEWEST, "1.0")
    for kind in ("aegra", "langgraph_dev")
]


@pytest.mark.parametrize(("kind", "langchain"), SERVERS)
async def test_the_same_question_asked_thrice_is_decided_thrice(request, tmp_path, migrated_file, kind, langchain):
    with ExitStack() as stack:
        if langchain == NEWEST:
            server = request.getfixturevalue(kind)
        else:
            server = stack.enter_context(older_server(request, kind, tmp_path, langchain))
        url = f"sqlite+aiosqlite:///{fresh_database(migrated_file, tmp_path)}"
        async with office_at(server, url, reviewers=REVIEWER, tools=EVERY_DECISION) as office:
            made = await office.agents.post("/threads", json={"metadata": {"slack_user": CLEO}}, headers=WHO)
            thread = made.raise_for_status().json()["thread_id"]
            body = {"assistant_id": ASKS_THRICE, "input": {"messages": [{"role": "user", "content": "go"}]}}
            (await office.agents.post(f"/threads/{thread}/runs", json=body, headers=WHO)).raise_for_status()
            for number in range(3):
                found = await office.until(
                    lambda number=number: more_than(office, thread, number),
                    f"question {number}",
                    patience=60,
                    every=0.2,
                )
                card = await office.card_of(found[-1], button="decide.approve")
                await office.click(ADA, card, "decide.approve")
            done = await office.settled(thread)
            kinds = [event.kind for review in done for event in await office.events(review.id)]
            cards = [json.dumps(await office.card_of(review)) for review in done]

            assert [review.state.value for review in done] == ["resumed"] * 3
            assert [review.actions[0].outcome for review in done] == [Outcome.TAKEN] * 3
            assert "dispatch.alarm" not in kinds
            assert not [card for card in cards if "outside Slack" in card]
            assert len({review.interrupt_id for review in done}) == (1 if langchain == "1.0" else 3)
            assert office.ran(thread) == ["disable_user"]


async def more_than(office, thread, number):
    found = [one for one in await office.reviews(thread) if one.state.value == "open"]
    return found if found and len(await office.reviews(thread)) > number else None

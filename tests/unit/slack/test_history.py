"""Our own messages are found in a channel's history, however much was said since."""

from dataclasses import replace

import pytest
import pytest_asyncio

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.records import PostedMessage as Posted
from bot.sandbox.slack.seed import APP_ID, APPROVALS, BOT_ID, BOT_USER, TEAM, make_world
from bot.slack.client.web_api import make_client
from bot.slack.outbound import history
from bot.slack.outbound.history import copies, mark
from bot.store.messages import Message

pytestmark = pytest.mark.asyncio

OURS = Message(
    "m_ours", "demo", "r_1", 0, None, APPROVALS, None, 1, 0, "posting", None, None, 1, None, 1_000_000, 1, 0, ""
)
ROOT = "0000001000.000000"


def posted(ts, message_id=None, thread=None):
    metadata = None if message_id is None else mark(message_id)
    return Posted(APPROVALS, ts, BOT_USER, BOT_ID, APP_ID, TEAM, "x", metadata=metadata, thread_ts=thread)


@pytest_asyncio.fixture
async def slack():
    """A workspace and a client for it."""
    world = make_world()
    async with serving(create_app(world)) as url:
        yield world, make_client("xoxb-demo", f"{url}/api/")


@pytest.mark.parametrize("thread", [None, ROOT], ids=["a channel", "a thread"])
async def test_copies_are_found_on_every_page(slack, thread):
    world, client = slack
    world.put(posted(ROOT))
    for number in range(2 * history.PAGE + 10):
        world.put(posted(f"{1001 + number:010d}.000000", "m_other", thread))
    for ts in ("0000001001.500000", "0000001409.500000"):
        world.put(posted(ts, "m_ours", thread))

    assert await copies(client, OURS, thread) == ["0000001001.500000", "0000001409.500000"]


async def test_what_stood_there_before_the_post_left_is_not_looked_at(slack):
    world, client = slack
    world.put(posted("0000000900.000000", "m_ours"))

    assert await copies(client, replace(OURS, posting_since=2_000_000), None) == []

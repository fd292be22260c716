import json
import re

import pytest

from bot.sandbox.slack.seed import APPROVALS
from tests.kit.sandbox_page import open_page, part
from tests.kit.slack_sandbox import choice, field_block, modal

pytestmark = pytest.mark.asyncio
EVERY = ["/", "/page/panel", "/page/static/page.js", "/page/static/nosuch.js", "/?in=C0NOSUCH"]


@pytest.mark.parametrize("path", EVERY)
async def test_every_answer_forbids_frames_and_everything_from_elsewhere(path):
    async with open_page() as page:
        headers = (await page.http.get(path)).headers

    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize(
    "headers", [{"host": "evil.example"}, {"host": "127.0.0.1.evil.example"}, {"host": ""}, {"host": "[::1"}]
)
async def test_a_foreign_host_is_refused(path, headers):
    async with open_page() as page:
        answer = await page.http.get(path, headers=headers)

    assert answer.status_code == 403
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_foreign_page_is_refused(origin):
    async with open_page() as page:
        read = await page.http.get("/", headers={"origin": origin})
        typed = await page.http.post("/page/typed", json={}, headers={"origin": origin})

    assert (read.status_code, typed.status_code) == (403, 403)


async def test_what_was_typed_is_taken_as_json_only():
    async with open_page() as page:
        answer = await page.http.post("/page/typed", content="{}", headers={"content-type": "text/plain"})

    assert answer.status_code == 415


async def test_the_page_holds_no_script_no_style_and_no_handler_of_its_own():
    async with open_page() as page:
        await page.post()
        await page.open(modal(field_block(), field_block("r", element=choice())))
        drawn = await page.page(as_="U0ADA", in_=APPROVALS)

    assert re.findall(r"<script(?![^>]*\bsrc=)", drawn) == []
    assert part(drawn, "style") == []
    assert re.findall(r"<[^>]*\s(?:style|on\w+)=", drawn) == []


async def test_an_unknown_person_or_channel_is_not_found():
    async with open_page() as page:
        answers = [await page.http.get("/", params=query) for query in ({"as": "U0NOBODY"}, {"in": "C0NOSUCH"})]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_a_text_that_is_no_unicode_is_drawn_all_the_same():
    async with open_page() as page:
        body = json.dumps({"channel": APPROVALS, "text": "half \ud800 of a pair"})
        headers = {"authorization": "Bearer xoxb-demo", "content-type": "application/json"}
        await page.http.post("/api/chat.postMessage", content=body, headers=headers)
        drawn = await page.page()

    assert "half ? of a pair" in drawn

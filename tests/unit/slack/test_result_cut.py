"""A long result is cut before it is stored: no hidden value may begin to show at the cut."""

from __future__ import annotations

from dataclasses import replace

from bot.access.person import Actor
from bot.core.model import Outcome
from bot.runtimes.langgraph.outcomes import MAX_TEXT, call_results
from bot.slack.outbound.projection import DrawingContext
from bot.slack.windows.results import draw_result
from bot.slack.windows.review import ViewContext
from tests.kit.made import make_action, make_review, make_showing
from tests.kit.policy_factories import make_tenant

SECRET = "SEEDED-declared-41x"


def test_a_secret_that_the_cut_of_a_kept_result_falls_into_is_not_shown_by_its_beginning():
    text = "x" * (MAX_TEXT - 14) + SECRET + " and more"
    (kept,) = call_results([{"type": "tool", "tool_call_id": "c", "content": text}], ["c"])
    tenant = make_tenant(
        'tools:\n  disable_user: {redact: [user]}\nreviewers: [{user: U0ADA, tools: ["*"], may: [approve]}]\n'
    )
    made = make_review()
    action = replace(make_action(made.place, args=f'{{"user":"{SECRET}"}}'), outcome=Outcome.EXECUTED)
    review = replace(made, actions=(action,))
    context = ViewContext(review, make_showing(review), DrawingContext(tenant, 1), Actor("T0ACME", "U0ADA", None), {})
    pages = [str(draw_result(context, action, kept.text, page=page).view) for page in range(9)]
    assert not any(SECRET[:6] in page for page in pages)

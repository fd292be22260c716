"""What `after_unknown: hold` holds back: by tool and by thread, and only what runs something."""

from __future__ import annotations

import pytest

from bot.core.model import DecisionType, Outcome, ReviewState
from bot.dispatch.recheck import held_back
from tests.kit.factories import decide_all, make_action, make_review
from tests.kit.policy_factories import make_tenant

TENANT = make_tenant("tools: {pay: {after_unknown: hold}}\n")


def review(name, tool, kind=DecisionType.APPROVE, *, thread="th-1", outcome=None, state=ReviewState.DECIDED):
    asked = make_review(make_action(tool=tool), id=name, thread_id=thread)
    (action,) = decide_all(asked, [kind]).actions
    return asked.evolve(state=state, actions=(action.evolve(outcome=outcome),))


def unknown(tool="pay", kind=DecisionType.APPROVE, **more):
    return review("r_lost", tool, kind, state=ReviewState.UNKNOWN, **more)


@pytest.mark.parametrize(
    ("waiting", "lost", "held"),
    [
        (review("r_1", "pay", thread="th-2"), unknown(), True),
        (review("r_1", "pay", DecisionType.EDIT, thread="th-2"), unknown(), True),
        (review("r_1", "mail", thread="th-1"), unknown(), True),
        (review("r_1", "mail", thread="th-2"), unknown(), False),
        (review("r_1", "pay", DecisionType.REJECT), unknown(), False),
        (review("r_1", "pay", DecisionType.RESPOND), unknown(), False),
        (review("r_1", "pay"), unknown("mail"), False),
        (review("r_1", "pay"), unknown(kind=DecisionType.REJECT), False),
        (review("r_1", "pay"), unknown(outcome=Outcome.EXECUTED), False),
        (review("r_1", "pay"), unknown(outcome=Outcome.UNKNOWN), True),
        (review("r_lost", "pay"), unknown(), False),
    ],
)
def test_calls_are_held_back_by_tool_and_by_thread_while_one_that_may_have_run_is_unknown(waiting, lost, held):
    assert held_back(waiting, [lost], TENANT) is held

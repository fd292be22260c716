"""Several people for one call: who counts, for what, and what ends a count."""

from __future__ import annotations

import pytest

from bot.core.decide import Accepted, Intent, Permission, Refusal, Refused, decide
from bot.core.decision import decided_digest
from bot.core.model import DecisionType
from bot.core.quorum import stand_behind
from tests.kit.factories import (
    ADA,
    APPROVE,
    BEN,
    CLEO,
    EDIT,
    REJECT,
    RESPOND,
    make_action,
    make_press,
    make_review,
    make_showing,
)

EDITED = '{"user_id":"u_other"}'
AGAIN = '{"user_id":"u_third"}'


def needing(number):
    def ask(_action, _kind, _final_args):
        return Permission(allowed=True, rule="r", policy_version=1, quorum=number)

    return ask


def take(review, who, kind=APPROVE, *, needed=2, showing=None, **intent):
    """One person's press on what stands there now, and the review as it is after it."""
    press = make_press(review, Intent(0, kind, **intent), who=who, showing=showing or shown(review))
    result = decide(review, press, needing(needed))
    return result, after(review, result)


def shown(review):
    return make_showing(review, digest=review.actions[0].standing_digest)


def after(review, result):
    if isinstance(result, Refused):
        return review
    action = review.actions[0]
    kept = () if result.voided else action.approvals
    decision = result.decisions[0] if result.decisions else None
    return review.evolve(actions=(action.evolve(approvals=(*kept, *result.approvals), decision=decision),))


def test_one_of_two_approvals_decides_nothing():
    result, _ = take(make_review(), ADA)
    assert isinstance(result, Accepted)
    assert (result.decisions, [one.by for one in result.approvals]) == ((), [ADA])


def test_the_second_person_s_approval_decides():
    _, review = take(make_review(), ADA)
    result, _ = take(review, BEN)
    assert [one.type for one in result.decisions] == [APPROVE]
    assert [one.by for one in result.approvals] == [BEN]


def test_one_person_counts_once_however_often_they_approve():
    _, review = take(make_review(), ADA)
    result, _ = take(review, ADA)
    assert result == Refused(Refusal.ALREADY_APPROVED, 0)


def test_a_person_who_approved_completes_a_quorum_that_the_policy_has_lowered_since():
    _, review = take(make_review(), ADA)
    result, _ = take(review, ADA, needed=1)
    assert (len(result.decisions), result.approvals) == (1, ())


@pytest.mark.parametrize("kind", [REJECT, RESPOND])
def test_a_rejection_or_an_answer_needs_one_person_and_ends_the_count(kind):
    _, review = take(make_review(), ADA)
    result, _ = take(review, BEN, kind, message="No.")
    assert [one.type for one in result.decisions] == [kind]
    assert (result.approvals, result.voided) == ((), (0,))


def test_an_edit_makes_a_new_proposal_with_its_author_as_the_first_approval():
    _, review = take(make_review(), ADA)
    result, edited = take(review, BEN, EDIT, final_args=EDITED)
    assert (result.decisions, result.voided) == ((), (0,))
    assert [one.by for one in edited.actions[0].approvals] == [BEN]
    assert edited.actions[0].standing_args == EDITED


def test_an_approval_of_an_edited_call_sends_the_edit():
    _, review = take(make_review(), BEN, EDIT, final_args=EDITED)
    result, done = take(review, ADA)
    (decision,) = result.decisions
    assert (decision.type, decision.final_args, decision.by) == (EDIT, EDITED, ADA)
    assert decision.digest == decided_digest(review, review.actions[0], EDITED)
    assert [(one.by, one.type) for one in stand_behind(done.actions[0])] == [(BEN, EDIT), (ADA, APPROVE)]


def test_a_late_approval_of_what_stood_there_before_an_edit_is_stale():
    before = make_review()
    _, review = take(before, BEN, EDIT, final_args=EDITED)
    result, _ = take(review, ADA, showing=shown(before))
    assert result == Refused(Refusal.STALE_SHOWING, 0)


def test_a_whole_view_from_before_an_edit_is_stale():
    before = make_review(make_action(0), make_action(1))
    view = make_showing(before, None)
    edit = make_press(before, Intent(0, EDIT, final_args=EDITED), who=BEN, showing=make_showing(before))
    accepted = decide(before, edit, needing(2))
    first, second = before.actions
    review = before.evolve(actions=(first.evolve(approvals=accepted.approvals), second))
    both = make_press(review, Intent(0, APPROVE), Intent(1, APPROVE), who=ADA, showing=view)
    assert decide(review, both, needing(2)) == Refused(Refusal.STALE_SHOWING, 0)


def test_a_second_edit_voids_the_first_and_begins_again():
    _, review = take(make_review(), BEN, EDIT, final_args=EDITED)
    result, edited = take(review, ADA, EDIT, final_args=AGAIN)
    assert (result.decisions, result.voided) == ((), (0,))
    assert [(one.by, one.final_args) for one in edited.actions[0].approvals] == [(ADA, AGAIN)]


def test_typing_the_standing_edit_once_more_is_an_approval_of_it():
    _, review = take(make_review(), BEN, EDIT, final_args=EDITED)
    result, _ = take(review, ADA, EDIT, final_args='{ "user_id": "u_other" }')
    assert [one.final_args for one in result.decisions] == [EDITED]


def test_editing_back_to_what_the_agent_proposed_is_a_new_count():
    _, review = take(make_review(), BEN, EDIT, final_args=EDITED)
    result, back = take(review, ADA, EDIT, final_args=review.actions[0].args)
    assert (result.decisions, result.voided) == ((), (0,))
    assert [(one.by, one.type, one.final_args) for one in back.actions[0].approvals] == [(ADA, APPROVE, None)]


def test_three_different_people_are_needed_where_the_policy_says_three():
    _, review = take(make_review(), ADA, needed=3)
    second, review = take(review, BEN, needed=3)
    third, _ = take(review, CLEO, needed=3)
    assert (second.decisions, len(third.decisions)) == ((), 1)


def test_rights_to_an_edited_call_are_asked_with_its_final_arguments():
    _, review = take(make_review(), BEN, EDIT, final_args=EDITED)
    asked = []

    def ask(_action, kind, final_args):
        asked.append((kind, final_args))
        return Permission(allowed=True, quorum=2)

    decide(review, make_press(review, Intent(0, APPROVE), who=ADA, showing=shown(review)), ask)
    assert asked == [(DecisionType.APPROVE, EDITED)]

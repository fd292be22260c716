"""Whether a press becomes a decision: what is accepted, and what is recorded of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.decide import LAST_MINUTE_MS, Accepted, Permission, Refusal, Refused, decide, review_digest
from bot.core.digest import call_digest
from bot.core.json import dump
from bot.core.model import DecisionType, InterruptShape
from tests.kit.factories import (
    ADA,
    ALL,
    APPROVE,
    BEN,
    DAY,
    EDIT,
    OPENED,
    REJECT,
    RESPOND,
    anybody,
    make_action,
    make_intent,
    make_offer,
    make_press,
    make_review,
    make_showing,
    nobody,
    record,
    tree,
)
from tests.kit.schemas import pydantic_schema


def accepted(review, *intents, **press):
    result = decide(review, make_press(review, *intents, **press), anybody)
    assert isinstance(result, Accepted), result
    return result.decisions


def refused(review, *intents, authority=anybody, **press) -> Refused:
    result = decide(review, make_press(review, *intents, **press), authority)
    assert isinstance(result, Refused), result
    return result


def three() -> object:
    return make_review(make_action(0), make_action(1, allowed=(REJECT,)), make_action(2))


@pytest.mark.parametrize("kind", ALL)
def test_each_allowed_decision_is_accepted(kind):
    (decision,) = accepted(make_review(), make_intent(kind))
    assert decision.type is kind


def test_a_decision_names_its_author_its_time_and_its_showing():
    review = make_review()
    (decision,) = accepted(review, who=BEN, now=OPENED + 5, showing=make_showing(review, id="s_seen"))
    assert (decision.by, decision.at, decision.showing_id) == (BEN, OPENED + 5, "s_seen")


def test_a_decision_keeps_the_rule_and_policy_version_that_allowed_it():
    (decision,) = accepted(make_review())
    assert (decision.rule, decision.policy_version) == ("reviewers[0] user U0ADA allows everything", 7)


def test_an_approval_is_bound_to_the_digest_of_the_proposed_call():
    review = make_review()
    assert accepted(review)[0].digest == review.actions[0].digest


def test_an_edit_is_bound_to_the_digest_of_its_final_arguments():
    review = make_review()
    (decision,) = accepted(review, make_intent(EDIT, final_args='{"user_id":"b"}'))
    assert decision.digest == call_digest(review.place, 0, "disable_user", '{"user_id":"b"}', ALL)


def test_an_edit_keeps_its_final_arguments_as_source_text():
    (decision,) = accepted(make_review(), make_intent(EDIT, final_args='{"n":12.70,"big":9007199254740993}'))
    assert decision.final_args == '{"n":12.70,"big":9007199254740993}'


@pytest.mark.parametrize(("kind", "said"), [(REJECT, "too much"), (REJECT, None), (RESPOND, "  the second one\n")])
def test_a_reason_or_an_answer_is_kept_as_typed(kind, said):
    (decision,) = accepted(make_review(), make_intent(kind, message=said))
    assert decision.message == said


def test_the_authority_is_asked_about_the_call_the_decision_and_the_final_arguments():
    asked = []

    def ask(action, kind, final_args):
        asked.append((action.tool, kind, final_args))
        return Permission(allowed=True)

    review = make_review()
    decide(review, make_press(review, make_intent(EDIT, final_args='{"user_id":"b"}')), ask)
    assert asked == [("disable_user", EDIT, '{"user_id":"b"}')]


@pytest.mark.parametrize("typed", ['{"user_id":"u_0"}', ' {\n"user_id" : "u_0" }', '{"user_id":"\\u0075_0"}'])
def test_an_edit_that_changes_nothing_is_an_approval(typed):
    (decision,) = accepted(make_review(), make_intent(EDIT, final_args=typed))
    assert (decision.type, decision.final_args) == (APPROVE, None)


def test_an_edit_that_only_reorders_keys_is_an_approval():
    review = make_review(make_action(args='{"a":1,"b":2}'))
    assert accepted(review, make_intent(EDIT, final_args='{"b":2,"a":1}'))[0].type is APPROVE


@pytest.mark.parametrize("typed", ['{"a":1.0}', '{"a":"1"}', '{"a":[1]}', '{"a":1,"b":null}', "{}", '{"a":true}'])
def test_an_edit_of_a_spelling_a_type_or_a_key_is_a_change(typed):
    review = make_review(make_action(args='{"a":1}'))
    assert accepted(review, make_intent(EDIT, final_args=typed))[0].type is EDIT


def test_an_unchanged_edit_is_judged_as_an_approval_by_the_authority():
    kinds = []

    def ask(_action, kind, _final_args):
        kinds.append(kind)
        return Permission(allowed=True)

    review = make_review()
    decide(review, make_press(review, make_intent(EDIT, final_args=review.actions[0].args)), ask)
    assert kinds == [APPROVE]


def test_an_unchanged_edit_is_an_approval_even_where_a_number_in_it_could_not_be_sent_again():
    args = '{"huge":123456789012345678901234567890}'
    review = make_review(make_action(args=args))
    assert accepted(review, make_intent(EDIT, final_args=args))[0].type is APPROVE


def test_empty_arguments_may_be_edited_into_some():
    review = make_review(make_action(args="{}"))
    assert accepted(review, make_intent(EDIT, final_args='{"a":1}'))[0].final_args == '{"a":1}'


def test_a_batch_is_accepted_whole_in_the_order_of_the_press():
    review = three()
    decisions = accepted(review, make_intent(REJECT, 2), make_intent(APPROVE, 0), make_intent(REJECT, 1))
    assert [(one.position, one.type) for one in decisions] == [(2, REJECT), (0, APPROVE), (1, REJECT)]


def test_a_batch_with_one_forbidden_decision_records_nothing():
    result = refused(three(), make_intent(APPROVE, 0), make_intent(APPROVE, 1), make_intent(APPROVE, 2))
    assert (result.reason, result.position) == (Refusal.DECISION_NOT_ALLOWED, 1)


def test_a_batch_may_leave_calls_for_others():
    review = three()
    assert len(accepted(review, make_intent(APPROVE, 0), make_intent(APPROVE, 2))) == 2


def test_a_card_of_a_batch_decides_its_own_call_alone():
    review = three()
    (decision,) = accepted(review, make_intent(APPROVE, 2))
    assert decision.position == 2


def test_a_sibling_decided_meanwhile_does_not_make_a_card_stale():
    review = three()
    showing = make_showing(review, 2)
    later = record(review, accepted(review, make_intent(APPROVE, 0)))
    assert accepted(later, make_intent(REJECT, 2), showing=showing)[0].position == 2


def test_a_sibling_decided_meanwhile_does_not_make_a_view_of_all_calls_stale_for_the_rest():
    review = three()
    showing = make_showing(review, None)
    later = record(review, accepted(review, make_intent(APPROVE, 0)))
    assert len(accepted(later, make_intent(REJECT, 1), make_intent(REJECT, 2), showing=showing)) == 2


def test_a_shared_card_counts_as_shown_to_whoever_presses_it():
    review = make_review()
    assert accepted(review, who=BEN, showing=make_showing(review, to=None))[0].by == BEN


def test_a_private_view_decides_for_its_own_reader():
    review = make_review()
    assert accepted(review, who=BEN, showing=make_showing(review, to=BEN))[0].by == BEN


def test_a_call_not_fully_shown_may_still_be_rejected():
    review = make_review()
    showing = make_showing(review, offers=(make_offer(review.actions[0], complete=False),))
    assert accepted(review, make_intent(REJECT), showing=showing)[0].type is REJECT


@pytest.mark.parametrize("kind", [REJECT, RESPOND])
def test_in_the_last_minute_what_runs_nothing_is_still_accepted(kind):
    now = OPENED + DAY - 1
    assert accepted(make_review(), make_intent(kind), now=now)[0].type is kind


def test_just_before_the_last_minute_an_approval_is_accepted():
    assert accepted(make_review(), now=OPENED + DAY - LAST_MINUTE_MS - 1)[0].type is APPROVE


def test_a_review_without_a_deadline_never_expires():
    assert accepted(make_review(decide_by=None), now=OPENED + 1000 * DAY)[0].type is APPROVE


def test_an_edit_shown_as_a_difference_is_accepted_with_exactly_those_arguments():
    review = make_review()
    final = '{"user_id":"b"}'
    assert accepted(review, make_intent(EDIT, final_args=final), showing=make_showing(review, final_args=final))


def test_a_per_call_review_takes_an_answer_that_its_schema_takes():
    schema = dump(tree(pydantic_schema("approve", "edit", "reject", "respond")))
    review = make_review(shape=InterruptShape.PER_CALL, response_schema=schema)
    final = '{"user_id":"b","reason":"x"}'
    assert accepted(review, make_intent(EDIT, final_args=final))[0].type is EDIT


def test_the_digest_of_a_review_depends_on_the_order_of_its_calls():
    review = three()
    assert review_digest(review) != review_digest(review.evolve(actions=review.actions[::-1]))


@pytest.mark.parametrize("reason", [Refusal.OWN_REQUEST, Refusal.CANNOT_CONFIRM, Refusal.DENIED])
def test_the_authority_s_own_reason_is_passed_on(reason):
    assert refused(make_review(), authority=nobody(reason)).reason is reason


def test_a_refusal_of_the_authority_names_the_decision_that_would_have_been_sent():
    review = make_review()
    result = refused(review, make_intent(EDIT, final_args=review.actions[0].args), authority=nobody())
    assert result.facts == {"type": "approve"}


def test_somebody_who_saw_another_review_decides_nothing_here():
    review = make_review()
    other = make_review(id="r_other")
    assert refused(review, showing=make_showing(other)).reason is Refusal.UNKNOWN_SHOWING


@pytest.mark.parametrize("kind", DecisionType)
def test_nothing_that_the_call_does_not_allow_is_accepted_whatever_the_card_offered(kind):
    allowed = tuple(other for other in ALL if other is not kind)
    review = make_review(make_action(allowed=allowed))
    showing = make_showing(review, offers=(make_offer(review.actions[0], offered=ALL),))
    assert refused(review, make_intent(kind), showing=showing).reason is Refusal.DECISION_NOT_ALLOWED


def test_the_one_who_already_decided_is_named_to_the_next():
    review = record(make_review(), accepted(make_review(), who=ADA))
    assert refused(review, who=BEN).facts == {"by": "U0ADA", "type": "approve"}


NEW = '{"user_id":"u_new"}'


def kept_edit(review, **changes):
    """An edit of the first of several calls, which a view of its own has shown as final arguments."""
    offers = (make_offer(review.actions[0], offered=(EDIT,)),)
    shown = make_showing(review, 0, id="s_kept", to=ADA, final_args=NEW, offers=offers)
    return make_intent(EDIT, 0, final_args=NEW, showing=replace(shown, **changes))


def without_edits(review):
    """The view of all calls, where the first is too long to be shown in full."""
    offers = tuple(make_offer(action, complete=action.position > 0) for action in review.actions)
    return make_showing(review, None, to=ADA, offers=offers)


def test_an_edit_of_a_batch_counts_as_shown_in_its_own_view_and_is_recorded_with_it():
    review = make_review(make_action(0), make_action(1))
    edit, approve = accepted(review, kept_edit(review), make_intent(APPROVE, 1), showing=without_edits(review))
    assert (edit.type, edit.final_args, edit.showing_id) == (EDIT, NEW, "s_kept")
    assert approve.showing_id == "s_one"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"to": BEN}, Refusal.UNKNOWN_SHOWING),
        ({"review_id": "r_other"}, Refusal.UNKNOWN_SHOWING),
        ({"digest": "d" * 64}, Refusal.STALE_SHOWING),
        ({"final_args": '{"user_id":"u_shown"}'}, Refusal.STALE_SHOWING),
        ({"position": 1}, Refusal.STALE_SHOWING),
        ({"offers": ()}, Refusal.NOT_FULLY_SHOWN),
    ],
    ids=["somebody else's", "another review's", "other content", "other arguments", "another call's", "not in full"],
)
def test_an_edit_of_a_batch_that_was_not_shown_like_that_is_refused_with_all_the_rest(changes, reason):
    review = make_review(make_action(0), make_action(1))
    intents = (kept_edit(review, **changes), make_intent(APPROVE, 1))
    assert refused(review, *intents, showing=without_edits(review)).reason is reason


def test_an_edit_of_a_batch_whose_list_has_changed_since_is_stale():
    review = make_review(make_action(0), make_action(1))
    old = make_showing(review, None, to=ADA, digest="d" * 64)
    assert refused(review, kept_edit(review), make_intent(APPROVE, 1), showing=old).reason is Refusal.STALE_SHOWING

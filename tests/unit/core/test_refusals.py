"""Every reason to refuse a press: the core's own, one by one, and those that others give."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.core.decide import LAST_MINUTE_MS, Click, Refusal, Refused, decide
from bot.core.json import dump
from bot.core.model import InterruptShape, Review, ReviewState
from bot.policy.model import Why
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
    decide_all,
    make_action,
    make_intent,
    make_offer,
    make_press,
    make_review,
    make_showing,
    nobody,
    tree,
)
from tests.kit.schemas import pydantic_schema

Case = tuple[Review, Click]
OF_NO_PRESS = frozenset({Why.ALLOWED})
# What only the policy says, through the authority that `decide` asks.
OF_THE_POLICY = frozenset(Refusal(why.value) for why in set(Why) - OF_NO_PRESS) - {Refusal.DECISION_NOT_ALLOWED}
# Said where a decision is taken back, where an operator's menu is used, where a view could not be opened in time, and where
# we failed: never by `decide`.
OF_THE_QUORUM = frozenset({Refusal.ALREADY_APPROVED})
OF_THE_EDGE = frozenset(
    {
        Refusal.NOT_AUTHOR,
        Refusal.NOT_AN_OPERATOR,
        Refusal.TOO_SLOW,
        Refusal.NOT_REDRAWN,
        Refusal.MALFORMED,
        Refusal.INTERNAL,
    }
)


def pressed(review: Review, *intents, **press) -> Case:
    return review, make_press(review, *intents, **press)


def another_content() -> Review:
    return make_review(make_action(args={"user_id": "u_changed"}))


def after(review: Review, kind=APPROVE) -> Case:
    """A press on what was shown before the review was decided."""
    return decide_all(review, [kind] * len(review.actions)), make_press(review)


def in_state(state: ReviewState, *, decided=True) -> Case:
    review = make_review()
    stored = decide_all(review, [APPROVE]) if decided else review
    return stored.evolve(state=state), make_press(review)


def partly_shown(*kinds, complete=True, position=0) -> Case:
    review = make_review()
    offer = make_offer(review.actions[0], offered=kinds, complete=complete, position=position)
    return pressed(review, showing=make_showing(review, offers=(offer,)))


def per_call(*kinds: str, allowed=ALL) -> Review:
    schema = dump(tree(pydantic_schema(*kinds)))
    return make_review(make_action(allowed=allowed), shape=InterruptShape.PER_CALL, response_schema=schema)


def batch(review: Review, *intents, shown: Review) -> Case:
    return review, make_press(review, *intents, showing=make_showing(shown, None))


TWO = make_review(make_action(0), make_action(1))
TWO_CHANGED = make_review(make_action(0), make_action(1, args={"user_id": "u_changed"}))
LATE = OPENED + DAY


def one_decided() -> Review:
    return decide_all(TWO, [APPROVE]).evolve(state=ReviewState.OPEN)


def edited(final_args: str | None) -> Case:
    return pressed(make_review(), make_intent(EDIT, final_args=final_args))


def unchanged_edit_only() -> Case:
    review = make_review(make_action(allowed=(EDIT, REJECT)))
    return pressed(review, make_intent(EDIT, final_args=review.actions[0].args))


CASES: list[tuple[Refusal, str, Callable[[], Case]]] = [
    (Refusal.UNKNOWN_SHOWING, "showing of another review", lambda: pressed(make_review(), showing=make_showing(make_review(id="r_2")))),
    (Refusal.UNKNOWN_SHOWING, "private view of somebody else", lambda: pressed(make_review(), who=BEN, showing=make_showing(make_review(), to=ADA))),
    (Refusal.UNKNOWN_SHOWING, "press that asks nothing", lambda: pressed(make_review(), intents=())),
    (Refusal.UNKNOWN_SHOWING, "press that asks two things of one call", lambda: batch(TWO, make_intent(APPROVE, 1), make_intent(REJECT, 1), shown=TWO)),
    (Refusal.UNKNOWN_SHOWING, "position that is not there", lambda: pressed(make_review(), make_intent(position=1), showing=make_showing(make_review()))),
    (Refusal.UNKNOWN_SHOWING, "negative position", lambda: pressed(make_review(), make_intent(position=-1), showing=make_showing(make_review()))),
    (Refusal.GONE, "superseded", lambda: in_state(ReviewState.SUPERSEDED)),
    (Refusal.GONE, "superseded before anybody decided", lambda: in_state(ReviewState.SUPERSEDED, decided=False)),
    (Refusal.GONE, "broken", lambda: in_state(ReviewState.BROKEN, decided=False)),
    (Refusal.EXPIRED, "expired", lambda: in_state(ReviewState.EXPIRED, decided=False)),
    (Refusal.EXPIRED, "held", lambda: in_state(ReviewState.HELD, decided=False)),
    (Refusal.EXPIRED, "open past its time", lambda: pressed(make_review(), now=LATE)),
    (Refusal.EXPIRED, "open past its time, to reject", lambda: pressed(make_review(), make_intent(REJECT), now=LATE)),
    (Refusal.ALREADY_DECIDED, "decided", lambda: after(make_review())),
    (Refusal.ALREADY_DECIDED, "decided the other way", lambda: after(make_review(), REJECT)),
    (Refusal.ALREADY_DECIDED, "resumed", lambda: in_state(ReviewState.RESUMED)),
    (Refusal.ALREADY_DECIDED, "unknown", lambda: in_state(ReviewState.UNKNOWN)),
    (Refusal.ALREADY_DECIDED, "resumed after nobody decided", lambda: in_state(ReviewState.RESUMED, decided=False)),
    (Refusal.ALREADY_DECIDED, "on its way", lambda: in_state(ReviewState.SENT)),
    (Refusal.ALREADY_DECIDED, "one position of an open batch", lambda: batch(one_decided(), make_intent(REJECT, 1), make_intent(APPROVE, 0), shown=TWO)),
    (Refusal.TOO_LATE_TO_CHANGE, "being rejected because time ran out", lambda: in_state(ReviewState.CLAIMED, decided=False)),
    (Refusal.NOT_DECIDABLE, "interrupt with a problem", lambda: pressed(make_review(problem="configs_do_not_pair"))),
    (Refusal.NOT_DECIDABLE, "schema that refuses an approval", lambda: pressed(per_call("respond"))),
    (Refusal.DECISION_NOT_ALLOWED, "not allowed by the call", lambda: pressed(make_review(make_action(allowed=(REJECT,))))),
    (Refusal.DECISION_NOT_ALLOWED, "allowed and not offered", lambda: partly_shown(REJECT)),
    (Refusal.STALE_SHOWING, "card of other arguments", lambda: (another_content(), make_press(make_review()))),
    (Refusal.STALE_SHOWING, "rejection of other arguments", lambda: (another_content(), make_press(make_review(), make_intent(REJECT)))),
    (Refusal.STALE_SHOWING, "batch view of which one call changed", lambda: batch(TWO_CHANGED, make_intent(APPROVE, 0), make_intent(REJECT, 1), shown=TWO)),
    (Refusal.STALE_SHOWING, "card of a sibling", lambda: pressed(TWO, make_intent(position=1), showing=make_showing(TWO, 0))),
    (Refusal.STALE_SHOWING, "other final arguments than the difference showed", lambda: pressed(make_review(), make_intent(EDIT), showing=make_showing(make_review(), final_args='{"user_id":"c"}'))),
    (Refusal.STALE_SHOWING, "approval from the difference of an edit", lambda: pressed(make_review(), showing=make_showing(make_review(), final_args='{"user_id":"c"}'))),
    (Refusal.NOT_FULLY_SHOWN, "card that was cut", lambda: partly_shown(*ALL, complete=False)),
    (Refusal.NOT_FULLY_SHOWN, "view without this call", lambda: partly_shown(*ALL, position=1)),
    (Refusal.LAST_MINUTE, "an approval", lambda: pressed(make_review(), now=LATE - LAST_MINUTE_MS)),
    (Refusal.LAST_MINUTE, "an edit", lambda: pressed(make_review(), make_intent(EDIT), now=LATE - 1)),
    (Refusal.EMPTY_ANSWER, "no answer", lambda: pressed(make_review(), make_intent(RESPOND, message=None))),
    (Refusal.EMPTY_ANSWER, "blank answer", lambda: pressed(make_review(), make_intent(RESPOND, message=" \n\t"))),
    (Refusal.UNSENDABLE_TEXT, "NUL in an answer", lambda: pressed(make_review(), make_intent(RESPOND, message="a\x00"))),
    (Refusal.UNSENDABLE_TEXT, "half a character in a reason", lambda: pressed(make_review(), make_intent(REJECT, message="a\ud800"))),
    (Refusal.INVALID_EDIT, "no arguments", lambda: edited(None)),
    (Refusal.INVALID_EDIT, "no JSON", lambda: edited("{“user_id”: 1}")),
    (Refusal.INVALID_EDIT, "no object", lambda: edited("[1]")),
    (Refusal.INVALID_EDIT, "key twice", lambda: edited('{"a":1,"a":2}')),
    (Refusal.INVALID_EDIT, "NaN", lambda: edited('{"a":NaN}')),
    (Refusal.INVALID_EDIT, "65 bits", lambda: edited('{"a":9223372036854775808}')),
    (Refusal.INVALID_EDIT, "infinite", lambda: edited('{"a":1e400}')),
    (Refusal.INVALID_EDIT, "rounded", lambda: edited('{"a":0.10000000000000001}')),
    (Refusal.INVALID_EDIT, "half a character", lambda: edited('{"a":"\\ud800"}')),
    (Refusal.INVALID_EDIT, "NUL", lambda: edited('{"a":"\\u0000"}')),
    (Refusal.INVALID_EDIT, "too deep", lambda: edited('{"a":' * 300 + "1" + "}" * 300)),
    (Refusal.INVALID_EDIT, "schema that refuses the edit", lambda: pressed(per_call("approve", "edit"), make_intent(EDIT))),
    (Refusal.UNCHANGED_EDIT_NOT_ALLOWED, "edit only", unchanged_edit_only),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "make"),
    [(reason, make) for reason, _, make in CASES],
    ids=[f"{one[0].value}: {one[1]}" for one in CASES],
)
def test_a_press_that_must_not_count_is_refused_with_its_reason(reason, make):
    review, press = make()
    result = decide(review, press, anybody)
    assert isinstance(result, Refused)
    assert result.reason is reason


@pytest.mark.parametrize("reason", sorted(OF_THE_POLICY))
def test_what_the_policy_refuses_is_refused_with_the_policy_s_reason(reason):
    review = make_review()
    result = decide(review, make_press(review), nobody(reason))
    assert isinstance(result, Refused)
    assert (result.reason, result.position) == (reason, 0)


def test_a_policy_that_gives_no_reason_means_not_a_reviewer():
    review = make_review()
    result = decide(review, make_press(review), nobody(None))
    assert isinstance(result, Refused)
    assert result.reason is Refusal.NOT_A_REVIEWER


def test_every_reason_is_given_by_the_core_the_policy_or_the_edge():
    assert {reason for reason, _, _ in CASES} | OF_THE_POLICY | OF_THE_EDGE | OF_THE_QUORUM == set(Refusal)


def test_every_reason_of_the_policy_is_a_reason_to_refuse():
    assert {why.value for why in Why} - {reason.value for reason in Refusal} == OF_NO_PRESS


@pytest.mark.parametrize("make", [make for _, _, make in CASES])
def test_nobody_is_asked_about_rights_before_everything_else_is_in_order(make):
    review, press = make()
    asked = []

    def ask(*question):
        asked.append(question)
        return anybody(*question)

    decide(review, press, ask)
    # The server's own schema is asked last, once it is clear what would be sent.
    assert not asked or review.response_schema or len(press.intents) > 1


def test_a_problem_with_typed_arguments_is_passed_on_in_words():
    review, press = edited('{"a":1e400}')
    result = decide(review, press, anybody)
    assert isinstance(result, Refused)
    assert result.facts == {"problem": "1e400 is too large a number"}


def test_a_refusal_names_the_call_at_fault():
    review, press = batch(TWO, make_intent(APPROVE, 0), make_intent(RESPOND, 1, message=""), shown=TWO)
    result = decide(review, press, anybody)
    assert isinstance(result, Refused)
    assert result.position == 1

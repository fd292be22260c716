"""Interleaved people, time and workers on one review of the pure core.

The machine plays the store: it records what `decide` accepts and moves states along the table. Showings stay in people's
hands after what they showed has changed. Whatever happens, no answer lacks a decision, breaks the order, or holds
anything but what somebody saw in full and chose.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.core.decide import LAST_MINUTE_MS, Accepted, Click, Refused, decide
from bot.core.decision import PLACET, UnsendableAnswer, answer_tree, rejections
from bot.core.json import dump
from bot.core.model import DecisionType, Review, ReviewState, Showing
from bot.core.states import TERMINAL, check
from tests.kit.factories import (
    ADA,
    ALL,
    APPROVE,
    BEN,
    CLEO,
    DAY,
    EDIT,
    OPENED,
    RESPOND,
    anybody,
    make_action,
    make_intent,
    make_offer,
    make_review,
    make_showing,
    record,
    tree,
    with_digests,
)

PEOPLE = (ADA, BEN, CLEO)
ALLOWED = st.lists(st.sampled_from(ALL), min_size=1, unique=True).map(
    lambda kinds: tuple(kind for kind in ALL if kind in kinds)
)
S = ReviewState


class OneReview(RuleBasedStateMachine):
    """Everything that may happen to a review, in any order."""

    showings = Bundle("showings")

    def __init__(self) -> None:
        super().__init__()
        self.review: Review = make_review()
        self.now = OPENED
        self.made = 0
        self.seen: dict[str, tuple[str | None, ...]] = {}  # what stood in each showing
        self.answers: list[object] = []

    @initialize(lists=st.lists(ALLOWED, min_size=1, max_size=4))
    def propose(self, lists):
        self.review = make_review(*(make_action(at, allowed=allowed) for at, allowed in enumerate(lists)))

    @rule(target=showings, data=st.data(), private=st.booleans(), complete=st.booleans())
    def show(self, data, private, complete):
        position = data.draw(st.sampled_from([None, *range(len(self.review.actions))]))
        shown = self.review.actions if position is None else [self.review.actions[position]]
        showing = make_showing(
            self.review,
            position,
            id=f"s_{self.made + 1}",
            to=data.draw(st.sampled_from(PEOPLE)) if private else None,
            offers=tuple(make_offer(action, complete=complete) for action in shown if action.decision is None),
        )
        return self._shown(showing)

    def _shown(self, showing: Showing) -> Showing:
        self.made += 1
        self.seen[showing.id] = tuple(action.args for action in self.review.actions)
        return showing

    @rule(showing=showings, who=st.sampled_from(PEOPLE), data=st.data())
    def press(self, showing, who, data):
        positions = [showing.position] if showing.position is not None else list(range(len(self.review.actions)))
        chosen = data.draw(st.lists(st.sampled_from(positions), min_size=1, unique=True))
        kinds = {at: [*self.review.actions[at].allowed, *ALL] for at in chosen}
        intents = tuple(self._intent(data.draw(st.sampled_from(kinds[at])), at) for at in chosen)
        self._submit(Click(who, showing, intents, self.now))

    @precondition(lambda self: self.review.state is S.OPEN)
    @rule(data=st.data())
    def decide_the_rest(self, data):
        """Every open call on a fresh card of its own, in any order, by anybody."""
        waiting = [action for action in self.review.actions if action.decision is None]
        for action in data.draw(st.permutations(waiting)):
            showing = self._shown(make_showing(self.review, action.position, id=f"s_{self.made + 1}"))
            intent = self._intent(data.draw(st.sampled_from(action.allowed)), action.position)
            self._submit(Click(data.draw(st.sampled_from(PEOPLE)), showing, (intent,), self.now))

    @rule(showing=showings, who=st.sampled_from(PEOPLE))
    def press_all_that_is_allowed(self, showing, who):
        open_now = [offer for offer in showing.offers if offer.offered]
        if open_now:
            intents = tuple(self._intent(offer.offered[0], offer.position) for offer in reversed(open_now))
            self._submit(Click(who, showing, intents, self.now))

    def _intent(self, kind: DecisionType, position: int):
        message = "because" if kind is RESPOND else None
        return make_intent(kind, position, message=message)

    def _submit(self, press: Click) -> None:
        before = self.review
        result = decide(before, press, anybody)
        if isinstance(result, Refused):
            return
        assert isinstance(result, Accepted)
        self._was_in_order(before, press)
        self.review = record(before, result.decisions)

    def _was_in_order(self, before: Review, press: Click) -> None:
        assert before.state is S.OPEN
        assert before.decide_by is None or press.now < before.decide_by
        assert press.showing.to in (None, press.who)
        for intent in press.intents:
            action = before.actions[intent.position]
            assert action.decision is None
            assert intent.type in action.allowed
            assert self.seen[press.showing.id][intent.position] == action.args
            if intent.type in (APPROVE, EDIT):
                self._was_shown(before, press.showing, intent.position, press.now)

    def _was_shown(self, before: Review, showing: Showing, position: int, now: int) -> None:
        offer = showing.offer(position)
        assert offer is not None
        assert offer.complete
        assert before.decide_by is None or now < before.decide_by - LAST_MINUTE_MS

    @precondition(lambda self: self.review.state is S.OPEN)
    @rule(data=st.data())
    def change_content(self, data):
        """The thread proposes other arguments: everything shown before is stale, every decision void."""
        position = data.draw(st.integers(0, len(self.review.actions) - 1))
        self.made += 1
        changed = [action.evolve(decision=None) for action in self.review.actions]
        changed[position] = changed[position].evolve(args=dump(tree({"user_id": f"changed_{self.made}"})))
        self.review = with_digests(self.review.evolve(actions=tuple(changed)))

    @rule(passed=st.sampled_from([1, LAST_MINUTE_MS, DAY // 3]))
    def let_time_pass(self, passed):
        self.now += passed

    @precondition(lambda self: self.now >= OPENED + DAY and self.review.state in (S.OPEN, S.DECIDED, S.CLAIMED))
    @rule()
    def expire(self):
        self._move(S.EXPIRED)

    @precondition(lambda self: self.review.state is S.EXPIRED)
    @rule()
    def reject_what_expired(self):
        try:
            rejected = rejections(self.review)
        except UnsendableAnswer:
            self._move(S.HELD)
            return
        self._move(S.CLAIMED)
        answer = answer_tree(rejected)
        assert [each["type"] for each in answer["decisions"]] == ["reject"] * len(rejected.actions)
        assert all(action.decision is not None and action.decision.by == PLACET for action in rejected.actions)
        self._move(S.EXPIRED)

    @precondition(lambda self: self.review.state is S.HELD)
    @rule()
    def reopen(self):
        self._move(S.OPEN)
        self.review = self.review.evolve(decide_by=None, actions=self._undecided())

    def _undecided(self):
        return tuple(action.evolve(decision=None) for action in self.review.actions)

    @precondition(lambda self: self.review.state is S.DECIDED)
    @rule()
    def claim(self):
        self._move(S.CLAIMED)

    @precondition(lambda self: self.review.state is S.CLAIMED)
    @rule()
    def send(self):
        self._move(S.ARMED)
        self.answers.append(answer_tree(self.review))
        self._answers_what_was_chosen(self.answers[-1])
        self._move(S.SENT)

    def _answers_what_was_chosen(self, answer) -> None:
        assert len(answer["decisions"]) == len(self.review.actions)
        for action, sent in zip(self.review.actions, answer["decisions"], strict=True):
            assert action.decision is not None
            assert sent["type"] == action.decision.type.value
            assert DecisionType(sent["type"]) in action.allowed
            if sent["type"] == "edit":
                assert sent["edited_action"].keys() == {"name", "args"}
                assert sent["edited_action"]["name"] == action.tool

    @precondition(lambda self: self.review.state is S.SENT)
    @rule(end=st.sampled_from([S.RESUMED, S.UNKNOWN, S.SUPERSEDED, S.BROKEN]))
    def learn_the_outcome(self, end):
        self._move(end)

    @precondition(lambda self: self.review.state in (S.CLAIMED, S.DECIDED))
    @rule(data=st.data())
    def void_a_decision(self, data):
        position = data.draw(st.integers(0, len(self.review.actions) - 1))
        self._move(S.OPEN)
        actions = list(self.review.actions)
        actions[position] = replace(actions[position], decision=None)
        self.review = self.review.evolve(actions=tuple(actions))

    @precondition(lambda self: self.made > 8 and self.review.state not in TERMINAL)
    @rule()
    def move_on(self):
        """The thread was answered elsewhere; late, so that this stays rare."""
        self._move(S.SUPERSEDED)

    def _move(self, following: ReviewState) -> None:
        check(self.review.state, following)
        self.review = self.review.evolve(state=following)

    @invariant()
    def an_answer_exists_exactly_if_every_position_is_decided(self):
        complete = not self.review.undecided
        try:
            answer_tree(self.review)
        except UnsendableAnswer:
            assert not complete
        else:
            assert complete

    @invariant()
    def a_review_is_called_decided_exactly_while_nothing_is_open(self):
        if self.review.state is S.OPEN:
            assert self.review.undecided
        if self.review.state in (S.DECIDED, S.ARMED, S.SENT, S.RESUMED):
            assert not self.review.undecided

    @invariant()
    def no_decision_stands_that_its_position_does_not_allow(self):
        for action in self.review.actions:
            assert action.decision is None or action.decision.type in action.allowed

    @invariant()
    def an_answer_left_at_most_once(self):
        assert len(self.answers) <= 1


OneReview.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
test_no_interleaving_makes_an_answer_that_lacks_a_decision_or_breaks_the_order = OneReview.TestCase

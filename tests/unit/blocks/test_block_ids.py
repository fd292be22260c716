import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks import ids
from tests.kit.block_calls import SHOWING, untimed

PLACES = st.builds(
    ids.BlockPlace, st.sampled_from("demr"), st.integers(0, 9_999), st.integers(0, 999_999)
) | st.builds(ids.BlockPlace, st.just("f"), st.integers(0, 9_999), st.integers(0, 999_999), st.integers(0, 9_999))  # fmt: skip


@given(PLACES)
@untimed
def test_a_place_comes_back_from_its_block_id(place):
    assert ids.decode_place(ids.encode_place(place)) == place


@given(st.binary(min_size=16, max_size=16))
@untimed
def test_a_showing_comes_back_and_fits_every_carrier(bits):
    showing = ids.encode_showing(bits)
    assert ids.decode_showing(showing) == showing
    assert len(showing) == 28


@pytest.mark.parametrize(
    ("place", "block_id"),
    [
        (ids.BlockPlace("d", 0), "d.0"),
        (ids.BlockPlace("m", 3, revision=2), "m.3.r2"),
        (ids.BlockPlace("f", 0, revision=1, field=4), "f.0.4.r1"),
    ],
)
def test_block_ids_are_short_and_readable(place, block_id):
    assert ids.encode_place(place) == block_id


@pytest.mark.parametrize(
    "block_id", ["", "d", "d.", "x.0", "d.0.1", "f.0", "d.-1", "d.0.r", "d.0.r1 ", "act", "d.99999"]
)
def test_a_block_id_that_is_not_ours_names_no_place(block_id):
    assert ids.decode_place(block_id) is None


@pytest.mark.parametrize(
    "value", [None, 7, "", "s_", SHOWING[:-1], SHOWING + "a", SHOWING.upper(), "s_" + "<" * 26, SHOWING + "\n"]
)
def test_anything_but_a_showing_is_refused(value):
    assert ids.decode_showing(value) is None


def test_action_ids_are_the_published_ones():
    assert {each: f"decide.{each}" for each in ids.DECISIONS} == ids.ACTIONS
    assert ids.REVIEW == "review.open"


@pytest.mark.parametrize("decision", ids.DECISIONS)
def test_a_decision_comes_back_from_its_action_id(decision):
    assert ids.decode_decision(ids.ACTIONS[decision]) == decision


@pytest.mark.parametrize("action_id", ["", "decide", "decide.", "decide.escalate", "review.open", "approve"])
def test_an_action_id_that_decides_nothing_is_no_decision(action_id):
    assert ids.decode_decision(action_id) is None


@pytest.mark.parametrize(
    ("user", "valid"), [("U02DANA", True), ("W1", True), (None, False), ("U1> <!channel", False), ("u1", False)]
)
def test_only_a_persons_id_may_stand_in_a_mention(user, valid):
    assert ids.is_user(user) is valid


def test_a_digest_is_read_in_groups_of_four():
    assert ids.digest_groups("k3vd8w2mq7xa") == ids.digest_groups("k3vd 8w2m q7xa") == "k3vd 8w2m q7xa"

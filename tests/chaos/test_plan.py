"""A chaos run is named by its seed and its length."""

from __future__ import annotations

import pytest

from tests.chaos.plan import AGENT, LEASE_S, REPLICAS, Act, Blow, make_plan


def test_the_same_seed_and_length_give_the_same_plan_and_another_seed_another():
    assert make_plan(7, 60) == make_plan(7, 60)
    assert make_plan(7, 60) != make_plan(8, 60)


@pytest.mark.parametrize("seed", range(20))
def test_the_shortest_run_has_two_kills_a_sleep_past_the_lease_and_a_kill_of_the_agent_server(seed):
    strokes = [one for one in make_plan(seed, 28).strokes if one.at + one.lasts < 28]
    killed = [name for one in strokes if one.blow is Blow.KILL for name in one.whom]

    assert {*REPLICAS, AGENT} <= set(killed)
    assert any(one.blow is Blow.STOP and one.lasts > LEASE_S and one.whom[0] in REPLICAS for one in strokes)


def test_ten_minutes_hold_at_least_twenty_kills_of_replicas_and_every_kind_of_act():
    plan = make_plan(7, 600, a_second=0.35)
    killed = [name for one in plan.strokes if one.blow is Blow.KILL for name in one.whom if name in REPLICAS]

    assert len(killed) >= 25
    assert {call.act for case in plan.cases for call in case.calls} == set(Act)


def test_every_call_has_a_token_of_its_own():
    tokens = [call.token for case in make_plan(7, 600).cases for call in case.calls]

    assert len(set(tokens)) == len(tokens)

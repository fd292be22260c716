"""Runs the expectation table, which was written from the design before the code."""

from __future__ import annotations

import pytest

from bot.policy.model import Person, Requester, RightsVerdict, TenantPolicy, Why
from bot.policy.rules import may
from bot.policy.source import parse
from tests.kit import policy_table as table

TENANTS = {piece: parse(table.policy_text(piece)).tenants["acme"] for piece in table.PIECES}


def person_of(row: table.Row) -> Person:
    who = row.who
    return Person(
        team=who.team,
        user=who.user,
        home_team=who.home_team,
        groups=who.groups,
        deactivated=who.deactivated,
        bot=who.bot,
        guest=who.guest,
        outsider=who.outsider,
        known_as_of=who.known_as_of,
        unreadable=who.unreadable,
    )


def judge_row(row: table.Row, tenant: TenantPolicy) -> RightsVerdict:
    moved = row.requester
    return may(
        tenant,
        person=person_of(row),
        tool=row.tool,
        decision=row.decision,
        proposed_args=row.args,
        final_args=row.args if row.final is table.SAME else row.final,
        requester=Requester(moved.before, moved.now) if isinstance(moved, table.Moved) else moved,
        allowed=row.allowed,
        opened_at=table.OPENED,
    )


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.says)
def test_policy_answers_as_the_table_expects(row):
    verdict = judge_row(row, TENANTS[row.policy])

    assert (verdict.allowed, verdict.why, verdict.rule) == (row.granted, row.why, row.rule)


def test_table_has_a_row_for_every_reason():
    assert {row.why for row in table.ROWS} == {why.value for why in Why} - {"not_an_operator"}


def test_table_has_at_least_sixty_different_rows():
    assert len({row.says for row in table.ROWS}) == len(table.ROWS) >= 60

"""What agents and people wrote comes back as it was written, on both engines."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select
from sqlalchemy.dialects import sqlite

from bot.store.engine import Store, new_id
from bot.store.rows import Literal
from bot.store.tables import deliveries

ANYTHING = st.text(st.characters())
LITERAL, DIALECT = Literal(), sqlite.dialect()


@given(ANYTHING | st.sampled_from(["\ud83d\ude00", "\x00", "\ud800", "a\ud83d\ude00\udc00", "😀"]))
def test_a_literal_round_trips_any_python_string_as_ascii(text: str) -> None:
    stored = LITERAL.process_bind_param(text, DIALECT)

    assert stored is not None
    assert stored.isascii()
    assert "\x00" not in stored
    assert LITERAL.process_result_value(stored, DIALECT) == text


@given(ANYTHING, ANYTHING)
def test_two_literals_are_equal_exactly_when_their_strings_are(one: str, other: str) -> None:
    stored = [LITERAL.process_bind_param(text, DIALECT) for text in (one, other)]

    assert (stored[0] == stored[1]) == (one == other)


def test_no_value_stays_no_value() -> None:
    assert LITERAL.process_bind_param(None, DIALECT) is None
    assert LITERAL.process_result_value(None, DIALECT) is None


@pytest.mark.asyncio
@pytest.mark.parametrize("text", ["\x00", "\ud83d\ude00", "\udc00 tail", 'quote " and \\', "ﷺ\u202e"])
async def test_both_engines_keep_a_literal(store: Store, text: str) -> None:
    async with store.begin() as tx:
        await tx.conn.execute(insert(deliveries).values(key="k", answer=text, at=tx.now))

    async with store.read() as tx:
        assert await tx.conn.scalar(select(deliveries.c.answer)) == text


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["r", "d", "s"]))
def test_an_id_is_its_prefix_and_26_base32_characters(prefix: str) -> None:
    made = new_id(prefix)

    assert made.startswith(f"{prefix}_")
    assert len(made) == len(prefix) + 27
    assert set(made[len(prefix) + 1 :]) <= set("abcdefghijklmnopqrstuvwxyz234567")

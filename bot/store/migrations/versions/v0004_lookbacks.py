"""Closed dispatches that are looked at once more, and repeated refusals that are counted."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, Text

from bot.store.migrations.spelling import key, numbers, texts, times

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "lookbacks",
        Column("dispatch_id", Text, ForeignKey("dispatches.id"), primary_key=True),
        *times("look_at"),
        Index("ix_lookbacks_at", "look_at"),
    )
    op.create_table(
        "refusals",
        *key("tenant", "team", "user_id", "reason"),
        *times("since until"),
        *numbers("more"),
        *texts("places"),
        Index("ix_refusals_until", "until"),
    )

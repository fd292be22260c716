"""Home tabs that somebody may be looking at, and requesters that changed after their review was opened."""

from alembic import op
from sqlalchemy import Column, Text

from bot.store.migrations.spelling import key, numbers, texts, times

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table, add the column."""
    op.create_table(
        "home_tabs", *key("team", "user_id"), *times("opened_at next_at"), *numbers("page"), *texts("content")
    )
    op.create_index("ix_home_tabs_next", "home_tabs", ["next_at"])
    op.add_column("reviews", Column("renamed", Text, nullable=True))

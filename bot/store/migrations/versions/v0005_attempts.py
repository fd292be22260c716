"""What is known of single attempts: an assistant of their own, or that they are dead for certain."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, Text

from bot.store.migrations.spelling import flags, texts

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "attempts",
        Column("dispatch_id", Text, ForeignKey("dispatches.id"), primary_key=True),
        Column("attempt", Integer, primary_key=True, autoincrement=False),
        *texts("assistant_id", null=True),
        *flags("dead"),
    )

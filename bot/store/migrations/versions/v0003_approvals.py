"""Approvals of calls that need several people."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, Text

from bot.store.migrations.spelling import key, numbers, partial, texts, times

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "approvals",
        *key("id"),
        Column("review_id", Text, ForeignKey("reviews.id"), nullable=False),
        *numbers("position"),
        *texts("type team user_id"),
        *times("at"),
        *texts("showing_id digest"),
        *texts("final_args", null=True),
        *texts("rule"),
        *numbers("policy_version"),
        *times("voided_at", null=True),
        *texts("void_why", null=True),
        Index("ix_approvals_review", "review_id", "at"),
        partial(
            "uq_approvals_active",
            "review_id",
            "position",
            "team",
            "user_id",
            where="voided_at IS NULL",
            unique=True,
        ),
    )

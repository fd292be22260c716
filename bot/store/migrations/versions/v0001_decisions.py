"""What a decision passes through: reviews, showings, decisions, dispatches, messages."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Text, UniqueConstraint

from bot.store.migrations.spelling import flags, key, numbers, partial, texts, times

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    _reviews()
    _actions()
    _showings()
    _decisions()
    _deliveries()
    _dispatches()
    _messages()
    _notices()
    _drafts()


def _reviews() -> None:
    op.create_table(
        "reviews",
        *key("id"),
        *texts("tenant server_url server_kind identity assistant route"),
        *texts("thread_id interrupt_id"),
        *texts("content_hash"),
        *numbers("generation"),
        *texts("shape state"),
        *texts("why"),
        Column("salt", LargeBinary, nullable=False),
        *texts("requester", null=True),
        *times("opened_at"),
        *times("delivered_at decide_by settled_at erased_at", null=True),
        *texts("response_schema", null=True),
        *texts("problem"),
        *numbers("version policy_version"),
        *times("next_try_at"),
        UniqueConstraint(
            "server_url", "thread_id", "interrupt_id", "content_hash", "generation", name="uq_reviews_interrupt"
        ),
        partial("ix_reviews_live", "tenant", "opened_at", where="state NOT IN ('resumed', 'superseded', 'broken')"),
        partial(
            "ix_reviews_thread", "server_url", "thread_id", where="state NOT IN ('resumed', 'superseded', 'broken')"
        ),
        partial("ix_reviews_due", "tenant", "next_try_at", "id", where="state IN ('decided', 'expired')"),
        partial("ix_reviews_expirable", "decide_by", where="state IN ('open', 'decided') AND decide_by IS NOT NULL"),
        partial("ix_reviews_unknown", "next_try_at", where="state = 'unknown'"),
        partial("ix_reviews_erasable", "tenant", "settled_at", where="settled_at IS NOT NULL AND erased_at IS NULL"),
    )


def _actions() -> None:
    op.create_table(
        "actions",
        Column("review_id", Text, ForeignKey("reviews.id"), primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        *texts("tool"),
        *texts("args", null=True),
        *flags("args_object"),
        *texts("description", null=True),
        *texts("allowed digest"),
        *texts("problem"),
        *texts("tool_call_id", null=True),
        *texts("outcome", null=True),
        *texts("outcome_text", null=True),
    )


def _showings() -> None:
    op.create_table(
        "showings",
        *key("id"),
        Column("review_id", Text, ForeignKey("reviews.id"), nullable=False),
        *numbers("position", null=True),
        *texts("kind digest offers"),
        *texts("user_id message_id final_args", null=True),
        *numbers("page number"),
        *times("at"),
        Index("ix_showings_review", "review_id"),
        Index("ix_showings_message", "message_id", "number"),
    )


def _decisions() -> None:
    op.create_table(
        "decisions",
        *key("id"),
        Column("review_id", Text, ForeignKey("reviews.id"), nullable=False),
        *numbers("position"),
        *texts("type team user_id"),
        *times("at"),
        *texts("showing_id digest"),
        *texts("final_args", null=True),
        *texts("message", null=True),
        *texts("rule"),
        *numbers("policy_version"),
        *texts("delivery_key"),
        *times("voided_at", null=True),
        *texts("voided_by", null=True),
        *texts("void_why", null=True),
        Index("ix_decisions_review", "review_id", "at"),
        partial("uq_decisions_active", "review_id", "position", where="voided_at IS NULL", unique=True),
    )


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        *key("key"),
        *texts("answer"),
        *times("at"),
        Index("ix_deliveries_at", "at"),
    )


def _dispatches() -> None:
    op.create_table(
        "dispatches",
        *key("id"),
        Column("review_id", Text, ForeignKey("reviews.id"), nullable=False, unique=True),
        *texts("tenant server_url"),
        *texts("thread_id"),
        *texts("state owner"),
        *flags("live expiry"),
        *numbers("token attempt"),
        *times("lease_ms claimed_at lease_until next_try_at"),
        *times("armed_at alive_at accepted_at closed_at alarmed_at", null=True),
        *texts("run_id", null=True),
        *texts("sent_body_hash outcome alarm", null=True),
        *texts("why"),
        partial("uq_dispatches_thread", "server_url", "thread_id", where="live", unique=True),
        partial("ix_dispatches_lease", "lease_until", where="live"),
        Index("ix_dispatches_tenant", "tenant", "claimed_at"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        *key("id"),
        *texts("tenant"),
        Column("review_id", Text, ForeignKey("reviews.id"), nullable=False),
        *numbers("position", null=True),
        *texts("parent_id", null=True),
        *texts("channel"),
        *texts("ts", null=True),
        *numbers("wanted shown urgency"),
        *flags("held"),
        *texts("state"),
        *texts("showing_id content_key owner", null=True),
        *numbers("token attempts"),
        *times("created_at next_try_at"),
        *times("lease_until posting_since", null=True),
        *texts("last_error"),
        partial("uq_messages_root", "review_id", where="position IS NULL", unique=True),
        partial("uq_messages_position", "review_id", "position", where="position IS NOT NULL", unique=True),
        partial(
            "ix_messages_due",
            "tenant",
            "urgency",
            "next_try_at",
            where="wanted > shown AND NOT held AND state IN ('new', 'posting', 'posted')",
        ),
        Index("ix_messages_place", "channel", "ts"),
        Index("ix_messages_review", "review_id"),
        partial("ix_messages_parent", "parent_id", where="parent_id IS NOT NULL"),
    )


def _notices() -> None:
    op.create_table(
        "notices",
        *key("id"),
        Column("key", Text, nullable=False, unique=True),
        *texts("tenant channel"),
        *texts("user_id thread_ts", null=True),
        *texts("text"),
        *texts("state"),
        *texts("owner", null=True),
        *numbers("token attempts"),
        *times("created_at next_try_at"),
        *times("lease_until sent_at", null=True),
        *texts("last_error"),
        partial("ix_notices_due", "tenant", "next_try_at", where="state = 'new'"),
    )


def _drafts() -> None:
    op.create_table(
        "drafts",
        Column("review_id", Text, ForeignKey("reviews.id"), primary_key=True),
        *key("team", "user_id"),
        Column("position", Integer, primary_key=True, autoincrement=False),
        *texts("content"),
        *times("at"),
    )

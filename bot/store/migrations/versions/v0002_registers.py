"""What stands around decisions: audit, policy versions, people, tenants, threads, requests."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, Integer, Text, UniqueConstraint

from bot.store.migrations.spelling import BigSerial, flags, key, numbers, partial, texts, times

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables."""
    _audit_events()
    _policy_versions()
    _people()
    _user_groups()
    _group_members()
    _tenants()
    _threads_seen()
    _requests()


def _audit_events() -> None:
    op.create_table(
        "audit_events",
        Column("id", BigSerial, primary_key=True),
        *texts("tenant"),
        *times("at"),
        *texts("kind"),
        *texts("review_id", null=True),
        *numbers("position", null=True),
        *texts("actor content"),
        Column("seq", BigInteger, nullable=True),
        *texts("prev_hash hash", null=True),
        UniqueConstraint("tenant", "seq", name="uq_audit_events_seq"),
        Index("ix_audit_events_review", "review_id", "id"),
        Index("ix_audit_events_at", "tenant", "at"),
        partial("ix_audit_events_unsealed", "tenant", "id", where="hash IS NULL"),
        sqlite_autoincrement=True,
    )


def _policy_versions() -> None:
    op.create_table(
        "policy_versions",
        Column("version", Integer, primary_key=True, autoincrement=False),
        *texts("text"),
        *texts("digest applied_by"),
        *times("applied_at"),
        Index("ix_policy_versions_digest", "digest"),
    )


def _people() -> None:
    op.create_table(
        "people",
        *key("team", "user_id"),
        *texts("name"),
        *flags("active guest external bot"),
        *texts("home_team enterprise", null=True),
        *times("as_of"),
    )


def _user_groups() -> None:
    op.create_table(
        "user_groups",
        *key("team", "group_id"),
        *times("as_of"),
    )


def _group_members() -> None:
    op.create_table(
        "group_members",
        *key("team", "group_id", "user_id"),
        *times("since"),
        ForeignKeyConstraint(["team", "group_id"], ["user_groups.team", "user_groups.group_id"]),
        Index("ix_group_members_user", "team", "user_id"),
    )


def _tenants() -> None:
    op.create_table(
        "tenants",
        *key("name"),
        *texts("paused_by", null=True),
        *times("paused_at", null=True),
        *texts("fault_code", null=True),
        *texts("fault_text", null=True),
        *times("fault_at", null=True),
    )


def _threads_seen() -> None:
    op.create_table(
        "threads_seen",
        *key("tenant"),
        Column("identity", Text, primary_key=True),
        Column("thread_id", Text, primary_key=True),
        *texts("updated_at"),
        *times("checked_at"),
        *times("hinted_at hint_until", null=True),
        partial("ix_threads_seen_hinted", "hinted_at", where="hinted_at IS NOT NULL"),
    )


def _requests() -> None:
    op.create_table(
        "requests",
        *key("id"),
        *texts("kind"),
        *texts("tenant review_id", null=True),
        *texts("content asked_by"),
        *times("asked_at"),
        *texts("state"),
        *texts("owner", null=True),
        *times("lease_until answered_at", null=True),
        *texts("answer", null=True),
        partial("ix_requests_waiting", "asked_at", where="state <> 'done'"),
    )

"""The tables around decisions: the audit, policy versions, people, tenants, threads and operators' requests.

No row here moves a review by itself. Audit events name reviews without a foreign key: the record outlives what it
records.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, Integer, Table, UniqueConstraint

from bot.store.columns import BigSerial, Literal, flags, key, literals, metadata, numbers, partial, texts, times

UNSEALED = "hash IS NULL"
WAITING_REQUEST = "state <> 'done'"

audit_events = Table(
    "audit_events",
    metadata,
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
    partial("ix_audit_events_unsealed", "tenant", "id", where=UNSEALED),
    # An id that was ever used never comes back, so that a cut tail leaves a gap.
    sqlite_autoincrement=True,
)

policy_versions = Table(
    "policy_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    *literals("text"),
    *texts("digest applied_by"),
    *times("applied_at"),
    Index("ix_policy_versions_digest", "digest"),
)

people = Table(
    "people",
    metadata,
    *key("team", "user_id"),
    *literals("name"),
    *flags("active guest external bot"),
    *texts("home_team enterprise person_id", null=True),
    *texts("teams"),
    *times("as_of"),
    Index("ix_people_person", "team", "person_id"),
)

user_groups = Table(
    "user_groups",
    metadata,
    *key("team", "group_id"),
    *times("as_of"),
    *texts("fault", null=True),
    *times("fault_at", null=True),
)

group_members = Table(
    "group_members",
    metadata,
    *key("team", "group_id", "user_id"),
    *times("since"),
    ForeignKeyConstraint(["team", "group_id"], ["user_groups.team", "user_groups.group_id"]),
    Index("ix_group_members_user", "team", "user_id"),
)

tenants = Table(
    "tenants",
    metadata,
    *key("name"),
    *texts("paused_by", null=True),
    *times("paused_at", null=True),
    *texts("fault_code fault_channel", null=True),
    *literals("fault_text", null=True),
    *times("fault_at", null=True),
)

# Threads whose state could not be read at the last attempt; a row is gone with the next reading that succeeds.
unreadable_threads = Table(
    "unreadable_threads",
    metadata,
    *key("tenant"),
    Column("identity", Literal, primary_key=True),
    Column("thread_id", Literal, primary_key=True),
    *literals("fault"),
    *numbers("failures"),
    *times("since tried_at"),
    *times("told_at", null=True),
)

home_tabs = Table(
    "home_tabs",
    metadata,
    *key("team", "user_id"),
    *times("opened_at next_at"),
    *numbers("page"),
    *texts("content"),
    Index("ix_home_tabs_next", "next_at"),
)

requests = Table(
    "requests",
    metadata,
    *key("id"),
    *texts("kind"),
    *texts("tenant review_id", null=True),
    *texts("content asked_by"),
    *times("asked_at"),
    *texts("state"),
    *texts("owner", null=True),
    *times("lease_until answered_at", null=True),
    *literals("answer", null=True),
    partial("ix_requests_waiting", "asked_at", where=WAITING_REQUEST),
)

# One person's refusals for one reason within one minute: the first has its event, the others are counted here.
refusals = Table(
    "refusals",
    metadata,
    *key("tenant", "team", "user_id", "reason"),
    *times("since until"),
    *numbers("more"),
    *texts("places"),
    Index("ix_refusals_until", "until"),
)

__all__ = [
    "audit_events",
    "group_members",
    "home_tabs",
    "metadata",
    "people",
    "policy_versions",
    "refusals",
    "requests",
    "tenants",
    "unreadable_threads",
    "user_groups",
]

"""All tables, with the indexes that keep a click cheap beside a long history.

The tables that a decision passes through: reviews, what was shown, decided, sent, and what goes to Slack. Partial
indexes cover the rows that still matter, so that a claim or a click costs the same beside a hundred thousand settled
reviews. Their conditions are constants here because a query must repeat them word for word to be served by them.

The tables around decisions: the audit, policy versions, people, tenants, threads and operators' requests. No row here
moves a review by itself. Audit events name reviews without a foreign key: the record outlives what it records.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from bot.store.rows import BigSerial, Literal, flags, key, literals, metadata, numbers, partial, texts, times

LIVE_REVIEW = "state NOT IN ('resumed', 'superseded', 'broken')"
DUE_REVIEW = "state IN ('decided', 'expired')"
EXPIRABLE = "state IN ('open', 'decided') AND decide_by IS NOT NULL"
UNKNOWN_REVIEW = "state = 'unknown'"
ERASABLE = "settled_at IS NOT NULL AND erased_at IS NULL"
ACTIVE_DECISION = "voided_at IS NULL"
LIVE_DISPATCH = "live"
DUE_MESSAGE = "wanted > shown AND NOT held AND state IN ('new', 'posting', 'posted')"
DUE_NOTICE = "state = 'new'"


def _review() -> Column[str]:
    return Column("review_id", Text, ForeignKey("reviews.id"), nullable=False)


reviews = Table(
    "reviews",
    metadata,
    *key("id"),
    *texts("tenant server_url server_kind identity route"),
    *literals("assistant thread_id interrupt_id"),
    *texts("content_hash"),
    *numbers("generation"),
    *texts("shape state"),
    *literals("why"),
    Column("salt", LargeBinary, nullable=False),
    *texts("requester renamed", null=True),
    *times("opened_at"),
    *times("delivered_at decide_by settled_at erased_at missing_since", null=True),
    *texts("response_schema", null=True),
    *literals("problem checkpoint_ns"),
    *literals("asked_by", null=True),
    *literals("started_with", null=True),
    *texts("surroundings", null=True),
    *numbers("version policy_version"),
    *times("next_try_at"),
    UniqueConstraint(
        "server_url", "thread_id", "interrupt_id", "content_hash", "generation", name="uq_reviews_interrupt"
    ),
    partial("ix_reviews_live", "tenant", "opened_at", where=LIVE_REVIEW),
    partial("ix_reviews_thread", "server_url", "thread_id", where=LIVE_REVIEW),
    partial("ix_reviews_due", "tenant", "next_try_at", "id", where=DUE_REVIEW),
    partial("ix_reviews_expirable", "decide_by", where=EXPIRABLE),
    partial("ix_reviews_unknown", "next_try_at", where=UNKNOWN_REVIEW),
    partial("ix_reviews_erasable", "tenant", "settled_at", where=ERASABLE),
)

actions = Table(
    "actions",
    metadata,
    Column("review_id", Text, ForeignKey("reviews.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    *literals("tool"),
    *texts("args", null=True),
    *flags("args_object"),
    *literals("description", null=True),
    *texts("allowed digest"),
    *literals("problem"),
    *literals("tool_call_id", null=True),
    *texts("outcome", null=True),
    *literals("outcome_text", null=True),
    *texts("void_why"),
)

showings = Table(
    "showings",
    metadata,
    *key("id"),
    _review(),
    *numbers("position", null=True),
    *texts("kind digest offers"),
    *texts("team user_id message_id final_args", null=True),
    *numbers("page number"),
    *times("at"),
    Index("ix_showings_review", "review_id"),
    Index("ix_showings_message", "message_id", "number"),
)

decisions = Table(
    "decisions",
    metadata,
    *key("id"),
    _review(),
    *numbers("position"),
    *texts("type team user_id"),
    *times("at"),
    *texts("showing_id digest"),
    *texts("final_args", null=True),
    *literals("message", null=True),
    *literals("rule"),
    *numbers("policy_version"),
    *texts("delivery_key"),
    *times("voided_at", null=True),
    *texts("voided_by", null=True),
    *literals("void_why", null=True),
    Index("ix_decisions_review", "review_id", "at"),
    partial("uq_decisions_active", "review_id", "position", where=ACTIVE_DECISION, unique=True),
)

approvals = Table(
    "approvals",
    metadata,
    *key("id"),
    _review(),
    *numbers("position"),
    *texts("type team user_id"),
    *times("at"),
    *texts("showing_id digest"),
    *texts("final_args", null=True),
    *literals("rule"),
    *numbers("policy_version"),
    *times("voided_at", null=True),
    *literals("void_why", null=True),
    Index("ix_approvals_review", "review_id", "at"),
    partial("uq_approvals_active", "review_id", "position", "team", "user_id", where=ACTIVE_DECISION, unique=True),
)

deliveries = Table(
    "deliveries",
    metadata,
    *key("key"),
    *literals("answer"),
    *times("at"),
    Index("ix_deliveries_at", "at"),
)

dispatches = Table(
    "dispatches",
    metadata,
    *key("id"),
    Column("review_id", Text, ForeignKey("reviews.id"), nullable=False, unique=True),
    *texts("tenant server_url"),
    *literals("thread_id"),
    *texts("state owner"),
    *flags("live expiry"),
    *numbers("token attempt"),
    *times("lease_ms claimed_at lease_until next_try_at"),
    *times("armed_at alive_at accepted_at closed_at alarmed_at", null=True),
    *literals("run_id", null=True),
    *texts("sent_body_hash outcome alarm", null=True),
    *literals("why"),
    partial("uq_dispatches_thread", "server_url", "thread_id", where=LIVE_DISPATCH, unique=True),
    partial("ix_dispatches_lease", "lease_until", where=LIVE_DISPATCH),
    Index("ix_dispatches_tenant", "tenant", "claimed_at"),
)

# Closed dispatches whose thread is to be looked at once more; a row is gone when that is done.
lookbacks = Table(
    "lookbacks",
    metadata,
    Column("dispatch_id", Text, ForeignKey("dispatches.id"), primary_key=True),
    *times("look_at"),
    Index("ix_lookbacks_at", "look_at"),
)

# What is known of one attempt of a dispatch: an assistant of its own, that the server refused it, or that no copy of it
# can run.
attempts = Table(
    "attempts",
    metadata,
    Column("dispatch_id", Text, ForeignKey("dispatches.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    *texts("assistant_id", null=True),
    *flags("dead refused"),
)

messages = Table(
    "messages",
    metadata,
    *key("id"),
    *texts("tenant"),
    _review(),
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
    *literals("last_error"),
    partial("uq_messages_root", "review_id", where="position IS NULL", unique=True),
    partial("uq_messages_position", "review_id", "position", where="position IS NOT NULL", unique=True),
    partial("ix_messages_due", "tenant", "urgency", "next_try_at", where=DUE_MESSAGE),
    Index("ix_messages_place", "channel", "ts"),
    Index("ix_messages_review", "review_id"),
    partial("ix_messages_parent", "parent_id", where="parent_id IS NOT NULL"),
)

notices = Table(
    "notices",
    metadata,
    *key("id"),
    Column("key", Text, nullable=False, unique=True),
    *texts("tenant channel"),
    *texts("user_id thread_ts", null=True),
    *literals("text"),
    *texts("state"),
    *texts("owner", null=True),
    *numbers("token attempts"),
    *times("created_at next_try_at"),
    *times("lease_until sent_at", null=True),
    *literals("last_error"),
    partial("ix_notices_due", "tenant", "next_try_at", where=DUE_NOTICE),
)

drafts = Table(
    "drafts",
    metadata,
    Column("review_id", Text, ForeignKey("reviews.id"), primary_key=True),
    *key("team", "user_id"),
    Column("position", Integer, primary_key=True, autoincrement=False),
    *literals("content"),
    *times("at"),
)


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

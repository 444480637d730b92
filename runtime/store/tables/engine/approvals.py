"""Tables of questions to people, their votes, and how much may be done unasked."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

approvals = Table(
    "approvals",
    metadata,
    time_id("id", primary_key=True),
    words("kind"),
    words("state"),
    words("run_id"),
    number("step"),
    words("session"),
    words("address"),
    words("tool"),
    words("effect"),
    words("arguments"),
    words("arguments_hash"),
    words("policy_version"),
    words("caution"),
    maybe_words("requester"),
    number("asked_at"),
    number("expires_at"),
    maybe_words("decided_by"),
    words("decided_name"),
    maybe_number("decided_at"),
    maybe_words("choice"),
    words("reason"),
    words("requester_name", server_default=""),
    words("request", server_default=""),
    words("terms", server_default=""),
    words("card", server_default=""),
    words("asked_arguments", server_default=""),
    words("outcome", server_default=""),
    number("calls", server_default="0"),
    maybe_number("next_call_at"),
    partial("ix_approvals_pending", "expires_at", where="state = 'pending'"),
    partial("ix_approvals_calls", "next_call_at", where="state = 'pending' AND next_call_at IS NOT NULL"),
    Index("ix_approvals_run", "run_id"),
    Index("ix_approvals_asked", "asked_at"),
)

votes = Table(
    "votes",
    metadata,
    words("approval_id"),
    words("person_id"),
    words("choice"),
    words("reason"),
    number("at"),
    PrimaryKeyConstraint("approval_id", "person_id"),
)

# Standing permissions that an approver gave: calls that fit one are not asked about. Uses left are null where not counted.
grants = Table(
    "grants",
    metadata,
    time_id("id", primary_key=True),
    words("agent"),
    words("tool"),
    words("form"),
    words("pattern"),
    words("session"),
    words("room"),
    words("person"),
    # Nothing reads it yet: reserved for grants that also hold once an agent has read what strangers wrote.
    number("tainted"),
    words("by"),
    words("from_approval"),
    number("until"),
    maybe_number("uses_left"),
    maybe_number("revoked_at"),
    number("created_at"),
    partial("ix_grants_tool", "tool", where="revoked_at IS NULL"),
)

# How much a conversation may do unasked, where that is not as everywhere. `person` is who is trusted.
modes = Table(
    "modes",
    metadata,
    words("session", primary_key=True),
    words("mode"),
    words("person"),
    words("set_by"),
    number("set_at"),
    maybe_number("until"),
)

# People who cannot answer for now; questions go to the next.
absences = Table(
    "absences",
    metadata,
    words("person_id", primary_key=True),
    number("until"),
    number("set_at"),
)

# What takes an approved call back, for as long as that is offered.
undos = Table(
    "undos",
    metadata,
    time_id("approval_id", primary_key=True),
    words("run_id"),
    number("step"),
    words("kept"),
    number("until"),
    words("undone_by", server_default=""),
    maybe_number("undone_at"),
)

# Questions of approvers that the agent has not answered yet; `node` is the one that is at it. What was asked is in the approval.
asked_back = Table(
    "asked_back",
    metadata,
    time_id("approval_id"),
    number("number"),
    maybe_words("node"),
    number("asked_at"),
    PrimaryKeyConstraint("approval_id", "number"),
)

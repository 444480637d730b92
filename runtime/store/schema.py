"""Every table, once, for both engines. Migrations are compared with this file by a test.

Times are integer microseconds UTC, booleans 0 or 1, JSON is text. A state column holds the word of its StrEnum. The
predicates of partial indexes are literals, and statements that want to use them repeat them as literals: PostgreSQL
cannot prove that a bound parameter matches (measured: 20 ms a claim at 10^5 rows instead of 0.1).
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Index, LargeBinary, PrimaryKeyConstraint, Table, UniqueConstraint

from runtime.store.tables.columns import Serial, maybe_number, maybe_words, number, partial, time_id, words
from runtime.store.tables.columns import metadata as metadata
from runtime.store.tables.events import event_cursors as event_cursors
from runtime.store.tables.events import feedback as feedback
from runtime.store.tables.forgetting import audit_signatures as audit_signatures
from runtime.store.tables.forgetting import forgettings as forgettings
from runtime.store.tables.knowledge import knowledge_chunks as knowledge_chunks
from runtime.store.tables.knowledge import knowledge_documents as knowledge_documents
from runtime.store.tables.knowledge import knowledge_vectors as knowledge_vectors
from runtime.store.tables.logins import logins as logins
from runtime.store.tables.memory import forgotten as forgotten
from runtime.store.tables.memory import memories as memories
from runtime.store.tables.memory import memory_uses as memory_uses
from runtime.store.tables.memory import memory_vectors as memory_vectors
from runtime.store.tables.memory import person_summaries as person_summaries
from runtime.store.tables.memory import state_values as state_values
from runtime.store.tables.processes import processes as processes
from runtime.store.tables.programs import peer_tasks as peer_tasks
from runtime.store.tables.programs import pushes as pushes
from runtime.store.tables.programs import tokens as tokens
from runtime.store.tables.room_marks import deleted_rooms as deleted_rooms
from runtime.store.tables.room_marks import room_marks as room_marks
from runtime.store.tables.skills import skill_locks as skill_locks
from runtime.store.tables.triggers import trigger_fires as trigger_fires
from runtime.store.tables.triggers import triggers as triggers

REVISION: Final = "0048"
"""The newest migration. Known here so that a start on a current database need not load Alembic."""

signals = Table(
    "signals",
    metadata,
    time_id("id", primary_key=True),
    words("platform"),
    words("dedupe_key"),
    maybe_words("natural_key"),
    words("kind"),
    words("urgency"),
    words("actor"),
    words("actor_name"),
    maybe_words("person_id"),
    words("address"),
    words("text"),
    words("files"),
    words("words_hash"),
    maybe_words("session"),
    maybe_number("seq"),
    words("state"),
    maybe_words("run_id"),
    maybe_words("merged_into"),
    number("received_at"),
    number("accepted_at"),
    maybe_number("answered_at"),
    maybe_words("node"),
    words("message_id", server_default=""),
    number("by_program", server_default="0"),
    words("trigger", server_default=""),
    words("chain", server_default=""),
    words("replaces", server_default=""),
    UniqueConstraint("platform", "dedupe_key"),
    UniqueConstraint("platform", "natural_key"),
    partial("ix_signals_waiting", "session", "seq", where="state = 'waiting'"),
    partial("ix_signals_unanswered", "session", "words_hash", where="kind = 'said' AND answered_at IS NULL"),
    partial("ix_signals_condensing", "accepted_at", where="state = 'condensing'"),
    partial("ix_signals_run", "run_id", where="run_id IS NOT NULL"),
    partial("ix_signals_merged", "merged_into", where="merged_into IS NOT NULL"),
    partial("ix_signals_said", "address", "accepted_at", where="kind = 'said' AND state <> 'refused'"),
    partial("ix_signals_actor", "actor", "accepted_at", where="kind = 'said' AND state <> 'refused'"),
)

# The lane: `waiting` counts signals and `resumable` ready runs. Both sides change the counters in their own
# transactions, so "is there more?" is never a sub-select that can miss a row committed beside it.
sessions = Table(
    "sessions",
    metadata,
    words("key", primary_key=True),
    words("agent"),
    words("address"),
    words("state"),
    maybe_words("owner"),
    number("fence"),
    number("waiting"),
    number("resumable"),
    number("last_seq"),
    number("next_turn"),
    number("ready_at"),
    number("created_at"),
    number("since_turn", server_default="0"),
    words("model", server_default=""),
    Index("ix_sessions_address", "address"),
    partial("ix_sessions_ready", "ready_at", where="state = 'ready'"),
    partial("ix_sessions_suspect", "ready_at", where="state = 'suspect'"),
    partial("ix_sessions_owner", "owner", where="state = 'running'"),
)

runs = Table(
    "runs",
    metadata,
    time_id("id", primary_key=True),
    words("session"),
    words("address"),
    words("state"),
    maybe_words("requester"),
    number("claims"),
    number("iterations"),
    number("next_step"),
    number("stop"),
    number("last_turn"),
    words("error"),
    number("started_at"),
    number("ready_at"),
    maybe_number("ended_at"),
    maybe_words("node"),
    number("crashes", server_default="0"),
    words("reply_to", server_default=""),
    number("since_turn", server_default="0"),
    words("trigger", server_default=""),
    words("model", server_default=""),
    partial("uq_runs_live", "session", where="state = 'running'", unique=True),
    partial("ix_runs_open", "session", where="state IN ('running', 'parked', 'ready')"),
    partial("ix_runs_crashed", "ended_at", where="crashes >= 2"),
    Index("ix_runs_started", "started_at"),
)

steps = Table(
    "steps",
    metadata,
    words("run_id"),
    number("number"),
    words("kind"),
    words("state"),
    words("call_id"),
    words("tool"),
    words("effect"),
    words("arguments"),
    words("arguments_hash"),
    words("result"),
    words("caution"),
    number("turn"),
    maybe_number("started_at"),
    maybe_number("ended_at"),
    maybe_words("node"),
    number("trusted", server_default="0"),
    words("sealed", server_default=""),
    # When a call was let through by the rules, at once or by a question: limits count these. Null for all other steps.
    maybe_number("called_at"),
    PrimaryKeyConstraint("run_id", "number"),
    partial("ix_steps_called", "tool", "called_at", where="called_at IS NOT NULL"),
)

# What a parked run waits for: a row each. After the last one is settled the run is ready for its lane.
waits = Table(
    "waits",
    metadata,
    time_id("run_id"),
    number("step"),
    words("kind"),
    words("subject"),
    maybe_number("settled_at"),
    PrimaryKeyConstraint("run_id", "kind", "subject"),
    partial("ix_waits_timers", "subject", where="kind = 'timer' AND settled_at IS NULL"),
)

turns = Table(
    "turns",
    metadata,
    words("session"),
    number("number"),
    words("run_id"),
    words("role"),
    words("text"),
    words("author"),
    words("calls"),
    words("call_id"),
    words("tool"),
    number("at"),
    words("files", server_default="[]"),
    words("reasoning", server_default=""),
    number("left_out", server_default="0"),
    PrimaryKeyConstraint("session", "number"),
)

# What stands in a model's request for the turns from `since_turn` to `upto_turn`, which stay where they are.
summaries = Table(
    "summaries",
    metadata,
    words("session"),
    number("upto_turn"),
    number("since_turn"),
    words("kind"),
    words("text"),
    words("request"),
    words("facts"),
    words("model"),
    number("tokens_before"),
    number("tokens_after"),
    words("run_id"),
    number("at"),
    number("turns", server_default="0"),
    PrimaryKeyConstraint("session", "upto_turn"),
    Index("ix_summaries_made", "session", "at"),
)

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

OPEN_DELIVERY: Final = "state IN ('queued', 'open')"

deliveries = Table(
    "deliveries",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    words("id"),
    time_id("origin"),
    number("ordinal"),
    words("kind"),
    words("channel"),
    words("account"),
    words("address"),
    words("content"),
    maybe_words("edits"),
    maybe_words("run_id"),
    words("state"),
    number("rank"),
    number("not_before"),
    words("reason"),
    number("created_at"),
    maybe_number("settled_at"),
    maybe_number("doubted_at"),
    words("reply_to", server_default=""),
    UniqueConstraint("id"),
    UniqueConstraint("origin", "ordinal"),
    partial("ix_deliveries_open", "address", "rank", "number", where=OPEN_DELIVERY),
    partial("ix_deliveries_rooms", "channel", "account", "address", where=OPEN_DELIVERY),
    partial("ix_deliveries_stuck", "channel", "account", "state", where="state IN ('held', 'dead')"),
    Index("ix_deliveries_address", "address", "created_at"),
    Index("ix_deliveries_created", "created_at"),
    partial("ix_deliveries_edits", "address", "created_at", where="edits IS NOT NULL"),
)

parts = Table(
    "parts",
    metadata,
    words("delivery_id"),
    number("ordinal"),
    words("state"),
    words("body"),
    maybe_words("fallback"),
    number("attempts"),
    maybe_number("marked_at"),
    number("looks"),
    number("repeat_mark"),
    maybe_words("receipt"),
    maybe_number("shown_at"),
    words("reason"),
    maybe_words("node"),
    words("floor", server_default=""),
    maybe_number("first_at"),
    words("more", server_default="[]"),
    PrimaryKeyConstraint("delivery_id", "ordinal"),
    partial("ix_parts_marked", "delivery_id", where="state = 'marked'"),
    partial("ix_parts_receipt", "receipt", where="receipt IS NOT NULL"),
)

# What went another way than straight on: a run taken up again, a part retried, looked for or given up. The straight way
# is told by the times in the rows themselves, so that it costs no row here.
moves = Table(
    "moves",
    metadata,
    Column("number", Serial, primary_key=True, autoincrement=True),
    words("subject"),
    number("at"),
    maybe_words("node"),
    words("what"),
    words("detail"),
    Index("ix_moves_subject", "subject"),
)

nodes = Table(
    "nodes",
    metadata,
    time_id("id", primary_key=True),
    words("label"),
    words("state"),
    number("fence"),
    number("joined_at"),
    number("expires_at"),
    # A hash of the agents that its settings describe: all nodes should have the same.
    words("agents", server_default=""),
    partial("ix_nodes_live", "expires_at", where="state = 'live'"),
)

roles = Table(
    "roles",
    metadata,
    words("name", primary_key=True),
    maybe_words("node"),
    number("fence"),
)

# How the way of an account to its platform stands on a node, as far as others need to know: `asked_at` is when
# the node last asked them to try theirs, `answered_at` when the platform answered it last, `left_at` when it gave its roles up.
pings = Table(
    "pings",
    metadata,
    words("account"),
    time_id("node"),
    maybe_number("asked_at"),
    maybe_number("answered_at"),
    maybe_number("left_at"),
    PrimaryKeyConstraint("account", "node"),
    partial("ix_pings_asked", "asked_at", where="asked_at IS NOT NULL"),
)

usage = Table(
    "usage",
    metadata,
    time_id("run_id"),
    number("step"),
    words("agent"),
    words("address"),
    maybe_words("person_id"),
    words("model"),
    number("input_tokens"),
    number("output_tokens"),
    number("cost_micros"),
    number("at"),
    number("cached_tokens", server_default="0"),
    words("instead_of", server_default=""),
    number("unpriced", server_default="0"),
    PrimaryKeyConstraint("run_id", "step"),
)

# What was spent of each budget up to `ends_at`, by whom it bounds; `reserved` is held back for `held` calls under way. Of a
# row whose time is over the sums count no more; the next change begins them anew.
budgets = Table(
    "budgets",
    metadata,
    words("scope"),
    words("subject"),
    number("spent"),
    number("tokens"),
    number("calls"),
    number("unpriced"),
    number("reserved"),
    number("held"),
    number("level"),
    number("ends_at"),
    PrimaryKeyConstraint("scope", "subject"),
)

# Money held back for the call that a run is about to make, or makes: until it is recorded, also by whoever repeats it.
reservations = Table(
    "reservations",
    metadata,
    time_id("run_id", primary_key=True),
    words("agent"),
    words("room"),
    maybe_words("person_id"),
    number("micros"),
    number("at"),
)

# Models that failed and are not asked for a while. `mark` is of the settings and keys that they were asked with.
cooldowns = Table(
    "cooldowns",
    metadata,
    words("model", primary_key=True),
    words("mark"),
    words("cause"),
    number("since"),
    maybe_number("until"),
    number("count"),
    words("reason"),
    maybe_number("probe_until"),
)

audit = Table(
    "audit",
    metadata,
    Column("entry", Serial, primary_key=True, autoincrement=True),
    maybe_number("number"),
    number("at"),
    words("kind"),
    words("actor"),
    words("subject"),
    words("detail"),
    words("previous"),
    words("hash"),
    # Keeps what was taken out of a row from being guessed by its hash; it goes with it.
    words("salt", server_default=""),
    UniqueConstraint("number"),
    partial("ix_audit_unsealed", "entry", where="number IS NULL"),
)

people = Table(
    "people",
    metadata,
    words("id", primary_key=True),
    words("name"),
    number("role"),
    maybe_words("link_hash"),
    number("added_at"),
    UniqueConstraint("link_hash"),
    UniqueConstraint("name"),
)

# `room`: where this account of theirs writes to the agent alone, if it ever did.
identities = Table(
    "identities",
    metadata,
    words("identity", primary_key=True),
    words("person_id"),
    maybe_words("room"),
    Index("ix_identities_person", "person_id"),
)

# Identities of channels whose platform gives none (the web page): made once, kept for good.
accounts = Table(
    "accounts",
    metadata,
    words("channel"),
    words("name"),
    words("identity"),
    PrimaryKeyConstraint("channel", "name"),
)

# Threads that the agent was made part of by a mention: what follows there needs none.
participation = Table(
    "participation",
    metadata,
    words("address", primary_key=True),
    number("joined_at"),
)

# A code that an unknown person was sent, for the owner to enter: one each, its hash alone.
pairings = Table(
    "pairings",
    metadata,
    words("identity", primary_key=True),
    words("name"),
    words("address"),
    words("code_hash"),
    number("created_at"),
    number("expires_at"),
    Index("ix_pairings_expires", "expires_at"),
)

# Wrong codes, by who entered them.
pairing_tries = Table(
    "pairing_tries",
    metadata,
    words("actor", primary_key=True),
    number("tries"),
    number("since"),
)

# What a platform told us to wait for: a room, or with no room the whole account. Kept over restarts, thrown out when over.
pauses = Table(
    "pauses",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    number("until"),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# Rooms to which their platform gave another id. Rows keep the first one; `moved_to` is the newest.
aliases = Table(
    "aliases",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    words("moved_to"),
    number("at"),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# What platforms call their rooms, as they last told it. `seen_at` is right to a day, here and with the forms of tools.
rooms = Table(
    "rooms",
    metadata,
    words("channel"),
    words("account"),
    words("room"),
    words("name"),
    number("seen_at", server_default="0"),
    PrimaryKeyConstraint("channel", "account", "room"),
)

# Private chats in which cards were counted: whoever counts them holds the row until the new card is there. `told`: of how
# many further questions the line there tells.
chats = Table("chats", metadata, words("room"), number("told"), PrimaryKeyConstraint("room"))

# What is to be done by the clock. `due_at` is when it fires: the planned instant, and its jitter; null where none is left.
schedules = Table(
    "schedules",
    metadata,
    time_id("id", primary_key=True),
    words("name"),
    words("rule"),
    words("rule_text"),
    words("task"),
    words("home"),
    words("addresses"),
    words("terms"),
    words("state"),
    words("reason"),
    maybe_words("owner"),
    words("actor"),
    words("agent"),
    number("by_file"),
    number("failures"),
    number("created_at"),
    number("anchor_at"),
    maybe_number("starts_at"),
    maybe_number("ends_at"),
    maybe_number("next_at"),
    maybe_number("due_at"),
    partial("ix_schedules_due", "due_at", where="state = 'active'"),
    partial("uq_schedules_name", "home", "name", where="state IN ('active', 'paused')", unique=True),
    partial("ix_schedules_owner", "owner", where="state IN ('active', 'paused')"),
)

# One planned instant each, whatever the number of nodes that see it come. A report that a person asked for is one too, and
# its own schedule: `report` (JSON) says what is made, `home` where.
occurrences = Table(
    "occurrences",
    metadata,
    time_id("id", primary_key=True),
    words("schedule"),
    number("planned_at"),
    words("state"),
    number("manual"),
    number("silent"),
    words("reason"),
    number("attempts"),
    maybe_words("run_id"),
    maybe_number("not_before"),
    maybe_number("started_at"),
    maybe_number("ended_at"),
    words("result"),
    number("wanted"),
    number("created_at"),
    words("seen"),
    words("report", server_default=""),
    words("home", server_default=""),
    UniqueConstraint("schedule", "planned_at"),
    partial("ix_occurrences_again", "not_before", where="state = 'planned'"),
    partial("ix_occurrences_started", "schedule", where="state = 'started'"),
    partial("ix_occurrences_run", "run_id", where="run_id IS NOT NULL"),
    partial("ix_occurrences_told", "schedule", "planned_at", where="state = 'done' AND silent = 0"),
    partial("ix_occurrences_done", "schedule", "planned_at", where="state = 'done'"),
)

# Where a person or a room reads clocks. `subject` is a person's id or an address.
zones = Table(
    "zones",
    metadata,
    words("subject", primary_key=True),
    words("zone"),
)

# Tools whose words are not ours, each in the form (JSON) that was accepted, and in the last one that operators know of.
tool_forms = Table(
    "tool_forms",
    metadata,
    words("tool", primary_key=True),
    words("accepted"),
    words("seen"),
    number("seen_at", server_default="0"),
)

# Agents of this database beside the settings: made in chat (then with a manifest, as JSON), or held back by an operator.
# One of the settings that was never suspended has no row.
agents = Table(
    "agents",
    metadata,
    words("name", primary_key=True),
    words("state"),
    words("manifest"),
    maybe_words("made_by"),
    words("reason"),
    number("created_at"),
    number("changed_at"),
)

# Which agent a person chose for a room or a thread, by `/agent` or by naming it there.
agent_rooms = Table(
    "agent_rooms",
    metadata,
    words("address", primary_key=True),
    words("agent"),
    maybe_words("set_by"),
    number("set_at"),
)

# Runs that another run asked for, each by the call that did: its id is that of its signal and of its run. `chain` (JSON) are
# the agents above it, the first one first. `awaits`: the parent waits for its end; else that is told in the parent's room.
children = Table(
    "children",
    metadata,
    time_id("id", primary_key=True),
    time_id("parent_run"),
    number("parent_step"),
    number("ordinal"),
    words("parent_session"),
    words("root_run"),
    words("session"),
    words("agent"),
    words("chain"),
    number("depth"),
    number("awaits"),
    words("goal"),
    words("criteria"),
    words("wanted"),
    words("files"),
    words("state"),
    words("result"),
    number("valid"),
    number("budget_micros"),
    number("deadline_at"),
    number("created_at"),
    maybe_number("ended_at"),
    UniqueConstraint("parent_run", "parent_step", "ordinal"),
    Index("ix_children_root", "root_run"),
    partial("ix_children_open", "deadline_at", where="state = 'open'"),
)

# Work that somebody posted for an agent. `attempts` counts the runs that claimed it.
tasks = Table(
    "tasks",
    metadata,
    time_id("id", primary_key=True),
    words("agent"),
    words("room"),
    words("title"),
    words("goal"),
    words("input"),
    words("criteria"),
    words("state"),
    maybe_words("posted_by"),
    maybe_words("owner"),
    maybe_words("run_id"),
    number("attempts"),
    maybe_number("due_at"),
    words("result"),
    number("created_at"),
    maybe_number("ended_at"),
    words("chain", server_default=""),
    Index("ix_tasks_room", "room", "created_at"),
    partial("ix_tasks_open", "created_at", where="state IN ('open', 'claimed')"),
    partial("ix_tasks_run", "run_id", where="run_id IS NOT NULL"),
)

# The checklist that a run shows and keeps up to date: steps as JSON, and the delivery that shows it.
plans = Table(
    "plans",
    metadata,
    time_id("run_id", primary_key=True),
    words("steps"),
    words("delivery_id"),
    number("changed_at"),
)

BINARY_COLUMNS: Final = {
    table.name: names
    for table in metadata.sorted_tables
    if (names := tuple(column.name for column in table.columns if isinstance(column.type, LargeBinary)))
}
"""Columns of bytes, by table; all others are texts and whole numbers."""

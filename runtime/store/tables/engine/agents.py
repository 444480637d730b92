"""Tables of agents, of work that they hand on or are posted, and of tools' accepted forms."""

from __future__ import annotations

from sqlalchemy import Index, Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, maybe_words, metadata, number, partial, time_id, words

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

"""Tables of programs that speak through the API, places that are told of their tasks, and tasks of ours at peers."""

from __future__ import annotations

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from runtime.store.tables.columns import maybe_number, metadata, number, words

# One token a program; a new one takes the place of one that was revoked. The token itself is nowhere: only its hash.
tokens = Table(
    "tokens",
    metadata,
    words("name", primary_key=True),
    words("hash"),
    number("role"),
    words("agents"),
    words("rooms"),
    number("per_minute"),
    maybe_number("until"),
    words("made_by"),
    number("made_at"),
    maybe_number("used_at"),
    maybe_number("revoked_at"),
    UniqueConstraint("hash"),
)

# A row until its task is over and its place was told so. `task` is the id of the program's message, `sealed` the address with
# its credentials, which only the key of the nodes opens. `told` counts the stages of the task that were taken there, `tries`
# the failures since then; nothing is sent before `due_at`.
pushes = Table(
    "pushes",
    metadata,
    words("task"),
    words("name"),
    words("program"),
    words("dialect"),
    words("sealed"),
    number("told"),
    number("tries"),
    number("due_at"),
    number("made_at"),
    words("fault"),
    PrimaryKeyConstraint("task", "name"),
)

# A row for each call that gave a peer a task, by the run and the call. `sealed` is the question for whose answer the peer waits,
# empty while it does not; `asks` counts those.
peer_tasks = Table(
    "peer_tasks",
    metadata,
    words("key", primary_key=True),
    words("run_id"),
    words("peer"),
    words("task"),
    words("context"),
    words("sealed"),
    number("asks"),
    number("kept_at"),
    Index("ix_peer_tasks_run", "run_id"),
)

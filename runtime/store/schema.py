"""Every table, once, for both engines. Migrations are compared with this file by a test.

Times are integer microseconds UTC, booleans 0 or 1, JSON is text. A state column holds the word of its StrEnum. The
predicates of partial indexes are literals, and statements that want to use them repeat them as literals: PostgreSQL
cannot prove that a bound parameter matches (measured: 20 ms a claim at 10^5 rows instead of 0.1).
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import LargeBinary

from runtime.store.tables.audit import audit as audit
from runtime.store.tables.columns import metadata as metadata
from runtime.store.tables.engine.agents import agent_rooms as agent_rooms
from runtime.store.tables.engine.agents import agents as agents
from runtime.store.tables.engine.agents import children as children
from runtime.store.tables.engine.agents import tasks as tasks
from runtime.store.tables.engine.agents import tool_forms as tool_forms
from runtime.store.tables.engine.approvals import absences as absences
from runtime.store.tables.engine.approvals import approvals as approvals
from runtime.store.tables.engine.approvals import asked_back as asked_back
from runtime.store.tables.engine.approvals import grants as grants
from runtime.store.tables.engine.approvals import modes as modes
from runtime.store.tables.engine.approvals import undos as undos
from runtime.store.tables.engine.approvals import votes as votes
from runtime.store.tables.engine.deliveries import aliases as aliases
from runtime.store.tables.engine.deliveries import chats as chats
from runtime.store.tables.engine.deliveries import deliveries as deliveries
from runtime.store.tables.engine.deliveries import moves as moves
from runtime.store.tables.engine.deliveries import parts as parts
from runtime.store.tables.engine.deliveries import pauses as pauses
from runtime.store.tables.engine.deliveries import rooms as rooms
from runtime.store.tables.engine.nodes import nodes as nodes
from runtime.store.tables.engine.nodes import pings as pings
from runtime.store.tables.engine.nodes import roles as roles
from runtime.store.tables.engine.runs import plans as plans
from runtime.store.tables.engine.runs import runs as runs
from runtime.store.tables.engine.runs import steps as steps
from runtime.store.tables.engine.runs import summaries as summaries
from runtime.store.tables.engine.runs import turns as turns
from runtime.store.tables.engine.runs import waits as waits
from runtime.store.tables.engine.schedules import occurrences as occurrences
from runtime.store.tables.engine.schedules import schedules as schedules
from runtime.store.tables.engine.signals import participation as participation
from runtime.store.tables.engine.signals import sessions as sessions
from runtime.store.tables.engine.signals import signals as signals
from runtime.store.tables.engine.usage import budgets as budgets
from runtime.store.tables.engine.usage import cooldowns as cooldowns
from runtime.store.tables.engine.usage import reservations as reservations
from runtime.store.tables.engine.usage import usage as usage
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
from runtime.store.tables.people import accounts as accounts
from runtime.store.tables.people import browser_sessions as browser_sessions
from runtime.store.tables.people import identities as identities
from runtime.store.tables.people import invitations as invitations
from runtime.store.tables.people import pairing_tries as pairing_tries
from runtime.store.tables.people import pairings as pairings
from runtime.store.tables.people import people as people
from runtime.store.tables.people import zones as zones
from runtime.store.tables.processes import processes as processes
from runtime.store.tables.programs import peer_tasks as peer_tasks
from runtime.store.tables.programs import pushes as pushes
from runtime.store.tables.programs import tokens as tokens
from runtime.store.tables.room_marks import deleted_rooms as deleted_rooms
from runtime.store.tables.room_marks import room_marks as room_marks
from runtime.store.tables.skills import skill_locks as skill_locks
from runtime.store.tables.triggers import trigger_fires as trigger_fires
from runtime.store.tables.triggers import triggers as triggers
from runtime.store.tables.web_push import push_marks as push_marks
from runtime.store.tables.web_push import push_subscriptions as push_subscriptions

REVISION: Final = "0054"
"""The newest migration. Known here so that a start on a current database need not load Alembic."""

CONTRACTS: Final[tuple[str, ...]] = ()
"""Migrations with a `contract`: what it takes away is needed by programs that don't know the migration."""

BINARY_COLUMNS: Final = {
    table.name: names
    for table in metadata.sorted_tables
    if (names := tuple(column.name for column in table.columns if isinstance(column.type, LargeBinary)))
}
"""Columns of bytes, by table; all others are texts and whole numbers."""

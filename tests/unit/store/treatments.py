"""Treatment of each table: how long its rows are kept, and what a restore makes of them.

A backup holds every table, whole. A new table gets a row here; a test compares the rows with what the walks of retention
and the transaction after a restore do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Restored(StrEnum):
    """Treatment of a table's rows when a backup is restored."""

    AS_THEY_WERE = "as they were"
    MENDED = "mended"  # what was open is in doubt, asked again or free; fences are new ones; what spares questions ends
    EMPTIED = "emptied"


@dataclass(frozen=True, slots=True)
class Treatment:
    """`kept` are the settings of `[retention]` by which rows go; without one, `until` tells when they do."""

    kept: tuple[str, ...] = ()
    until: str = ""
    restored: Restored = Restored.AS_THEY_WERE


FOR_GOOD: Final = "for good"
REMOVED: Final = "their person is removed"
OVER: Final = "their time is over"

TREATMENTS: Final[Mapping[str, Treatment]] = {
    "signals": Treatment(("messages_days", "tombstones_days")),
    "sessions": Treatment(("runs_days",), restored=Restored.MENDED),  # those of children; one a room is small
    "runs": Treatment(("runs_days",)),
    "steps": Treatment(("runs_days",), restored=Restored.MENDED),
    "waits": Treatment(("runs_days",), restored=Restored.MENDED),
    "turns": Treatment(("transcripts_days", "runs_days")),
    "summaries": Treatment(("transcripts_days", "runs_days")),
    "approvals": Treatment(("approvals_days",), restored=Restored.MENDED),
    "votes": Treatment(("approvals_days",)),
    "undos": Treatment(("approvals_days",), restored=Restored.MENDED),
    "asked_back": Treatment(("approvals_days",)),
    "grants": Treatment(until=OVER, restored=Restored.MENDED),
    "modes": Treatment(until=OVER, restored=Restored.MENDED),
    "absences": Treatment(until=f"{OVER}, or {REMOVED}"),
    "deliveries": Treatment(("messages_days",), restored=Restored.MENDED),
    "parts": Treatment(("messages_days",), restored=Restored.MENDED),
    "moves": Treatment(("runs_days",)),
    "nodes": Treatment(("nodes_days",), restored=Restored.MENDED),
    "roles": Treatment(until=FOR_GOOD, restored=Restored.MENDED),
    "pings": Treatment(until="their node is gone", restored=Restored.EMPTIED),
    "cooldowns": Treatment(until="their model answers", restored=Restored.EMPTIED),
    "usage": Treatment(("usage_days",)),
    "budgets": Treatment(until="a start after their time is over, or their person is removed"),
    "reservations": Treatment(until="their call is recorded, or their run ends"),
    "audit": Treatment(("audit_days",)),
    "audit_signatures": Treatment(until=FOR_GOOD),  # one a process
    "forgettings": Treatment(until=FOR_GOOD, restored=Restored.MENDED),  # a digest each
    "people": Treatment(until=REMOVED),
    "identities": Treatment(until=REMOVED),
    "browser_sessions": Treatment(until="somebody signs out, their link is void, or a year without a visit is over"),
    "accounts": Treatment(until=FOR_GOOD),
    "participation": Treatment(("transcripts_days",)),
    "pairings": Treatment(until=OVER),
    "pairing_tries": Treatment(until="a code was right, or their person is removed"),
    "invitations": Treatment(until=f"{OVER}, and a month more, with the next one", restored=Restored.MENDED),
    "pauses": Treatment(until=OVER),
    "aliases": Treatment(until=FOR_GOOD),
    "room_marks": Treatment(("messages_days",)),
    "deleted_rooms": Treatment(until="their texts are gone, or they are taken back"),
    "rooms": Treatment(("messages_days",)),
    "chats": Treatment(until=FOR_GOOD),
    "schedules": Treatment(("runs_days",)),
    "occurrences": Treatment(("runs_days",)),
    "zones": Treatment(until="their person is removed; those of rooms stay"),
    "agents": Treatment(until="an owner removes them"),
    "agent_rooms": Treatment(until=FOR_GOOD),  # one a room, and small
    "children": Treatment(("runs_days",)),
    "tasks": Treatment(("runs_days",)),
    "plans": Treatment(("runs_days",)),
    "processes": Treatment(("runs_days",)),
    "memories": Treatment(until="people forget them, or their time is over", restored=Restored.MENDED),
    "memory_vectors": Treatment(until="their memory is gone", restored=Restored.MENDED),
    "memory_uses": Treatment(("runs_days",), restored=Restored.MENDED),
    "person_summaries": Treatment(until=REMOVED, restored=Restored.MENDED),
    "state_values": Treatment(until="they are deleted"),
    "forgotten": Treatment(until=FOR_GOOD, restored=Restored.MENDED),  # an id each
    "knowledge_documents": Treatment(until="their pack no longer has them"),
    "knowledge_chunks": Treatment(until="their document is gone"),
    "knowledge_vectors": Treatment(until="their document is gone"),
    "tool_forms": Treatment(("approvals_days",)),
    "triggers": Treatment(until="the settings or their person end them, or their person is removed"),
    "event_cursors": Treatment(until="the settings have their sink no more"),
    "feedback": Treatment(("messages_days",)),
    "trigger_fires": Treatment(until="their trigger fires again a month later, or is gone"),
    "skill_locks": Treatment(until="an owner removes the skill"),
    "tokens": Treatment(until="another takes their place"),
    "logins": Treatment(until="somebody signs out"),
    "peer_tasks": Treatment(until="a month is over, with the next one"),
    "push_subscriptions": Treatment(until="their sign-in ends, or their browser does"),
    "push_marks": Treatment(until="their browser is gone, or a hundred days are over"),
    "pushes": Treatment(until="their task is over and its place was told, or takes nothing"),
}

"""The settings of retention, as the duties that keep to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from bot.settings.settings import Settings
from runtime.audit.anchor import CheckpointFile
from runtime.audit.published import SignedEnds
from runtime.audit.retention import Keep, Retention
from runtime.audit.trimmer import Trimmer
from runtime.contract import PARTIAL, UPLOADS
from runtime.store.protocol import Duty, Stock
from runtime.store.store import Store
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.workspaces import WorkspaceFolders


def retention_of(
    settings: Settings,
    store: Store,
    take: Callable[[str], Awaitable[Duty | None]],
    workspaces: Callable[[], Sequence[WorkspaceFolders]],
) -> Retention:
    leftovers = Leftovers(workspaces, uploads=UPLOADS, partial=PARTIAL)
    return Retention(store=store.retention, leftovers=leftovers, keep=keep_of(settings), take=take, now=store.now)


def keep_of(settings: Settings) -> Keep:
    """Ages from the settings, where 0 means for good."""
    days = settings.retention
    ages = {
        Stock.MESSAGES: days.messages_days,
        # Counted from when a message lost its words: it is known by its key for so much longer.
        Stock.TOMBSTONES: days.messages_days and days.messages_days + days.tombstones_days,
        Stock.EVENTS: days.tombstones_days,
        Stock.DELIVERIES: days.messages_days,
        Stock.RUNS: days.runs_days,
        Stock.OCCURRENCES: days.runs_days,
        Stock.TASKS: days.runs_days,
        Stock.PROCESSES: days.runs_days,
        Stock.SCHEDULES: days.runs_days,
        Stock.APPROVALS: days.approvals_days,
        Stock.MOVES: days.runs_days,
        Stock.USAGE: days.usage_days,
        Stock.NODES: days.nodes_days,
        Stock.TRANSCRIPTS: days.transcripts_days,
        Stock.ROOM_NAMES: days.messages_days,
        Stock.ROOM_MARKS: days.messages_days,
        Stock.TOOL_FORMS: days.approvals_days,
    }
    workspaces = timedelta(days=days.workspaces_days) if days.workspaces_days else None
    return Keep({stock: timedelta(days=age) for stock, age in ages.items() if age}, workspaces)


def trimmer_of(settings: Settings, store: Store) -> Trimmer | None:
    """The trimmer of the audit; None if the audit is kept for good."""
    if not settings.retention.audit_days:
        return None
    keep = timedelta(days=settings.retention.audit_days)
    ends = SignedEnds(settings.data_dir, shared=settings.database_file is None)
    return Trimmer(book=store.audit, file=CheckpointFile(settings.data_dir), keep=keep, now=store.now, ends=ends)

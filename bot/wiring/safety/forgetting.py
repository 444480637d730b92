"""Forgetting a person, as the settings say where everything lies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from bot.settings.settings import Settings
from runtime.audit.keys import AuditKey
from runtime.domain.agents.manifest import MAIN
from runtime.forgetting.forgetter import Forgetter
from runtime.store.protocol import Duty
from runtime.store.store import Store
from runtime.workspace.forgotten_files import ForgottenFiles
from runtime.workspace.workspaces import WorkspaceFolders


def forgetter_of(
    settings: Settings,
    store: Store,
    workspaces: Callable[[], Sequence[WorkspaceFolders]],
    take: Callable[[str], Awaitable[Duty | None]] | None = None,
) -> Forgetter:
    return Forgetter(
        store=store.forgettings,
        files=ForgottenFiles(workspaces, uploads_ledger(settings)),
        key=AuditKey(settings.data_dir),
        now=store.now,
        take=take,
        alone=take is None and settings.database_file is not None,
    )


def uploads_ledger(settings: Settings) -> Path:
    """Folder that keeps how much each person sent."""
    return settings.data_dir / "uploads"


def folders_of(settings: Settings, agents: Sequence[str]) -> Sequence[WorkspaceFolders]:
    """Workspaces of agents, where no process runs."""
    main = WorkspaceFolders(settings.workspace_dir, MAIN, uid=settings.tools.shell.uid)
    return [main.of(name) for name in dict.fromkeys([MAIN, *agents])]

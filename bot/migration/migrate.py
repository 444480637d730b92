"""One migration from beginning to end: read, plan, back up, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.migration.applying import backed_up, cleaned, here, opened_store, seal, write_files, write_rows, write_settings
from bot.migration.formats.table import Format
from bot.migration.found import Found
from bot.migration.home import Home
from bot.migration.plan import Action, Plan
from bot.migration.planning import Here, Wishes, planned
from bot.secrets.chain import Place
from bot.secrets.file import Opened, SealedFile
from bot.settings.settings import Settings

Unlock = Callable[[SealedFile], Opened]
"""Opens the sealed file, or makes it."""
Expect = Callable[[SealedFile], None]
"""Refuses what `Unlock` would, as far as that can be known without asking anybody or making anything."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A migration that is done, or planned. `refused` is what the store wouldn't take, `backup` None where nothing was there."""

    plan: Plan
    found: Found
    folder: Path
    dry_run: bool
    backup: Path | None = None
    refused: list[str] = field(default_factory=list)

    def view(self) -> dict[str, Any]:
        """The report for programs."""
        actions = [step.action for step in self.plan.steps]
        return {
            "program": self.found.program,
            "version": self.found.version,
            "folder": str(self.folder),
            "dry_run": self.dry_run,
            "changed": self.plan.changes_anything,
            "backup": str(self.backup) if self.backup else None,
            "counts": {action.value: actions.count(action) for action in Action},
            "items": self.plan.view(),
            "refused": self.refused,
        }


async def migrate(
    settings: Settings, form: Format, folder: Path, wishes: Wishes, unlock: Unlock, expect: Expect, *, dry_run: bool
) -> Outcome:
    """Take over what `folder` holds; with `dry_run` nothing is written, and the lock of an empty place not taken.

    Errors: ConfigError and others, before anything is written; what a kill leaves half done, the next run completes.
    """
    home = Home.at(folder)
    found = form.read(home, datetime.now(UTC))
    file = _sealed_file(settings)
    sealed = _sealed(settings, file) if wishes.with_secrets else {}
    is_new = settings.database_file is not None and not settings.database_file.exists()
    if is_new:
        plan = planned(home, found, settings, Here(), wishes, sealed)
        if dry_run:
            return Outcome(plan, found, home.root, dry_run)
        if plan.secrets:
            expect(file)  # an empty place stays empty
    async with opened_store(settings) as store:
        cleaned(found, settings)
        plan = planned(home, found, settings, await here(store), wishes, sealed)
        if dry_run or not plan.changes_anything:
            return Outcome(plan, found, home.root, dry_run)
        opened = unlock(file) if plan.secrets else None  # a passphrase is asked for before anything is written
        backup = None if is_new else await backed_up(settings, found.program)
        write_files(plan)
        if opened is not None:
            seal(plan, file, opened)
        refused = await write_rows(plan, store, settings, accept=wishes.accept_memory)
        write_settings(plan)
    return Outcome(plan, found, home.root, dry_run, backup, refused)


def _sealed_file(settings: Settings) -> SealedFile:
    members = {member.place: member.file for member in settings.chain.members}
    return members.get(Place.NAMED) or members[Place.DATA]


def _sealed(settings: Settings, file: SealedFile) -> Mapping[str, str]:
    """Secrets that are sealed here. Errors: SecretsError."""
    if not file.exists():
        return {}
    return {name: entry.value for name, entry in file.open(settings.chain.keyring).entries.items()}

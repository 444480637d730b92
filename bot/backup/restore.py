"""Restoring a backup into an empty place, or beside what is kept aside."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from bot.backup.archive import Archive, opened
from bot.backup.errors import BackupFailed
from bot.backup.folders import read_folders
from bot.backup.forgotten import Forgotten, forgotten_since
from bot.backup.make import AUDIT, CHECKPOINT, GUARD, GUARD_FILES, HEAD, KEY, SECRETS, sealed_file
from bot.backup.manifest import Manifest
from bot.backup.place import RestoreTargets, fresh, refuse_unless
from bot.backup.rows import BackedUpRows
from bot.node.lock import holding
from bot.node.login import command_line
from bot.settings.settings import Settings
from bot.wiring.agents import manifests_of
from bot.wiring.safety.forgetting import folders_of, forgetter_of
from runtime.domain.agents.manifest import MAIN
from runtime.domain.ids import new_id
from runtime.errors import ConfigError, StoreError
from runtime.store.load import is_empty, load_postgres, load_sqlite, was_restored
from runtime.store.operations.after_restore import Aftermath, Origin, after_restore
from runtime.store.snapshot import IN_MEMORY
from runtime.store.sql.driver import Op
from runtime.store.store import open_store
from runtime.store.upgrade import check_revision
from runtime.workspace.workspaces import WorkspaceFolders

FILES: Final = (HEAD, KEY, CHECKPOINT)


@dataclass(frozen=True, slots=True)
class Restored:
    """`kept` is what was there before, under its new names. `aftermath` is None when a cut restore was ended. `unread` are
    databases that know what was forgotten since, and can't be read."""

    manifest: Manifest
    files: int
    kept: Sequence[Path]
    aftermath: Aftermath | None
    unread: Sequence[Path] = ()


async def restore(settings: Settings, path: Path, *, force: bool = False) -> Restored:
    """Make the place of `settings` what it was when the backup was taken, and put in doubt what may have come since.

    Errors: BadBackup before anything is touched; ConfigError when a process runs there, or data is there and not
    `force`; StoreError, BackupFailed: then what was there before is as it was.
    """
    if not settings.database_file and settings.database_url.startswith("sqlite"):
        raise ConfigError(f"database_url: {IN_MEMORY}")
    with opened(path) as archive, holding(settings.data_dir, restoring=True):
        _check(archive)
        try:
            return await _restore(settings, archive, path, force=force)
        except OSError as error:
            raise _failed(error) from error


def _check(archive: Archive) -> None:
    """All that can be known before anything is touched."""
    try:
        check_revision(archive.manifest.revision)
    except StoreError:
        raise archive.bad(
            f"it is from a newer version (signalbox {archive.manifest.program}, database revision "
            f"{archive.manifest.revision}). Install that version, then restore."
        ) from None
    archive.check()


async def _restore(settings: Settings, archive: Archive, path: Path, *, force: bool) -> Restored:
    places = _places(settings, archive)
    cut = places.unfinished()
    refuse_unless(force or cut is not None, places.in_use())
    done_before = cut == archive.manifest.id and await _is_loaded(settings, archive)
    if not (settings.database_file or done_before or await is_empty(settings.database_url)):
        raise ConfigError("database_url: this database already has Signalbox tables. Make an empty one and name that.")
    forgotten = forgotten_since(archive, path, settings.database_file)
    with places.prepared(archive.manifest.id):
        files = read_folders(archive, fresh(places.workspaces), _admit(settings))
        _read_files(settings, archive)
        aftermath = None if done_before else await _load(settings, archive, forgotten)
    kept = places.switch(datetime.now(UTC))
    if aftermath and aftermath.people:
        await _forget(settings)
    return Restored(archive.manifest, files, kept, aftermath, forgotten.unread)


def _places(settings: Settings, archive: Archive) -> RestoreTargets:
    others = [settings.data_dir / name for name in FILES]
    # One of a version before the leak guard has no key of it: the one that is there stays.
    maybe = {SECRETS: sealed_file(settings)} | {GUARD + name: settings.data_dir / name for name in GUARD_FILES}
    others += [target for name, target in maybe.items() if name in archive.manifest.members]
    return RestoreTargets(
        data_dir=settings.data_dir, database=settings.database_file, workspaces=settings.workspace_dir, others=others
    )


async def _is_loaded(settings: Settings, archive: Archive) -> bool:
    """True if a restore that was cut off came as far as a server's database, which was one transaction."""
    return settings.database_file is None and await was_restored(settings.database_url, archive.manifest.id)


async def _forget(settings: Settings) -> None:
    """Go on with people who were forgotten since, before anything else works here. Cut off, the next start does it."""
    store = await open_store(settings.database_url)
    try:
        forgetter = forgetter_of(settings, store, lambda: folders_of(settings, [*manifests_of(settings)]))
        await forgetter.rest()
    finally:
        await store.close()


async def _load(settings: Settings, archive: Archive, forgotten: Forgotten) -> Aftermath:
    about = archive.manifest
    finish = partial(_finish, Origin(about.id, about.taken_at, about.program), forgotten)
    if settings.database_file:
        return load_sqlite(fresh(settings.database_file), BackedUpRows(archive), finish)
    return await load_postgres(settings.database_url, BackedUpRows(archive), finish)


def _finish(origin: Origin, forgotten: Forgotten, now: datetime) -> Op[Aftermath]:
    return after_restore(origin, command_line(), now, new_id, forgotten.ids, forgotten.people)


def _admit(settings: Settings) -> Callable[[Path], None]:
    return WorkspaceFolders(settings.workspace_dir, MAIN, uid=settings.tools.shell.uid).admit_path


def _read_files(settings: Settings, archive: Archive) -> None:
    targets = {AUDIT + name: settings.data_dir / name for name in FILES} | {SECRETS: sealed_file(settings)}
    targets |= {GUARD + name: settings.data_dir / name for name in GUARD_FILES}
    for name, target in targets.items():
        if name in archive.manifest.members:
            _write_private(fresh(target), archive.read(name))


def _write_private(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _failed(error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return BackupFailed(
            f"The restore doesn't fit on the disk: {error.strerror}. The old data is unchanged. Free up space."
        )
    return BackupFailed(f"The restore failed: {error.filename or 'a file'}: {error.strerror or error}.")

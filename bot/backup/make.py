"""Making a backup, beside the running process or without one.

The command reads for itself: the snapshot of the database holds nobody up, and whatever becomes of this process, the
one that works does not notice.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from bot.backup.archive import Writer, opened
from bot.backup.errors import BackupFailed
from bot.backup.folders import write_folders
from bot.backup.manifest import Manifest
from bot.backup.rows import write_tables
from bot.node.lock import control_of
from bot.node.version import VERSION
from bot.operator.client import connected
from bot.secrets.chain import SEALED
from bot.settings.settings import Settings
from bot.wiring.safety.guard import KEY_FILE
from bot.wiring.safety.kept import KEPT_FILE
from runtime.domain.ids import new_id
from runtime.errors import BotError, ConfigError
from runtime.store.snapshot import SQLITE, snapshot
from runtime.store.sql.files import SUFFIXES
from runtime.workspace.safe_fs import NO_LINK

AUDIT: Final = "audit/"
SETTINGS: Final = "settings.json"
SECRETS: Final = "secrets/sealed"
GUARD: Final = "guard/"
GUARD_FILES: Final = (KEY_FILE, KEPT_FILE)
KEY, HEAD, CHECKPOINT = "audit.key", "audit.head", "audit.checkpoint"


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was read back and agrees with its manifest. `size` is in bytes."""

    path: Path
    manifest: Manifest
    size: int


async def make(settings: Settings, path: Path, *, force: bool = False, with_secrets: bool = False) -> Made:
    """Back everything up into `path`, which is there whole or not at all.

    Errors: ConfigError when `path` cannot be the place; StoreError from the database; BackupFailed when it cannot be
    written.
    """
    with _placed(path, force=force) as file:
        async with _source(settings) as url:
            manifest = await _write(settings, url, file, with_secrets=with_secrets)
    return _made(path, manifest)


@asynccontextmanager
async def _source(settings: Settings) -> AsyncIterator[str]:
    """The database to read: where the files of one are gone, a copy of what the running process still has open."""
    saved = await _saved(settings) if settings.database_file else None
    if saved is None:
        yield settings.database_url
        return
    try:
        yield f"{SQLITE}{saved}"
    finally:
        for suffix in SUFFIXES:
            saved.with_name(f"{saved.name}{suffix}").unlink(missing_ok=True)


async def _saved(settings: Settings) -> Path | None:
    control = control_of(settings.data_dir)
    if control is None:
        return None
    try:
        async with connected(control) as client:
            saved = (await client.save())["file"]
    except BotError:  # it hangs, or is an older one: then the files are all there is
        return None
    return Path(saved) if saved else None


def check(path: Path) -> Made:
    """Read all of a backup, and compare it with its manifest. Errors: BadBackup."""
    with opened(path) as archive:
        archive.check()
        return _made(path, archive.manifest)


def _made(path: Path, manifest: Manifest) -> Made:
    return Made(path, manifest, path.stat().st_size)


async def _write(settings: Settings, url: str, file: IO[bytes], *, with_secrets: bool) -> Manifest:
    writer = Writer(file)
    try:
        return await _write_all(settings, url, writer, with_secrets=with_secrets)
    except BaseException:
        writer.abandon()
        raise


async def _write_all(settings: Settings, url: str, writer: Writer, *, with_secrets: bool) -> Manifest:
    # The head first and the checkpoint last: between them the database has every row that the one tells of, and misses
    # none but those that the other stands for.
    _write_file(writer, AUDIT + HEAD, settings.data_dir / HEAD)
    async with snapshot(url) as taken:
        tables = await write_tables(taken, writer)
    _write_file(writer, AUDIT + KEY, settings.data_dir / KEY)
    _write_file(writer, AUDIT + CHECKPOINT, settings.data_dir / CHECKPOINT)
    _write_file(writer, GUARD + KEY_FILE, settings.data_dir / KEY_FILE)
    left_out = write_folders(settings.workspace_dir, writer)
    with writer.member(SETTINGS) as write:
        write(json.dumps(settings.shown(), indent=1).encode())
    if with_secrets:
        _write_file(writer, SECRETS, sealed_file(settings))
        _write_file(writer, GUARD + KEPT_FILE, settings.data_dir / KEPT_FILE)
    manifest = Manifest(
        id=new_id(),
        taken_at=taken.taken_at,
        program=VERSION,
        revision=taken.revision,
        engine="sqlite" if settings.database_file else "postgresql",
        tables=tables,
        members=writer.members,
        left_out=left_out,
    )
    writer.close(manifest)
    return manifest


def sealed_file(settings: Settings) -> Path:
    return settings.secrets.file or settings.data_dir / SEALED


def _write_file(writer: Writer, member: str, path: Path) -> None:
    """A small file, if it is there."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise BackupFailed(f"{path} cannot be read: {error.strerror}. Nothing was written.") from error
    with writer.member(member) as write:
        write(data)


# ------------------------------------------------------------------------------------------------------------ the place


@contextmanager
def _placed(path: Path, *, force: bool) -> Iterator[IO[bytes]]:
    """A file that takes its place under `path` at the end of the block, flushed; without an end nothing is there."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder: name a file for the backup.")
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists. Name another file, or replace it with --force.")
    partial = path.with_name(f"{path.name}.partial")
    try:
        with _alone(partial) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _check(partial)
            _take_place(partial, path, force=force)
    except BaseException as error:
        if not isinstance(error, _Busy):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _failed(error, path) from error
        raise


class _Busy(ConfigError):
    """Another backup writes the same file."""


@contextmanager
def _alone(partial: Path) -> Iterator[IO[bytes]]:
    """The file, for this user's eyes only. One that a kill left behind is written anew."""
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Busy(f"Another backup is being written to {partial}. Wait for it, or name another file.") from None
        os.fchmod(descriptor, 0o600)
        file.truncate()
        yield file


def _check(partial: Path) -> None:
    """Read back what was written, before it gets its name."""
    with opened(partial) as archive:
        archive.check()


def _take_place(partial: Path, path: Path, *, force: bool) -> None:
    if force:
        partial.replace(path)
    else:
        try:
            path.hardlink_to(partial)  # which, unlike a rename, never replaces what came there meanwhile
        except FileExistsError:
            raise ConfigError(f"{path} appeared in the meantime. Name another file, or use --force.") from None
        partial.unlink()
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(error: OSError, path: Path) -> Exception:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return ConfigError(f"There is no folder {path.parent}. Make it, or name another file.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return ConfigError(f"{path} cannot be written ({error.strerror}): name another file.")
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return BackupFailed(
                f"The backup doesn't fit on the disk: {error.strerror}. Nothing was left at {path}. Free up space there."
            )
        case _:
            return BackupFailed(f"The backup could not be written to {path}: {error.strerror or error}.")

"""Files, for our eyes only unless said otherwise, replaced whole: whatever is killed, the old one or the new one is there."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runtime.errors import StoreError

PRIVATE: Final = 0o600


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def replace(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write `path` at once and for good: a file beside it, flushed, then renamed over it, and the folder flushed.

    Run as root it belongs to whoever owned it, or owns the folder: the service that reads it is seldom root. Two
    writers at once must hold `alone_in`.
    """
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)  # a kill left it behind
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)  # whatever the umask says
            if os.geteuid() == 0:
                os.fchown(file.fileno(), *_owner(path))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Nobody else who asks for this is inside the block with us."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Errors: StoreError for each OSError inside, about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(
            f"{path} can't be read or written: {reason}. It must be a file of the user that runs Signalbox."
        ) from error


def _owner(path: Path) -> tuple[int, int]:
    found = path.stat() if path.exists() else path.parent.stat()
    return found.st_uid, found.st_gid


def flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

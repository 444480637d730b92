"""One process a data folder, and how others find it: `lock` (held, with the pid in it) and `control.json`.

The kernel frees the lock when its holder dies, however it dies, so a file that was left behind means nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.node.private_files import close_to_others
from runtime.errors import ConfigError, StoreError

LOCK: Final = "lock"
CONTROL: Final = "control.json"
UNFINISHED: Final = "restore.unfinished"  # there while a restore is under way
_PATIENCE: Final = (0.02, 0.05, 0.1)  # seconds; `holder` takes a shared lock for the blink of an eye


class AlreadyRunning(ConfigError):
    """Another process holds the data folder. `pid` is None in the moment before it wrote its number."""

    def __init__(self, data_dir: Path, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"data_dir: {data_dir} is in use by {who}. If it's just starting or ending, wait a moment. Else stop it, or set "
            "another data_dir for this one."
        )
        self.pid = pid


@dataclass(frozen=True, slots=True)
class Control:
    """Address of the running process, the token with which this machine's user commands it, and the flags of its start."""

    url: str
    token: str
    pid: int
    flags: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Control(url={self.url!r}, pid={self.pid})"


@contextmanager
def holding(data_dir: Path, *, restoring: bool = False) -> Iterator[None]:
    """Own the data folder inside this block; it is made when it is not there. Only a restore may own a half of one.

    Errors: AlreadyRunning names the owner; ConfigError when a restore was cut off here; StoreError when the folder
    cannot be made or written.
    """
    descriptor = _open(data_dir)
    try:
        _lock(descriptor, data_dir)
        if not restoring:
            _refuse_half(data_dir / UNFINISHED)
        _sign(descriptor, data_dir)
        close_to_others(data_dir)
        yield
    finally:
        os.close(descriptor)


def holder(data_dir: Path) -> int | None:
    """The pid of the process that owns the data folder; 0 when it has not said; None when nobody does."""
    try:
        descriptor = os.open(data_dir / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(descriptor) or 0
    else:
        return None
    finally:
        os.close(descriptor)


@contextmanager
def announced(data_dir: Path, control: Control) -> Iterator[None]:
    """`control.json` is there inside this block, for this user's eyes only. Call it while holding the folder."""
    _announce(data_dir, control)
    try:
        yield
    finally:
        (data_dir / CONTROL).unlink(missing_ok=True)


def announce_again(data_dir: Path, control: Control) -> None:
    """Make a folder, where ours went away under us, in which `doctor` and `backup` find us. Errors: OSError, StoreError."""
    if (data_dir / CONTROL).exists():
        return
    descriptor = _open(data_dir)
    if _try_lock(descriptor):
        _sign(descriptor, data_dir)  # and it stays ours until we end
    else:
        os.close(descriptor)  # the folder is the old one, and we own it
    _announce(data_dir, control)


def _announce(data_dir: Path, control: Control) -> None:
    fresh = data_dir / f"{CONTROL}.new"
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        told = {"url": control.url, "token": control.token, "pid": control.pid}
        json.dump(told | ({"flags": dict(control.flags)} if control.flags else {}), file)
    fresh.replace(data_dir / CONTROL)


def control_of(data_dir: Path) -> Control | None:
    """Address and token of the process that owns the data folder; None if none runs or it is not ready yet."""
    pid = holder(data_dir)
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads((data_dir / CONTROL).read_text(encoding="utf-8"))
        url, token, number = str(told["url"]), str(told["token"]), int(told["pid"])
        flags = told.get("flags")
        control = Control(url, token, number, flags if isinstance(flags, dict) else {})
        return control if control.pid == pid else None
    return None


def _open(data_dir: Path) -> int:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(data_dir / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"data_dir: {data_dir} cannot be written: {error.strerror}. Make it writable, or set another data_dir."
        ) from error


def _lock(descriptor: int, data_dir: Path) -> None:
    for wait in _PATIENCE:
        if _try_lock(descriptor):
            return
        time.sleep(wait)
    if not _try_lock(descriptor):
        raise AlreadyRunning(data_dir, _pid(descriptor))


def _refuse_half(marker: Path) -> None:
    if marker.exists():
        raise ConfigError(
            f"data_dir: a restore into {marker.parent} was cut off. Run it again: signalbox restore FILE. To go on with "
            f"what is there instead, remove {marker}."
        )


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sign(descriptor: int, data_dir: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise StoreError(f"data_dir: {data_dir / LOCK} cannot be written: {error.strerror}.") from error


def _pid(descriptor: int) -> int | None:
    with suppress(ValueError):
        return int(os.pread(descriptor, 32, 0))
    return None

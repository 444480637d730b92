"""Records of a service in its data folder: of its installation, and of the process that was started last."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.service.marks import ProcessMark, mark_in
from runtime.errors import BotError, StoreError

INSTALLED: Final = "service.json"
PROCESS: Final = "service.pid"
TURN: Final = "service.lock"
TURN_SECONDS: Final = 120.0
TURN_LOOK_SECONDS: Final = 0.1
SYSTEMD: Final = "systemd"
DETACHED: Final = "detached"
SERVICE_KINDS: Final = (SYSTEMD, DETACHED)


@dataclass(frozen=True, slots=True)
class Installed:
    """A service: run by which `kind`, under which name, by which words of the command line, and in which folder."""

    kind: str
    name: str
    arguments: Sequence[str]
    folder: str
    log: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """A process that was started, the folder of its data, and how long it takes at most to stop."""

    mark: ProcessMark
    log: str
    shutdown_seconds: float


def installed_in(data_dir: Path) -> Installed | None:
    """The service of a data folder; None where there is none, or what stands there is none."""
    match _read(data_dir / INSTALLED):
        case {"kind": str(kind), "name": str(name), "arguments": list(words), "folder": str(folder), "log": str(log)}:
            return Installed(kind, name, [str(word) for word in words], folder, log) if kind in SERVICE_KINDS else None
        case _:
            return None


def keep_installed(data_dir: Path, one: Installed) -> None:
    told = {"kind": one.kind, "name": one.name, "arguments": list(one.arguments), "folder": one.folder, "log": one.log}
    _write(data_dir / INSTALLED, told)


def started_in(data_dir: Path) -> Started | None:
    """The process that was started last, there or not; None where nothing tells of one that could be."""
    told = _read(data_dir / PROCESS)
    mark = mark_in(told)
    if mark is None or not isinstance(told, dict):
        return None
    seconds = told.get("shutdown_seconds")
    return Started(mark, str(told.get("log", "")), float(seconds) if isinstance(seconds, int | float) else 0.0)


def keep_started(data_dir: Path, one: Started) -> None:
    _write(data_dir / PROCESS, {**one.mark.as_json(), "log": one.log, "shutdown_seconds": one.shutdown_seconds})


def forget_started(data_dir: Path) -> None:
    (data_dir / PROCESS).unlink(missing_ok=True)


def forget_installed(data_dir: Path) -> None:
    (data_dir / INSTALLED).unlink(missing_ok=True)


@contextmanager
def in_turn(data_dir: Path) -> Iterator[None]:
    """One command at a time: two that start at once make one process. Errors: StoreError, BotError after two minutes."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(data_dir / TURN, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"data_dir: {data_dir} can't be written: {error.strerror}. Make it writable, or set another data_dir."
        ) from error
    try:
        _take_turn(descriptor, data_dir)
        yield
    finally:
        os.close(descriptor)


def _take_turn(descriptor: int, data_dir: Path) -> None:
    end = time.monotonic() + TURN_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise BotError(
                    f"Another `signalbox service` command works on {data_dir} for {TURN_SECONDS:g} s already."
                ) from None
            time.sleep(TURN_LOOK_SECONDS)
        else:
            return


def _read(path: Path) -> Any:
    with suppress(OSError, ValueError, RecursionError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def _write(path: Path, told: dict[str, Any]) -> None:
    """As a whole or not at all, for this user's eyes only. Errors: StoreError."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(told, file)
        fresh.replace(path)
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror}.") from error

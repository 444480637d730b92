"""A log file that rotates, for a process that nobody else keeps the output of."""

from __future__ import annotations

import asyncio
import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from runtime.errors import ConfigError

LOG_BYTES_MAX: Final = 10 << 20
LOGS_KEPT: Final = 5
"""Files beside the one that is written: `service.log.1` is the newest of them."""
LOG_LOOK_SECONDS: Final = 5.0
OUTPUT: Final = (1, 2)
"""Standard output and error: whatever writes there, also a crash of a native library, ends up in the file."""

log = structlog.get_logger("app")


class LogFile:
    """Holds our output from `take_over` on. Whoever reads it finds the file by its path: it is another one after a rotation."""

    def __init__(self, path: Path, *, bytes_max: int = LOG_BYTES_MAX, kept: int = LOGS_KEPT) -> None:
        self.path = path
        self._bytes_max = bytes_max
        self._kept = kept
        self._told = False

    def take_over(self) -> None:
        """Write there from now on. Errors: ConfigError where the file can't be made or written."""
        _redirect(self.fresh())

    def fresh(self) -> int:
        """A descriptor that writes there, into a new file where the old one is large. Errors: ConfigError."""
        os.close(opened(self.path))
        with suppress(OSError):  # then it stays large for now
            self.rotate()
        return opened(self.path)

    async def keep(self) -> None:
        """Rotate whenever it is large, until cancelled."""
        while True:
            await asyncio.sleep(LOG_LOOK_SECONDS)
            try:
                if await asyncio.to_thread(self.rotate):
                    _redirect(opened(self.path))
                self._told = False
            except (OSError, ConfigError) as error:
                if not self._told:
                    log.warning("the log is not rotated", file=str(self.path), reason=str(error))
                self._told = True

    def rotate(self) -> bool:
        """Move a file that is large out of the way; whether it was. Errors: OSError."""
        with suppress(FileNotFoundError):
            if self.path.stat().st_size >= self._bytes_max:
                for number in range(self._kept - 1, 0, -1):
                    with suppress(FileNotFoundError):
                        self._older(number).replace(self._older(number + 1))
                self.path.replace(self._older(1))
                return True
        return False

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def opened(path: Path) -> int:
    """A descriptor that writes behind what is there. Errors: ConfigError."""
    try:
        if path.is_symlink():  # somebody else's file, perhaps
            raise OSError(errno.ELOOP, "it is a link")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise ConfigError(
            f"--log-file: {path} can't be written: {error.strerror}. Name another file, or make its folder writable."
        ) from error


def _redirect(descriptor: int) -> None:
    for output in OUTPUT:
        os.dup2(descriptor, output)
    os.close(descriptor)


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a log, also those that a rotation moved away; empty where there is none."""
    lines: list[str] = []
    for file in (path, *(path.with_name(f"{path.name}.{number}") for number in range(1, LOGS_KEPT + 1))):
        if len(lines) >= count:
            break
        with suppress(OSError):
            lines = _tail(file, count - len(lines)) + lines
    return lines


def _tail(path: Path, count: int) -> list[str]:
    """Read from the end, a block after another, until there are enough lines."""
    block = 1 << 16
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        text = b""
        while at and text.count(b"\n") <= count:
            step = min(block, at)
            at -= step
            file.seek(at)
            text = file.read(step) + text
    return text.decode("utf-8", "replace").splitlines()[-count:] if count else []

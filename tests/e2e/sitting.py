"""A person before `signalbox tui`: the real program behind a pseudo-terminal, seen as it is drawn and answered by keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Self

import pytest

from tests.e2e.drawn import USUAL_MODES, Drawn
from tests.e2e.house import PATIENCE
from tests.fakes import forked

KEYS: Final = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "up": "\x1b[A",
    "home": "\x1b[H",
    "page up": "\x1b[5~",
    "page down": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "bcjqsx"},
}


class Sitting:
    """Starts `signalbox tui` in `folder`. What still runs at the end of the block is killed."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str], *words: str, columns: int = 80, lines: int = 24
    ) -> None:
        self.drawn = Drawn(columns, lines)
        self.came = bytearray()
        """All that it wrote."""
        self._descriptor, self._theirs = pty.openpty()
        self._size(columns, lines)
        self._before = termios.tcgetattr(self._theirs)
        given = {"TERM": "xterm-256color", **variables}
        given.pop("COLUMNS", None)  # the terminal tells its own size
        self._process = forked.at_terminal(
            self._theirs, "bot", "tui", *words, folder=folder, environment=given, ignores=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        os.close(self._descriptor)
        os.close(self._theirs)

    @property
    def text(self) -> str:
        return self.drawn.text

    def reads(self, words: str, seconds: float = PATIENCE) -> None:
        self.until(lambda: words in self.text, f"{words!r} never came", seconds)

    def until(self, holds: Callable[[], object], or_else: str = "it never came", seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end or (self._process.exitcode is not None and not self.hears(0)):
                pytest.fail(f"{or_else}:\n{self.text}")
            self.hears(0.05)

    def hears(self, seconds: float) -> bool:
        """Draw what comes within that time; False if nothing did."""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if ready:
            data = os.read(self._descriptor, 1 << 16)
            self.came += data
            self.drawn.feed(data)
        return bool(ready)

    def waits(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.hears(left)

    def presses(self, *keys: str) -> None:
        """Keys by their names, anything else as it is; all in one go, as of somebody faster than the screen."""
        os.write(self._descriptor, "".join(KEYS.get(key, key) for key in keys).encode())

    def says(self, text: str) -> None:
        self.presses(text, "enter")

    def resizes(self, columns: int, lines: int) -> None:
        self.drawn.resize(columns, lines)
        self._size(columns, lines)  # the kernel tells whoever sits there

    def signals(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def ends(self) -> int:
        """Its exit code, once all that it wrote is drawn."""
        end = time.monotonic() + PATIENCE
        while self._process.exitcode is None:
            assert time.monotonic() < end, f"it goes on:\n{self.text}"
            self.hears(0.05)
        while self.hears(0):
            pass
        return self._process.exitcode

    @property
    def left(self) -> list[str]:
        """Things of the terminal that aren't as they were: settings, cursor, the first screen, the mouse, codes of keys."""
        settings = [] if termios.tcgetattr(self._theirs) == self._before else ["settings"]
        return [
            *settings,
            *(str(mode) for mode in sorted(self.drawn.modes ^ USUAL_MODES)),
            *["keys"] * max(0, self.drawn.keys),
        ]

    def _size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

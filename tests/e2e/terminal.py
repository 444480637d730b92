"""A person at a terminal: the real program behind a pseudo-terminal, read and answered line by line."""

from __future__ import annotations

import os
import pty
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.fakes import forked

PATIENCE: Final = 45.0  # seconds for anything the program has to say: the machine may be busy with other tests
AGAIN_AFTER: Final = 5.0  # seconds after which a person presses Ctrl-C again
COLUMNS: Final = "100"


class Terminal:
    """Starts `signalbox` in `folder`, forked instead of loaded. What still runs at the end of the block is killed.

    With `ignores` it inherits an ignored SIGINT, as the background jobs of a shell do.
    """

    def __init__(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], *, ignores: bool = False
    ) -> None:
        self.screen = ""
        self._seen = 0
        self._descriptor, theirs = pty.openpty()
        given = {**environment, "COLUMNS": COLUMNS, "TERM": "xterm"}
        place: Mapping[str, Any] = {"folder": folder, "environment": given}
        self._process = forked.at_terminal(theirs, "bot", *arguments, **place, ignores=ignores)
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        os.close(self._descriptor)

    def reads(self, words: str) -> None:
        """Return once these words stand on the screen, behind those that were read before."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.screen[self._seen :]:
            assert self._read(deadline), f"{words!r} never came:\n{self.screen[self._seen :]}"
        self._seen = self.screen.index(words, self._seen) + len(words)

    def types(self, line: str) -> None:
        os.write(self._descriptor, f"{line}\n".encode())

    def interrupts(self) -> None:
        """Ctrl-C."""
        os.write(self._descriptor, b"\x03")

    def interrupts_question(self) -> None:
        """Ctrl-C at a question, pressed again where nothing comes of it, as a person would.

        CPython looks for signals, then blocks in `read`: one that comes in between is only noticed at the next key.
        """
        while not self.screen.rstrip().endswith(":"):  # what stands after a question's words is part of it
            assert self._read(time.monotonic() + PATIENCE), f"it ended:\n{self.screen}"
        for _ in range(3):
            self.interrupts()
            deadline = time.monotonic() + AGAIN_AFTER
            while time.monotonic() < deadline:
                ready, _, _ = select.select([self._descriptor], [], [], max(0.0, deadline - time.monotonic()))
                if ready and (
                    not self._read(deadline) or not self.screen.endswith(("^", "^C"))
                ):  # its echo, or half of it
                    return

    def ends(self) -> int:
        """Its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        self._process.join(PATIENCE)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def _read(self, deadline: float) -> bool:
        """Whether something came before the deadline and the end."""
        ready, _, _ = select.select([self._descriptor], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more within {PATIENCE:g} s:\n{self.screen}"
        try:
            data = os.read(self._descriptor, 4096)
        except OSError:  # Linux says so when the other side is closed
            return False
        self.screen += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)

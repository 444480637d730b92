"""The real program in a folder of its own: started, killed and asked as an operator does it, and forked instead of loaded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from yarl import URL

from tests.fakes import forked
from tests.fakes.forked import Begun

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 45.0  # seconds for anything the program has to do: the machine may be busy with other tests
TOKEN: Final = "the-owner-of-this-house"
"""In the owner's link: several tests open it more than once, and one for one use is what a pipe would be told."""
RUN: Final = (sys.executable, "-m", "bot")


class House:
    """One data folder with the settings for it, and in it one life of `signalbox run` after another.

    `url` and `link` are set by the first start; later ones listen on the same port. `command` starts the program in
    some other way than plainly.
    """

    def __init__(
        self,
        folder: Path,
        settings: str = "",
        *,
        variables: Mapping[str, str] | None = None,
        command: Sequence[str] = RUN,
    ) -> None:
        self.folder = folder
        self.data = folder / "var"
        self.url = ""
        self.link = ""
        self._command = command
        self._is_plain = command == RUN and "PYTHONPATH" not in (variables or {})  # else it matters how it loads
        self._environment = environment(folder, **(variables or {}))
        self._process: subprocess.Popen[str] | Begun | None = None
        (folder / "signalbox.toml").write_text(settings)

    @property
    def process(self) -> subprocess.Popen[str] | Begun:
        assert self._process is not None
        return self._process

    def start(self) -> Self:
        """Start it, and return once it takes messages. Errors: RuntimeError with what it said when it does not."""
        port = str(URL(self.url).port) if self.url else "0"
        with self._log.open("ab") as log:
            self._process = self._begun(["run", "--port", port], log.fileno())
        found = re.search(r"ready at (\S+)", self._first_line())
        if found is None:
            self._gone(PATIENCE)
            raise RuntimeError(f"signalbox ended with {self._process.returncode}:\n{self.log()}")
        self.url = found[1]
        self.link = f"{self.url}/link/{TOKEN}"
        return self

    def _first_line(self) -> str:
        """What it prints first. It is killed where the test's time is up before."""
        assert self.process.stdout is not None
        try:
            return self.process.stdout.readline()
        except BaseException:
            self.process.kill()
            raise

    def kill(self) -> None:
        """End it this moment (SIGKILL)."""
        self.process.kill()
        self._gone(PATIENCE)

    def leave(self) -> int:
        """Ask it to go (SIGTERM); its exit code. Errors: TimeoutExpired, once it was killed."""
        self.process.terminate()
        try:
            return self._gone(PATIENCE)  # it drains for 9.5 s at most, and a busy machine takes its time besides
        except BaseException:
            self.process.kill()
            raise

    def log(self) -> str:
        """What it told its operator so far, over all lives."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def command(self, *arguments: str, said: str | bytes = "") -> subprocess.CompletedProcess[str]:
        """Another command of `signalbox` in the same folder, to its end. It never shows a traceback."""
        given = said.encode() if isinstance(said, str) else said
        ended = self._plainly(arguments, given) if self._is_plain else self._specially(arguments, given)
        out, err = ended.stdout.decode(), ended.stderr.decode()
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(arguments, ended.returncode, out, err)

    def _begun(self, arguments: Sequence[str], log: int) -> subprocess.Popen[str] | Begun:
        first = {} if self.link else {"SIGNALBOX_WEB__TOKEN": TOKEN}  # later lives find it in their database
        known = {**first, **self._environment}
        if self._is_plain:
            return forked.begin("bot", *arguments, folder=self.folder, environment=known, stderr=log)
        place: Mapping[str, Any] = {"cwd": self.folder, "env": known}
        ends: Mapping[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": log}
        return subprocess.Popen([*self._command, *arguments], **place, **ends, text=True)

    def _gone(self, seconds: float) -> int:
        """Its exit code. Errors: subprocess.TimeoutExpired."""
        code = self.process.wait(seconds)
        if self.process.stdout:
            self.process.stdout.close()
        return code

    def _plainly(self, arguments: Sequence[str], said: bytes) -> subprocess.CompletedProcess[bytes]:
        place: Mapping[str, Any] = {"folder": self.folder, "environment": self._environment}
        return forked.run("bot", *arguments, **place, said=said, seconds=PATIENCE)

    def _specially(self, arguments: Sequence[str], said: bytes) -> subprocess.CompletedProcess[bytes]:
        place: Mapping[str, Any] = {"cwd": self.folder, "env": self._environment}
        command = [*self._command, *arguments]
        return subprocess.run(command, **place, input=said, capture_output=True, timeout=PATIENCE, check=False)

    @property
    def _log(self) -> Path:
        return self.folder / "log"


@contextmanager
def open_house(folder: Path, settings: str = "", *, variables: Mapping[str, str] | None = None) -> Iterator[House]:
    """A house whose program runs; whatever runs in it at the end of the block is killed."""
    house = House(folder, settings, variables=variables).start()
    try:
        yield house
    finally:
        house.kill()


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Nothing of whoever runs the tests: no settings, no keys, no proxy."""
    foreign = re.compile(r"^SIGNALBOX_|_proxy$|_API_KEY$|^PYTHON", re.IGNORECASE)
    kept = {name: value for name, value in os.environ.items() if not foreign.search(name)}
    return {**kept, "PYTHONPATH": str(ROOT), "HOME": str(folder), "COLUMNS": "200", **variables}

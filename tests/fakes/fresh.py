"""`python` that has loaded some modules and nothing else: forked from one that has, for tests of what a process loads.

A Python takes two seconds of a processor to load the program. Where several tests ask what the program had loaded until
then, or what it loads from there on, one loads and the others are forked from it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
SERVING: Final = ("bot.node.lean", "bot.server.app", "bot.server.process", "bot.cli.root")
"""Modules that every process has loaded that serves."""


class Fresh:
    """One such Python with these modules; each `run` is a process of its own."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-m", "tests.fakes.fresh", *modules]
        pipes: Mapping[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes)

    def close(self) -> None:
        self._process.communicate()

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def run(
        self, code: str, *arguments: str, folder: Path = ROOT, environment: Mapping[str, str] = os.environ
    ) -> subprocess.CompletedProcess[str]:
        """`python -c code arguments` to its end."""
        with ExitStack() as stack:
            ends = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(2)]
            names = [end.name for end in ends]
            order = {"code": code, "arguments": arguments, "folder": str(folder), "environment": dict(environment)}
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            print(json.dumps({**order, "ends": names}), file=self._process.stdin, flush=True)
            try:
                status = int(self._process.stdout.readline())
            except BaseException:  # a test's time is up: what comes then would be taken for the end of the next one
                os.killpg(self._process.pid, signal.SIGKILL)
                self.close()
                raise
            out, err = (end.read().decode() for end in ends)
        return subprocess.CompletedProcess(["-c", *arguments], status, out, err)

    def module(self, name: str, *arguments: str, **place: Any) -> subprocess.CompletedProcess[str]:
        """`python -m name arguments` to its end."""
        return self.run(
            f"import runpy; runpy.run_module({name!r}, run_name='__main__', alter_sys=True)", *arguments, **place
        )


class AllFresh:
    """Every such process of one run of tests, made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[Sequence[str], Fresh] = {}

    def after(self, *modules: str) -> Fresh:
        if modules not in self._made or self._made[modules].is_over:
            self._made[modules] = Fresh(*modules)
        return self._made[modules]

    def close(self) -> None:
        for one in self._made.values():
            one.close()


# ------------------------------------------------------------------------------------------------------ in the process


def main(modules: list[str]) -> None:
    for name in modules:
        import_module(name)
    assert threading.active_count() == 1, threading.enumerate()
    for line in sys.stdin:
        if not (child := os.fork()):
            _live(**json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - to whoever gave the order


def _live(code: str, arguments: list[str], folder: str, environment: dict[str, str], ends: list[str]) -> None:
    for number, path, mode in ((0, os.devnull, os.O_RDONLY), (1, ends[0], os.O_WRONLY), (2, ends[1], os.O_WRONLY)):
        os.dup2(opened := os.open(path, mode), number)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.path[:0] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", *sys.path)]
    sys.argv = ["-c", *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    exec(compile(code, "<fresh>", "exec"), {"__name__": "__main__"})  # code of a test


if __name__ == "__main__":
    main(sys.argv[1:])

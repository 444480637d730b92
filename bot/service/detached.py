"""A service without a service manager: a process in a session of its own, with a log that rotates."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.node.lock import holder
from bot.service.marks import ProcessMark, is_alive, mark_of, send, wait_for_end
from bot.service.programs import program as own_program
from bot.service.records import DETACHED, Installed, Started, forget_started, in_turn, keep_started, started_in
from bot.service.rotation import LogFile, last_lines
from bot.service.states import ServiceState, stands
from runtime.errors import BotError

HEALTH_LOOK_SECONDS: Final = 0.1
MARK_LOOK_SECONDS: Final = 0.01
END_SPARE: Final = timedelta(seconds=1)
"""After the program's own end of patience, until it is killed."""
KILLED_WITHIN: Final = timedelta(seconds=10)
LAST_LOG_LINES: Final = 15
"""Lines of the log that are shown of a process that died at its start."""
ALREADY: Final = "It was running already."
NOT_OURS: Final = "Process {pid} works on {data_dir} already, and wasn't started as this service. Stop it where it was started: Ctrl-C, or kill {pid}."
DIED: Final = "Signalbox ended while it was starting (exit code {code}). The end of {log}:"
SLOW_START: Final = "Process {pid} isn't ready after {seconds:g} s; it goes on starting. Look at it: signalbox service status, signalbox service logs"
NEVER_ENDS: Final = "Process {pid} doesn't end, not even by SIGKILL: it waits for the kernel, perhaps for a disk."


class DetachedService:
    """The process that was started last on a data folder. A number in a file is believed only with the rest of its mark.

    `program` are the words that start us, from wherever this command was started.
    """

    def __init__(self, data_dir: Path, installed: Installed, shutdown: timedelta, program: Sequence[str] = ()) -> None:
        self._program = program or own_program()
        self._data_dir = data_dir
        self._installed = installed
        self._shutdown = shutdown
        self._log = Path(installed.log)

    def state(self) -> ServiceState:
        mark = self._at_work()
        return stands(DETACHED, self._installed.name, str(self._log), self._data_dir, mark.pid if mark else None)

    def start(self, within: timedelta) -> ServiceState:
        """Start it, and wait until it is healthy. Errors: BotError with the words that it died with, or another has the folder."""
        with in_turn(self._data_dir):
            if (before := self._at_work()) is not None:
                self._until_healthy(before, within, lambda: None if is_alive(before) else -1)
                return replace(self.state(), note=ALREADY)
            if other := holder(self._data_dir):
                raise BotError(NOT_OURS.format(pid=other, data_dir=self._data_dir))
            begin, process = self._spawned()
            if (mark := _marked(process)) is None:
                raise self._died(process.wait(), begin)
            self._keep(mark)
            self._until_healthy(mark, within, process.poll, begin)
            self._keep(mark_of(process.pid) or mark)  # a wrapper may have replaced itself by the program since
            return self.state()

    def stop(self, within: timedelta | None) -> bool:
        """Have it drain, and end it after its time, or `within`; False where it didn't run. No other process is touched."""
        with in_turn(self._data_dir):
            mark, started = self._at_work(), started_in(self._data_dir)
            if mark is not None:
                patience = within or self._patience(started)
                if send(mark, signal.SIGTERM) and not wait_for_end(mark, patience):
                    send(mark, signal.SIGKILL)
                    if not wait_for_end(mark, KILLED_WITHIN):
                        raise BotError(NEVER_ENDS.format(pid=mark.pid))
            forget_started(self._data_dir)
            return mark is not None

    def _keep(self, mark: ProcessMark) -> None:
        keep_started(self._data_dir, Started(mark, str(self._log), self._shutdown.total_seconds()))

    def _patience(self, started: Started | None) -> timedelta:
        asked = timedelta(seconds=started.shutdown_seconds) if started else timedelta()
        return max(asked, self._shutdown) + END_SPARE

    def _at_work(self) -> ProcessMark | None:
        """The process of the service: of its file, or, where that is lost or garbage, the folder's by its log."""
        started = started_in(self._data_dir)
        if started and is_alive(started.mark):
            return started.mark
        owner = holder(self._data_dir)
        mark = mark_of(owner) if owner else None
        return mark if mark and mark.command.endswith(f"--log-file {self._log}") else None

    def _spawned(self) -> tuple[int, subprocess.Popen[bytes]]:
        """The process, and where in the log its words begin."""
        output = LogFile(self._log).fresh()
        begin = self._log.stat().st_size
        command = [*self._program, *self._installed.arguments, "--log-file", str(self._log)]
        try:
            process = LeftToItself(
                command,
                cwd=self._installed.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise BotError(f"Signalbox can't be started: {command[0]}: {error.strerror}.") from error
        finally:
            os.close(output)
        return begin, process

    def _until_healthy(
        self, mark: ProcessMark, within: timedelta, ended: Callable[[], int | None], begin: int | None = None
    ) -> None:
        end = time.monotonic() + within.total_seconds()
        while True:
            if (code := ended()) is not None:
                forget_started(self._data_dir)
                raise self._died(code, begin)
            if self.state().url:
                return
            if time.monotonic() > end:
                raise BotError(SLOW_START.format(pid=mark.pid, seconds=within.total_seconds()))
            time.sleep(HEALTH_LOOK_SECONDS)

    def _died(self, code: int, begin: int | None) -> BotError:
        told = last_lines(self._log, LAST_LOG_LINES) if begin is None else _since(self._log, begin)[-LAST_LOG_LINES:]
        words = "\n".join(f"  {line}" for line in told or ["(it wrote nothing)"])
        return BotError(f"{DIED.format(code=code, log=self._log)}\n{words}")


def _marked(process: subprocess.Popen[bytes]) -> ProcessMark | None:
    """The mark of a process that was started just now; None where it has ended. Its command is told a moment later."""
    while process.poll() is None:
        if mark := mark_of(process.pid):
            return mark
        time.sleep(MARK_LOOK_SECONDS)
    return None


class LeftToItself(subprocess.Popen[bytes]):
    """A process that is meant to outlive us: nothing is wrong where it still runs when we leave."""

    def __del__(self) -> None:
        """Without the usual warning."""


def _since(log: Path, begin: int) -> list[str]:
    with suppress(OSError), log.open("rb") as file:
        file.seek(begin)
        return file.read().decode("utf-8", "replace").splitlines()
    return []

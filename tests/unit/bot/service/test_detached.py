"""A service of its own: one process at most, ended for sure, and never anybody else's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.node.lock import holder, holding
from bot.service import marks
from bot.service.detached import ALREADY, DetachedService
from bot.service.marks import mark_of, wait_for_end
from bot.service.records import DETACHED, PROCESS, Installed, Started, keep_started, started_in
from bot.service.states import ServiceState
from runtime.errors import BotError, ConfigError
from tests.walks import ROOT

PATIENCE = timedelta(seconds=20)
SOON = timedelta(seconds=0.3)


class House:
    """A data folder with its service, whose program is a stand-in."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.data.mkdir()
        self.log = folder / "logs" / "service.log"
        self.begun: list[int] = []

    def service(self, manner: str = "well", shutdown: timedelta = PATIENCE) -> DetachedService:
        program = [sys.executable, "-m", "tests.unit.bot.service.stand_in", str(self.data)]
        made = Installed(DETACHED, "signalbox", [manner], str(ROOT), str(self.log))
        return DetachedService(self.data, made, shutdown, program)

    def start(self, manner: str = "well") -> ServiceState:
        state = self.service(manner).start(PATIENCE)
        self.begun.append(state.pid or 0)
        return state


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    started = started_in(made.data)
    for pid in filter(None, [*made.begun, holder(made.data), started.mark.pid if started else None]):
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _bystander(stack: ExitStack) -> subprocess.Popen[bytes]:
    """A process of somebody else."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    stack.callback(process.wait)
    stack.callback(process.kill)
    until = time.monotonic() + PATIENCE.total_seconds()
    while mark_of(process.pid) is None and time.monotonic() < until:  # it has its words a moment after it was begun
        time.sleep(0.005)
    return process


def test_it_starts_tells_how_it_stands_and_stops(house: House) -> None:
    state = house.start()
    assert (state.runs, state.health, state.reasons) == (True, "alive, but not ready", {"telegram:work": "connecting"})
    assert state.url.startswith("http://127.0.0.1:")
    assert state.up is not None
    assert state.up < PATIENCE
    assert house.log.read_text() == "ready\n"
    assert house.log.stat().st_mode & 0o777 == 0o600
    assert house.service().stop(None)
    assert not house.service().state().runs
    assert not house.service().stop(None)


def test_two_starts_at_once_make_one_process(house: House) -> None:
    states: list[ServiceState] = []
    threads = [threading.Thread(target=lambda: states.append(house.start())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({state.pid for state in states}) == 1
    assert sorted(state.note for state in states) == ["", ALREADY]
    assert house.log.read_text() == "ready\n"


def test_a_start_that_fails_tells_the_words_it_died_with(house: House) -> None:
    house.log.parent.mkdir()
    house.log.write_text("an older line\n")
    with pytest.raises(BotError, match=r"exit code 1.*\n  signalbox: model.name: is wrong\.$") as told:
        house.start("dies")
    assert "older" not in str(told.value)
    assert started_in(house.data) is None


def test_what_does_not_drain_in_time_is_ended_by_force(house: House) -> None:
    state = house.start("stubborn")
    assert house.service("stubborn").stop(SOON)
    assert mark_of(state.pid or 0) is None
    assert holder(house.data) is None


def test_one_that_still_gives_back_what_it_held_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a killed process has no memory any more, and for a moment still the lock of its data folder."""
    monkeypatch.setattr(marks, "PROC", tmp_path)
    (tmp_path / "4242").mkdir()
    told, at_work = tmp_path / "4242" / "stat", ["S", *["0"] * 18, "77"]
    (tmp_path / "4242" / "cmdline").write_bytes(b"signalbox\0run\0")
    told.write_text(f"4242 (signalbox) {' '.join(at_work)}")
    mark = mark_of(4242)
    assert mark is not None
    (tmp_path / "4242" / "cmdline").write_bytes(b"")
    assert mark_of(4242) is None
    assert not wait_for_end(mark, timedelta())
    told.write_text(f"4242 (signalbox) {' '.join(['Z', *at_work[1:]])}")
    assert wait_for_end(mark, timedelta())


def test_a_stale_file_ends_no_process_that_has_its_number_by_now(house: House) -> None:
    with ExitStack() as stack:
        other = _bystander(stack)
        mark = mark_of(other.pid)
        assert mark is not None
        for stale in (
            replace(mark, started="1"),
            replace(mark, boot="another boot"),
            replace(mark, command="signalbox run"),
        ):
            keep_started(house.data, Started(stale, "", 1.0))
            assert not house.service().state().runs
            assert not house.service().stop(SOON)
            assert other.poll() is None
        assert house.start().runs
        assert other.poll() is None


@pytest.mark.parametrize(
    "garbage", ["", "12", "{", "[]", '{"pid": "x"}', json.dumps({"pid": 1, "started": "", "boot": "", "command": ""})]
)
def test_garbage_in_the_file_is_nobody(house: House, garbage: str) -> None:
    (house.data / PROCESS).write_text(garbage)
    assert not house.service().state().runs
    assert not house.service().stop(SOON)


def test_a_process_whose_file_is_lost_is_still_found_by_its_log(house: House) -> None:
    state = house.start()
    (house.data / PROCESS).write_bytes(b"\xff\x00garbage")
    assert house.service().state().pid == state.pid
    assert house.service().start(PATIENCE).note == ALREADY
    assert house.service().stop(None)
    assert holder(house.data) is None


def test_a_process_that_somebody_started_by_hand_is_left_alone(house: House) -> None:
    with holding(house.data):
        state = house.service().state()
        assert (state.runs, state.other) == (False, os.getpid())
        assert not house.service().stop(SOON)
        with pytest.raises(BotError, match="wasn't started as this service"):
            house.service().start(PATIENCE)


def test_a_log_that_cannot_be_written_is_told_before_anything_starts(house: House) -> None:
    house.log.parent.write_text("a file where the folder should be")
    with pytest.raises(ConfigError, match=r"--log-file: .* can't be written"):
        house.start()
    assert holder(house.data) is None


def test_one_that_takes_its_time_is_left_to_it(house: House) -> None:
    with pytest.raises(BotError, match="goes on starting"):
        house.service("silent").start(SOON * 3)
    found: Any = started_in(house.data)
    assert house.service("silent").state().health == "starting"
    assert house.service("silent").stop(SOON)
    assert wait_for_end(found.mark, PATIENCE)

"""Who of the processes of one run gets which of the tests."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.shares import AHEAD, Shares

ALL = [f"t.py::test_{number}@group-{number % 3}" if number < 30 else f"t.py::test_{number}" for number in range(400)]


class Process:
    """As much of a process as hands out tests."""

    shutting_down = False

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.ran: list[str] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def shares(*processes: Process) -> Shares:
    values: dict[str, Any] = {"tx": ["popen"] * len(processes)}
    options = SimpleNamespace(loadscopereorder=False)
    made = Shares(cast("pytest.Config", SimpleNamespace(getvalue=values.get, option=options)))
    for process in processes:
        made.add_node(cast("Any", process))
        made.add_node_collection(cast("Any", process), ALL)
    made.schedule()
    return made


def run(made: Shares, process: Process) -> None:
    """The next test, which begins only when there is one after it or no other will come."""
    assert len(process.given) > 1 or process.shutting_down
    place = process.given.pop(0)
    process.ran.append(ALL[place])
    made.mark_test_complete(cast("Any", process), place)


def run_all(made: Shares, *processes: Process) -> None:
    while any(process.given for process in processes):
        for process in processes:
            if process.given:
                run(made, process)


def test_each_test_runs_once_and_in_its_order() -> None:
    processes = [Process(name) for name in "abcd"]
    made = shares(*processes)
    run_all(made, *processes)
    assert Counter(test for process in processes for test in process.ran) == Counter(ALL)
    for process in processes:
        alone = [test for test in process.ran if "@" not in test]
        assert alone == sorted(alone, key=ALL.index)
    assert made.tests_finished
    assert not made.has_pending


def test_a_group_belongs_to_one_process() -> None:
    processes = [Process(name) for name in "ab"]
    run_all(shares(*processes), *processes)
    for group in ("@group-0", "@group-1", "@group-2"):
        assert sum(any(test.endswith(group) for test in process.ran) for process in processes) == 1


def test_none_has_many_ahead_and_at_the_end_fewer() -> None:
    one, slow = Process("one"), Process("slow")
    made = shares(one, slow)
    before = len(slow.given)
    while one.given:
        run(made, one)
        assert len([place for place in one.given if "@" not in ALL[place]]) <= AHEAD + 2
    assert len(slow.given) == before
    assert len(one.ran) + before == len(ALL)


def test_tests_of_a_process_that_died_are_run_by_others() -> None:
    lives, dies = Process("lives"), Process("dies")
    made = shares(lives, dies)
    for _ in range(12):
        run(made, dies)
    assert made.remove_node(cast("Any", dies)) == ALL[dies.given[0]]
    run_all(made, lives)
    assert {*lives.ran, *dies.ran} == {*ALL}

"""Hands the tests of one run out to its processes, some at a time.

What pytest-xdist has for that, in 3.8.0, keeps what is done among what is to do and looks through all of it after each
test, and looks for each test through the names of all: with 17,000 tests some seventy million looks, the most of them
late in the run. It also gives one test at a time, so that a process that has short ones mostly waits for the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xdist.scheduler import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

AHEAD: Final = 10
"""Tests that a process is given at once. Near the end they are fewer, so that all end at about the same time."""
LOW: Final = 2
"""A process that has no more tests than these is given others: the last one begins only when it knows of a next."""
LAST_ROUNDS: Final = 4
"""As often each process is given tests at least, before there are none left."""


class Shares(LoadGroupScheduling):  # type: ignore[misc]  # ships no types
    """As `--dist loadgroup`: those of a group go to one process, and all in their order."""

    _places: dict[str, int] | None = None

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        test = self.registered_collections[node][item_index]
        group = self._split_scope(test)
        tests = self.assigned_work[node][group]
        tests[test] = True
        if all(tests.values()):
            del self.assigned_work[node][group]
        self._reschedule(node)

    def _reschedule(self, node: WorkerController) -> None:
        if node.shutting_down:
            return
        if not self.workqueue:
            node.shutdown()
        elif self._pending_of(self.assigned_work[node]) <= LOW:
            self._assign_work_unit(node)

    def _assign_work_unit(self, node: WorkerController) -> None:
        share = max(1, min(AHEAD, len(self.workqueue) // (LAST_ROUNDS * len(self.nodes))))
        given: list[int] = []
        while self.workqueue and len(given) < share:
            group, tests = self.workqueue.popitem(last=False)
            self.assigned_work[node][group] = tests
            given += [self._place(test) for test, is_done in tests.items() if not is_done]
        node.send_runtest_some(given)

    def _place(self, test: str) -> int:
        """By which number the processes know it: each has collected the same."""
        if self._places is None:
            assert self.collection is not None
            self._places = {name: place for place, name in enumerate(self.collection)}
        return self._places[test]

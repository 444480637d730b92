"""A stop beside other nodes: what it ends is looked at under the lock of its lane."""

from __future__ import annotations

from typing import Any

from runtime.contract import Identity, OccurrenceId, Report, Task, TaskKind
from runtime.store.common import LOCK_LANE
from runtime.store.runs.closing import OPEN_RUNS
from runtime.store.sql.driver import Op, each_of
from tests.contract.store.stage import ROOM, Stage

WORK = Report(OccurrenceId("o1"), "noted", Task(TaskKind.PROMPT, "Look."), (ROOM,), "UTC", "main", Identity("web:ada"))


async def test_a_stop_looks_at_work_in_the_background_under_its_lock(stage: Stage) -> None:
    """Another node may take it up between a look without a lock and its end, which would then miscount its lane."""
    await stage.store.schedules.begin_report(WORK, "Ada")
    background = await stage.claim()
    driver, write, asked = stage.store.driver, stage.store.driver.write, list[tuple[Any, str]]()

    def heard(make: Any) -> Op[Any]:
        op, told = make(), None
        try:
            while True:
                query, given = op.send(told)
                for one, values in each_of((query, given)):
                    asked.append((one, str(values.get("k") or values.get("s"))))
                told = yield query, given
        except StopIteration as end:
            return end.value

    setattr(driver, "write", lambda make, **more: write(lambda: heard(make), **more))  # noqa: B010 - a method is put in its place
    await stage.stop()
    assert await stage.column("SELECT stop FROM runs WHERE id = :run", run=background.run_id) == [1]
    key = background.lane.session
    assert asked.index((LOCK_LANE, key)) < asked.index((OPEN_RUNS, key))

"""What operators read: lists by state, newest first, and counts of what waits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.contract import Kind, RunId
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState, StepState
from runtime.errors import StoreError
from runtime.store.protocol import RoomWork
from tests.contract.store.stage import LIST, ROOM, SHELL, UMA, Stage, address, step


async def test_runs_are_listed_newest_first(stage: Stage) -> None:
    made = []
    for n in range(3):
        made.append((await stage.begin(f"{n}", at=address(f"r{n}"))).run_id)
        stage.clock.advance(seconds=1)
    assert [run.id for run in await stage.store.operations.runs()] == made[::-1]
    assert [run.id for run in await stage.store.operations.runs(limit=2)] == made[:0:-1]


async def test_the_work_of_a_room_is_its_newest_run_and_its_open_questions(stage: Stage) -> None:
    assert await stage.store.operations.room_work(ROOM) == RoomWork(None, ())
    await stage.finish(await stage.begin("one"))
    assert (await stage.store.operations.room_work(ROOM)).run is RunState.DONE
    stage.clock.advance(seconds=1)
    parked = await stage.park(SHELL, text="two")
    elsewhere = await stage.park(SHELL, text="three", at=address("r2"))
    work = await stage.store.operations.room_work(ROOM)
    assert (work.run, [one.id for one in work.questions]) == (RunState.PARKED, list(parked.approvals))
    await stage.click(parked.approvals[0])
    stage.clock.advance(seconds=1)
    await stage.say("four")  # nothing took it up yet
    assert await stage.store.operations.room_work(ROOM) == RoomWork(RunState.READY, ())
    assert [one.id for one in (await stage.store.operations.room_work(address("r2"))).questions] == list(
        elsewhere.approvals
    )


async def test_two_hundred_newer_runs_and_questions_elsewhere_hide_nothing(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    for number in range(210):
        await stage.park(SHELL, at=address(f"other{number}"))
    work = await stage.store.operations.room_work(ROOM)
    assert (work.run, [one.id for one in work.questions]) == (RunState.PARKED, list(parked.approvals))


async def test_runs_are_listed_by_state(stage: Stage) -> None:
    await stage.finish(await stage.begin("one", at=address("a")))
    live = await stage.begin("two", at=address("b"))
    assert [run.id for run in await stage.store.operations.runs(state=RunState.RUNNING)] == [live.run_id]
    assert len(await stage.store.operations.runs(state=RunState.DONE)) == 1


async def test_a_run_tells_what_it_answers_and_for_whom(stage: Stage) -> None:
    await stage.say("one", actor=UMA)
    await stage.say("one", actor=UMA)
    await stage.say("two", actor=UMA)
    claim = await stage.claim()
    (run,) = await stage.store.operations.runs()
    assert (run.id, run.requester, run.address, run.signals) == (claim.run_id, "Uma", ROOM, ("one", "two"))


async def test_a_run_is_read_with_its_steps(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST), step(SHELL, StepState.DONE, "no"))
    found = await stage.store.operations.run(claim.run_id)
    assert found is not None
    run, steps = found
    assert run.iterations == 1
    assert [(s.number, s.kind, s.tool, s.state, s.result) for s in steps] == [
        (1, "model", "demo", StepState.DONE, ""),
        (2, "tool", LIST.tool, StepState.OPEN, ""),
        (3, "tool", SHELL.tool, StepState.DONE, "no"),
    ]
    assert [(s.input_tokens, s.output_tokens, s.cost_micros) for s in steps] == [(10, 5, 7), (0, 0, 0), (0, 0, 0)]
    assert [s.called_at for s in steps] == [None, stage.clock(), None]


async def test_an_unknown_run_is_none(stage: Stage) -> None:
    assert await stage.store.operations.run(RunId("nothing")) is None


async def test_deliveries_are_listed_newest_first_and_by_state(stage: Stage) -> None:
    one, two = await stage.enqueue("one"), await stage.enqueue("two")
    await stage.show(one, await stage.duty())
    assert [d.id for d in await stage.store.operations.deliveries()] == [two, one]
    assert [d.id for d in await stage.store.operations.deliveries(state=DeliveryState.SHOWN)] == [one]
    assert [d.id for d in await stage.store.operations.deliveries(limit=1)] == [two]


async def test_a_delivery_is_read_as_it_was_put_in(stage: Stage) -> None:
    new = stage.new_delivery("**hello** 😀", kind=Kind.FINAL, origin="run:1", ordinal=3)
    await stage.store.outbox.enqueue(new)
    row = await stage.store.operations.delivery(new.id)
    assert row is not None
    assert (row.kind, row.origin, row.address, row.content) == (new.kind, new.origin, new.address, new.content)
    assert (row.created_at, row.not_before - row.created_at) == (stage.clock(), timedelta())


async def test_counts_tell_what_waits(stage: Stage) -> None:
    await stage.park(SHELL)
    await stage.finish(await stage.begin("two"))
    await stage.say("three")
    counts = await stage.store.operations.counts()
    assert {name: count for name, count in counts.items() if count} == {
        "signals.waiting": 1,
        "runs.parked": 1,
        "approvals.pending": 1,
        "deliveries.queued": 2,
    }


async def test_an_empty_store_counts_nothing(stage: Stage) -> None:
    assert not any((await stage.store.operations.counts()).values())


async def test_a_store_that_answers_passes_its_check(stage: Stage) -> None:
    await stage.store.check()


async def test_a_closed_store_says_so(stage: Stage) -> None:
    await stage.store.close()
    with pytest.raises(StoreError, match="clos"):
        await stage.store.check()


async def test_the_last_word_about_an_account_is_found_by_its_beginning(stage: Stage) -> None:
    for origin, ordinal in (("outage:a:b:1", 1), ("outage:a:b:1", 2), ("outage:a:b:2", 1), ("outage:a:bc:9", 1)):
        await stage.enqueue(origin=origin, ordinal=ordinal)
    assert await stage.store.operations.newest_of("outage:a:b:") == ("outage:a:b:2", 1)
    await stage.enqueue(origin="outage:a:b:2", ordinal=2)
    assert await stage.store.operations.newest_of("outage:a:b:") == ("outage:a:b:2", 2)
    assert await stage.store.operations.newest_of("outage:a:") == ("outage:a:bc:9", 1)
    assert await stage.store.operations.newest_of("outage:z:") is None

"""What goes first, what waits for what, and what must not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from runtime.contract import Kind
from runtime.delivery.courier import Courier
from tests.contract.courier.scripted import End, ScriptedAdapter
from tests.contract.courier.stage import LONG, Stage
from tests.contract.runtime.stage import Crash, crash_at


async def test_approvals_go_first_then_finals_then_reports_then_progress(any_stage: Stage) -> None:
    """Design 7: between origins."""
    for kind in reversed(Kind):
        await any_stage.put(kind.value, kind=kind)
    await (await any_stage.courier()).drain()
    assert any_stage.seen() == ["approval", "final", "report", "progress"]


async def test_within_one_kind_the_oldest_goes_first(stage: Stage) -> None:
    for number in range(25):
        await stage.put(f"{number}")
    await (await stage.courier()).drain()
    assert stage.seen() == [f"{number}" for number in range(25)]


async def test_order_holds_within_one_origin_whatever_the_kind(any_stage: Stage) -> None:
    """Design 7."""
    for ordinal, kind in enumerate([Kind.REPORT, Kind.FINAL, Kind.APPROVAL]):
        await any_stage.put(kind.value, kind=kind, origin="run:1", ordinal=ordinal)
    await (await any_stage.courier()).drain()
    assert any_stage.seen() == ["report", "final", "approval"]


async def test_order_holds_within_one_origin_when_the_first_has_to_wait(stage: Stage) -> None:
    """Design 7."""
    for ordinal in range(3):
        await stage.put(f"{ordinal}", origin="run:1", ordinal=ordinal)
    stage.fault("error")
    await stage.settle(await stage.courier())
    assert stage.seen() == ["0", "1", "2"]


async def test_progress_that_has_to_wait_does_not_delay_a_final(stage: Stage) -> None:
    """Scenario 30."""
    await stage.put("progress", kind=Kind.PROGRESS)
    stage.fault("busy", seconds=60)
    courier = await stage.courier()
    await courier.drain()
    await stage.put("final")
    await courier.drain()
    assert stage.seen() == ["final"]


async def test_a_long_text_once_begun_is_not_broken_up_by_anything_more_urgent(stage: Stage) -> None:
    """Design 7: a delivery of which a part is on screen goes on first."""
    await stage.put(LONG, kind=Kind.REPORT)
    adapter = ScriptedAdapter([End.SHOWN, End.RETRYABLE])
    adapter.render = stage.adapter().render  # type: ignore[method-assign]  # three parts
    courier = await stage.courier(adapter=adapter)
    await courier.drain()
    await stage.put("May I?", kind=Kind.APPROVAL)
    await stage.settle(courier)
    assert [part.ordinal for part in adapter.screen] == [1, 2, 3, 1]


async def test_an_unsettled_part_closes_its_room_but_no_other(any_stage: Stage) -> None:
    """Design 7."""
    courier = await any_stage.courier()
    await any_stage.put("cut", room="r1")
    any_stage.fault("cut_before")
    await courier.drain()
    await any_stage.put("May I?", room="r1", kind=Kind.APPROVAL)
    await any_stage.put("elsewhere", room="r2")
    await courier.drain()
    assert any_stage.seen() == ["elsewhere"]
    await any_stage.settle(courier)
    assert any_stage.seen("r1") == ["cut", "May I?"]


async def test_a_part_cut_by_a_kill_closes_its_room_until_it_is_found(any_stage: Stage) -> None:
    """Design 7: what comes meanwhile, however urgent, does not overtake it."""
    await any_stage.put("cut", room="r1")
    with pytest.raises(Crash):
        await (await any_stage.courier(probe=crash_at("part-marked"))).drain()
    await any_stage.put("May I?", room="r1", kind=Kind.APPROVAL)
    courier = await any_stage.courier()
    await courier.drain()
    assert any_stage.seen("r1") == []
    await any_stage.settle(courier)
    assert any_stage.seen("r1") == ["cut", "May I?"]


async def test_a_room_that_has_to_wait_does_not_hold_up_others(stage: Stage) -> None:
    stage.fault("busy", seconds=3600)
    await stage.put("slow", room="r1")
    await stage.put("quick", room="r2")
    await (await stage.courier()).drain()
    assert stage.seen() == ["quick"]


async def test_what_waits_while_the_platform_is_away_leaves_by_itself(stage: Stage) -> None:
    """Scenario 30."""
    for number in range(3):
        await stage.put(f"{number}", room=f"r{number}")
    stage.channel.faults.away = True
    courier = await stage.courier()
    await stage.settle(courier, timedelta(minutes=10))
    assert stage.seen() == []
    stage.channel.faults.away = False
    await stage.settle(courier, timedelta(minutes=3))
    assert sorted(stage.seen()) == ["0", "1", "2"]


@pytest.mark.parametrize("fault", ["error", "busy"])
async def test_a_platform_that_fails_for_a_while_loses_and_repeats_nothing(fault: str, stage: Stage) -> None:
    """Scenario 30: 500 for 5 s."""
    for number in range(20):
        await stage.put(f"{number}", room=f"r{number % 5}", origin=f"o{number % 5}", ordinal=number)
    stage.fault(fault, count=25)
    await stage.settle(await stage.courier(), timedelta(minutes=3))
    assert [stage.seen(f"r{room}") for room in range(5)] == [[f"{n}" for n in range(room, 20, 5)] for room in range(5)]


async def test_what_is_enqueued_during_a_drain_is_shown_too(stage: Stage) -> None:
    """Scenario 29."""
    courier = await stage.courier()
    for number in range(10):
        await stage.put(f"{number}", room=f"r{number % 2}")
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(courier.drain())
        for number in range(10, 20):
            await stage.put(f"{number}", room=f"r{number % 2}")
        await draining
    await courier.drain()
    assert [stage.seen(f"r{room}") for room in range(2)] == [[f"{n}" for n in range(room, 20, 2)] for room in range(2)]


@pytest.mark.parametrize("rooms", [150, pytest.param(1000, marks=pytest.mark.soak)])
async def test_thousands_are_all_shown_once_and_in_order(rooms: int, stage: Stage) -> None:
    """Scenario 29: none lost, none twice, none evicted; with 1,000 rooms ten thousand of them."""
    each = 10
    async with asyncio.TaskGroup() as group:
        for room in range(rooms):
            group.create_task(fill(stage, room, each))
    adapter = ScriptedAdapter()
    courier = await stage.courier(adapter=adapter)
    with capture_logs():
        await serve_until(courier, lambda: len(adapter.screen) == rooms * each)
    by_room: dict[str, list[str]] = {}
    for part in adapter.screen:
        by_room.setdefault(part.address.room, []).append(part.body)
    assert by_room == {f"r{room}": [f"{n}" for n in range(each)] for room in range(rooms)}


async def serve_until(courier: Courier, holds: Callable[[], bool]) -> None:
    """Let the courier run until `holds`, and then until it is quiet."""
    async with asyncio.timeout(50), asyncio.TaskGroup() as group:
        serving = group.create_task(courier.run())
        while not holds():  # noqa: ASYNC110 - the screen rings no bell
            await asyncio.sleep(0.01)
        await courier.quiet()
        serving.cancel()


async def fill(stage: Stage, room: int, each: int) -> None:
    for number in range(each):
        await stage.put(f"{number}", room=f"r{room}")

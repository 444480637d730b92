"""Killed or cut between the send and its checkpoint: exactly the missing parts appear, and none twice."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bot.testing.channel.adapter import FakeAdapter, no_floor
from bot.testing.channel.server import ChannelKind
from runtime.contract import Attempt, Part, Receipt, Settled
from runtime.delivery.retry_policy import RetryPolicy, Unknown
from runtime.domain.deliveries import DeliveryState, PartState
from tests.contract.courier.stage import LONG, TELLING, Stage
from tests.contract.runtime.stage import LEASE, Crash, crash_at

POINTS = ["part-marked", "part-shown", "part-checkpointed"]


async def die_at(stage: Stage, point: str, hit: int = 1) -> None:
    """A courier works until it is killed; then its lease ends."""
    with pytest.raises(Crash):
        await (await stage.courier(probe=crash_at(point, hit))).drain()
    stage.clock.advance(LEASE)


# ----------------------------------------------------------------------------------------------- where one can tell


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", TELLING)
async def test_a_kill_shows_it_once(kind: ChannelKind, point: str, any_stage: Stage) -> None:
    """Scenario 28: before the send, after acceptance, after the checkpoint."""
    delivery = await any_stage.put("hello")
    await die_at(any_stage, point)
    await any_stage.settle(await any_stage.courier())
    assert any_stage.seen() == ["hello"]
    assert await any_stage.state(delivery) is DeliveryState.SHOWN


@pytest.mark.parametrize("hit", [1, 2, 3])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("kind", TELLING)
async def test_a_kill_at_any_part_shows_exactly_the_missing_ones(
    kind: ChannelKind, point: str, hit: int, stage: Stage
) -> None:
    """Scenario 28: after part 2 of 3."""
    await stage.put(LONG)
    await die_at(stage, point, hit)
    await stage.settle(await stage.courier())
    assert "".join(stage.seen()) == LONG
    assert len(stage.seen()) == 3


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
@pytest.mark.parametrize("kind", TELLING)
async def test_a_cut_connection_shows_it_once(kind: ChannelKind, fault: str, stage: Stage) -> None:
    """Scenario 28: cut before or after the platform accepted it."""
    await stage.put("hello")
    stage.fault(fault)
    await stage.settle(await stage.courier())
    assert stage.seen() == ["hello"]


@pytest.mark.parametrize(("kind", "again_after"), [(ChannelKind.LOOKUP, 10), (ChannelKind.PROBE, 25)])
async def test_absent_means_two_empty_looks(kind: ChannelKind, again_after: int, stage: Stage) -> None:
    """Design 7: the second at least 10 s after the cut, since a request may be applied late."""
    await stage.put("hello")
    stage.fault("cut_before")
    began = stage.clock.at
    courier = await stage.courier()
    await courier.drain()
    shown_after = {}
    for seconds in (1, 9, 11, 24, 26):
        stage.clock.at = began + timedelta(seconds=seconds)
        await courier.drain()
        shown_after[seconds] = len(stage.seen())
    assert shown_after == {seconds: int(seconds > again_after) for seconds in shown_after}


@pytest.mark.parametrize("kind", [ChannelKind.KEY, ChannelKind.LOOKUP])
async def test_what_a_key_or_a_look_up_settles_is_found_at_once(kind: ChannelKind, any_stage: Stage) -> None:
    """Also by the next process, which need not wait for what was cut long ago."""
    delivery = await any_stage.put("hello")
    any_stage.fault("cut_after")
    courier = await any_stage.courier()
    await courier.drain()
    assert await any_stage.state(delivery) is DeliveryState.SHOWN
    later = await any_stage.put("later")
    await die_at(any_stage, "part-shown")
    await (await any_stage.courier()).drain()
    assert await any_stage.state(later) is DeliveryState.SHOWN
    assert any_stage.seen() == ["hello", "later"]


@pytest.mark.parametrize("kind", [ChannelKind.LOOKUP])
async def test_what_a_dead_process_never_sent_is_sent_ten_seconds_after_the_first_look(
    kind: ChannelKind, stage: Stage
) -> None:
    """However long the death took to be found out: a request of its last moment may still be on its way."""
    await stage.put("hello")
    await die_at(stage, "part-marked")
    stage.clock.advance(timedelta(minutes=5))
    courier, took_over = await stage.courier(), stage.clock.at
    await courier.drain()
    stage.clock.at = took_over + timedelta(seconds=9)
    await courier.drain()
    assert stage.seen() == []
    stage.clock.at = took_over + timedelta(seconds=11)
    await courier.drain()
    assert stage.seen() == ["hello"]


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.parametrize("late", [0.5, 5])
async def test_a_request_applied_after_its_connection_was_cut_is_settled_and_not_repeated(
    late: float, kind: ChannelKind, stage: Stage
) -> None:
    """Scenario 30, with every wait a fiftieth, the platform's too, and by the real clock."""
    of = 50
    pace = RetryPolicy()
    stage.pace = replace(pace, settle_first=pace.settle_first / of, settle_second=pace.settle_second / of)
    stage.clock = lambda: datetime.now(UTC)  # type: ignore[assignment]  # the real one
    delivery = await stage.put("hello")
    stage.fault("cut_late", seconds=late / of)
    courier = await stage.courier()
    async with asyncio.timeout(30):
        while await stage.state(delivery) is not DeliveryState.SHOWN:
            await courier.drain()
            await asyncio.sleep(0.01)
    await asyncio.sleep(late / of)
    assert stage.seen() == ["hello"]


@pytest.mark.parametrize("kind", TELLING)
async def test_equal_texts_in_a_row_are_each_shown_once(kind: ChannelKind, stage: Stage) -> None:
    """Scenario 28: an earlier message with the same words is not taken for the missing one."""
    for _ in range(3):
        await stage.put("hello")
    stage.fault("cut_after")
    stage.fault("cut_before")
    await stage.settle(await stage.courier())
    assert stage.seen() == ["hello"] * 3


@pytest.mark.parametrize("kind", TELLING)
async def test_a_look_that_fails_is_made_again_and_does_not_count(kind: ChannelKind, stage: Stage) -> None:
    """Scenario 28: the platform is away while the part is looked for."""
    await stage.put("hello")
    stage.fault("cut_after")
    courier = await stage.courier()
    await courier.drain()
    stage.channel.faults.away = True
    await stage.settle(courier, timedelta(minutes=2))
    stage.channel.faults.away = False
    await stage.settle(courier)
    assert stage.seen() == ["hello"]


@pytest.mark.parametrize("kind", TELLING)
async def test_an_adapter_with_a_bug_is_treated_as_uncertain(kind: ChannelKind, stage: Stage) -> None:
    """An unexpected exception tells nothing about what people see."""

    class Buggy(FakeAdapter):
        async def show(self, part: Part) -> Receipt:
            await super().show(part)
            raise KeyError("id")

    await stage.put("hello")
    adapter = Buggy(base_url=stage.url, kind=kind, account="main", identity="main")
    with capture_logs():
        await (await stage.courier(adapter=adapter)).drain()
    await stage.settle(await stage.courier())
    assert stage.seen() == ["hello"]


async def test_an_adapter_that_cannot_even_look_is_asked_again_later(stage: Stage) -> None:
    """A bug in looking stops only its own room, and only until it is mended."""

    class Blind(FakeAdapter):
        async def settle(self, part: Part, attempt: Attempt) -> Settled:
            raise KeyError("messages")

    await stage.put("hello")
    await stage.put("elsewhere", room="r2")
    stage.fault("cut_after")
    adapter = Blind(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    with capture_logs() as logs:
        await stage.settle(await stage.courier(adapter=adapter), timedelta(minutes=2))
    assert sorted(stage.seen()) == ["elsewhere", "hello"]
    assert 2 < len([entry for entry in logs if entry["event"] == "adapter cannot look"]) < 20
    await stage.settle(await stage.courier())
    assert sorted(stage.seen()) == ["elsewhere", "hello"]


async def test_a_platform_that_does_not_answer_in_time_is_uncertain(stage: Stage) -> None:
    class Slow(FakeAdapter):
        async def show(self, part: Part) -> Receipt:
            await super().show(part)
            await asyncio.Event().wait()
            raise AssertionError("never")

    stage.pace = RetryPolicy(send_timeout=timedelta(seconds=0.05))
    delivery = await stage.put("hello")
    adapter = Slow(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    slow = replace(adapter.features(), floor=no_floor)
    await (await stage.courier(adapter=adapter, features=slow)).drain()
    assert [part.state for part in (await stage.row(delivery)).parts] == [PartState.UNSETTLED]
    await stage.settle(await stage.courier())
    assert stage.seen() == ["hello"]


@pytest.mark.parametrize("kind", [ChannelKind.PROBE])
async def test_a_probe_finds_a_part_behind_which_people_spoke(kind: ChannelKind, stage: Stage) -> None:
    """Scenario 28: what people say takes ids too."""
    await stage.put("hello")
    stage.fault("cut_after")
    adapter = stage.adapter()
    courier = await stage.courier(adapter=adapter)
    await courier.drain()
    for number in range(3):
        adapter._parse(stage.channel.board.inject({"text": f"hello? {number}"}))
    await stage.settle(courier)
    assert stage.seen() == ["hello"]


# -------------------------------------------------------------------------------------------- where one cannot tell


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
@pytest.mark.parametrize(
    ("fault", "seen"), [("cut_after", ["hello", "(repeated) hello"]), ("cut_before", ["(repeated) hello"])]
)
async def test_where_nobody_can_tell_it_is_repeated_with_a_visible_mark(
    fault: str, seen: list[str], kind: ChannelKind, stage: Stage
) -> None:
    """Scenario 28, by the policy `repeat`."""
    await stage.put("hello")
    stage.fault(fault)
    await stage.settle(await stage.courier())
    assert stage.seen() == seen


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
@pytest.mark.parametrize(("fault", "seen"), [("cut_after", ["hello"]), ("cut_before", [])])
async def test_where_nobody_can_tell_it_is_held_for_a_person(
    fault: str, seen: list[str], kind: ChannelKind, any_stage: Stage
) -> None:
    """Scenario 28, by the policy `hold`."""
    any_stage.pace = RetryPolicy(unknown=Unknown.HOLD)
    delivery = await any_stage.put("hello")
    any_stage.fault(fault)
    courier = await any_stage.courier()
    await any_stage.settle(courier)
    assert any_stage.seen() == seen
    assert await any_stage.state(delivery) is DeliveryState.HELD
    await any_stage.store.operations.requeue(delivery, "ada")
    await any_stage.settle(courier)
    assert any_stage.seen() == [*seen, "hello"]


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_where_nobody_can_tell_follows_the_policy(kind: ChannelKind, point: str, stage: Stage) -> None:
    """Scenario 28."""
    await stage.put("hello")
    await die_at(stage, point)
    await stage.settle(await stage.courier())
    assert (
        stage.seen()
        == {
            "part-marked": ["(repeated) hello"],
            "part-shown": ["hello", "(repeated) hello"],
            "part-checkpointed": ["hello"],
        }[point]
    )


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
async def test_what_is_held_stops_only_itself(kind: ChannelKind, stage: Stage) -> None:
    """Design 7."""
    stage.pace = RetryPolicy(unknown=Unknown.HOLD)
    await stage.put("hello")
    stage.fault("cut_before")
    await stage.put("next")
    await stage.settle(await stage.courier())
    assert stage.seen() == ["next"]


# ------------------------------------------------------------------------------------------------------- many times


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.parametrize("seed", range(12))
async def test_whatever_is_killed_and_cut_every_part_is_shown_once_and_in_order(
    seed: int, kind: ChannelKind, stage: Stage
) -> None:
    """Scenario 28: with the seeds, several hundred kills and cuts in all, zero lost."""
    chance = random.Random(seed)
    texts = [f"message {n} " + ("and more of it, " * chance.choice([1, 20])) for n in range(6)]
    for number, words in enumerate(texts):
        await stage.put(words, room=f"r{number % 2}", origin=f"run:{number % 2}", ordinal=number)
    for fault in chance.choices(["cut_after", "cut_before", "error", "busy"], k=6):
        stage.fault(fault, seconds=1)
    for _ in range(12):
        courier = await stage.courier(probe=crash_at(chance.choice(POINTS), chance.randint(1, 3)))
        try:
            await stage.settle(courier)
        except Crash:
            stage.clock.advance(LEASE)
    await stage.settle(await stage.courier())
    for room in ("r0", "r1"):
        assert "".join(stage.seen(room)) == "".join(texts[int(room[1]) :: 2])

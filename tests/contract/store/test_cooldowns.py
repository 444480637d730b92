"""Models that rest: for how long, shared by nodes and restarts, asked again by one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.testing.scripted import Scripted
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import ModelRequest
from runtime.errors import Cause, ModelFailed
from runtime.models.choice.alone import Alone
from runtime.models.choice.cooling import Failed, Rest, Standing, is_news, standing
from runtime.store.store import Store, open_store
from tests.contract.store.stage import HandClock, Stage

MARK = "the-key"


def failed(stage: Stage, cause: Cause = Cause.BUSY, wait: float | None = None, **given: object) -> Failed:
    seconds = None if wait is None else timedelta(seconds=wait)
    return replace(Failed("sonnet", MARK, cause, stage.clock(), "It has too much to do.", seconds), **given)  # type: ignore[arg-type]


def seconds(stage: Stage, rest: Rest) -> float | None:
    return (rest.until - stage.clock()).total_seconds() if rest.until else None


async def times(stage: Stage, one: Cause, count: int) -> list[float | None]:
    """The rest after each of so many failures, each made once the rest before is over."""
    found = []
    for _ in range(count):
        rest = await stage.store.cooldowns.failed(failed(stage, one))
        found.append(seconds(stage, rest))
        stage.clock.advance(seconds=seconds(stage, rest) or 1)
    return found


async def test_a_wait_that_the_vendor_names_is_kept_to_the_second(stage: Stage) -> None:
    rest = await stage.store.cooldowns.failed(failed(stage, wait=17))
    assert seconds(stage, rest) == 17
    assert await stage.store.cooldowns.resting() == [rest]


@pytest.mark.parametrize(
    ("cause", "rests"),
    [
        (Cause.BUSY, [5, 60, 300, 1500, 3600, 3600]),
        (Cause.AWAY, [5, 60, 300, 1500, 3600, 3600]),
        (Cause.BILLING, [5 * 3600, 10 * 3600, 24 * 3600, 24 * 3600]),
        (Cause.AUTH, [None, None]),
    ],
)
async def test_each_further_failure_makes_the_rest_longer(
    stage: Stage, cause: Cause, rests: list[float | None]
) -> None:
    assert await times(stage, cause, len(rests)) == rests


async def test_an_answer_ends_it_and_counting_begins_anew(stage: Stage) -> None:
    assert await times(stage, Cause.BUSY, 2) == [5, 60]
    assert await stage.store.cooldowns.clear("sonnet")
    assert await stage.store.cooldowns.resting() == []
    assert not await stage.store.cooldowns.clear("sonnet")
    assert await times(stage, Cause.BUSY, 1) == [5]


async def test_calls_that_fail_together_count_once(stage: Stage) -> None:
    together = failed(stage)
    stage.clock.advance(seconds=1)
    for _ in range(10):
        rest = await stage.store.cooldowns.failed(together)
    assert (rest.count, seconds(stage, rest)) == (1, 5)


async def test_where_one_of_them_names_a_longer_wait_that_counts(stage: Stage) -> None:
    together = failed(stage)
    stage.clock.advance(seconds=1)
    await stage.store.cooldowns.failed(together)
    rest = await stage.store.cooldowns.failed(replace(together, wait=timedelta(seconds=40)))
    assert (rest.count, seconds(stage, rest)) == (1, 40)


async def test_a_refused_key_rests_until_it_is_another(stage: Stage) -> None:
    rest = await stage.store.cooldowns.failed(failed(stage, Cause.AUTH))
    stage.clock.advance(hours=10_000)
    assert standing(rest, MARK, stage.clock()) is Standing.RESTING
    assert standing(rest, "another-key", stage.clock()) is Standing.WELL


async def test_one_of_several_asks_a_model_whose_time_is_over(stage: Stage) -> None:
    store = stage.store.cooldowns
    await store.failed(failed(stage, wait=10))
    assert not await store.probe("sonnet")
    stage.clock.advance(seconds=10)
    assert sorted(await asyncio.gather(*(store.probe("sonnet") for _ in range(5)))) == [False] * 4 + [True]
    (rest,) = await store.resting()
    assert standing(rest, MARK, stage.clock()) is Standing.RESTING
    stage.clock.advance(seconds=121)  # who asked it was killed
    assert await store.probe("sonnet")


async def test_operators_can_read_when_a_model_was_benched_and_well_again(stage: Stage) -> None:
    for _ in range(2):
        await stage.store.cooldowns.failed(failed(stage, Cause.BILLING))
        stage.clock.advance(hours=6)
    await stage.store.cooldowns.failed(failed(stage, model="other"))
    await stage.store.cooldowns.clear("sonnet")
    await stage.store.cooldowns.clear("other")
    assert await stage.audit("model benched") == [("", "sonnet", "It has too much to do.")]
    assert await stage.audit("model well") == [("", "sonnet", "")]


async def test_a_clock_that_is_set_moves_it(stage: Stage) -> None:
    await stage.store.cooldowns.failed(failed(stage, wait=10))
    stage.clock.advance(hours=5)
    await stage.store.cluster.shift(timedelta(hours=5))
    (rest,) = await stage.store.cooldowns.resting()
    assert seconds(stage, rest) == 10


async def test_another_node_knows_it_once_it_is_told_and_tells_of_its_own_models_alone(
    store: Store, stage: Stage, clock: HandClock
) -> None:
    first, second = LocalNotifier(), LocalNotifier()
    here = SharedCooldowns(store=store.cooldowns, notifier=first, now=clock)
    there = SharedCooldowns(store=store.cooldowns, notifier=second, now=clock)
    told: list[str] = []

    async def tell(rest: Rest) -> None:
        told.append(rest.model)

    watching = asyncio.create_task(there.run(tell, {"of another key": MARK, "sonnet": MARK}))
    try:
        await here.failed(failed(stage, Cause.AUTH, model="removed"))
        await here.failed(failed(stage, Cause.AUTH, model="of another key", mark="the old key"))
        await here.failed(failed(stage, Cause.AUTH))
        second.notify("cooldowns")
        async with asyncio.timeout(20):
            while there.of("sonnet") is None or not told:  # noqa: ASYNC110 - a node tells nobody what it knows
                await asyncio.sleep(0.01)
        await here.well("sonnet")
        second.notify("cooldowns")
        async with asyncio.timeout(20):
            while there.of("sonnet") is not None:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
    finally:
        watching.cancel()
    assert told == ["sonnet"]


async def test_operators_are_told_of_a_vendor_that_is_away_for_the_third_time(stage: Stage) -> None:
    store, news = stage.store.cooldowns, list[bool]()
    for _ in range(5):
        rest = await store.failed(failed(stage, Cause.AWAY))
        news.append(is_news(rest))
        stage.clock.advance(hours=2)
    assert news == [False, False, True, False, False]
    assert len(await stage.audit("model benched")) == 1
    assert await store.clear("sonnet")
    assert len(await stage.audit("model well")) == 1


async def failing(stage: Stage, *answers: str | Cause) -> list[Rest]:
    """The rests known after each call of a model that nothing can take the place of."""
    known, told = SharedCooldowns(store=stage.store.cooldowns, notifier=LocalNotifier(), now=stage.clock), list[Rest]()
    script = [ModelFailed("It failed.", cause=one) if isinstance(one, Cause) else one for one in answers]
    alone = Alone(Scripted(script), "sonnet", MARK, cooldowns=known, now=stage.clock)
    for _ in answers:
        stage.clock.advance(seconds=1)
        with suppress(ModelFailed):
            await alone.reply(ModelRequest("", [], []), lambda _: None)
        told += await stage.store.cooldowns.resting()
    return told


async def test_a_model_that_is_alone_is_asked_each_time_and_its_failures_are_counted(stage: Stage) -> None:
    told = await failing(stage, Cause.AWAY, Cause.AWAY, Cause.AWAY, Cause.AWAY)
    assert [one.count for one in told] == [1, 2, 3, 4]
    assert [is_news(one) for one in told] == [False, False, True, True]
    assert len({one.since for one in told}) == 1  # by which operators are told once
    assert {standing(one, MARK, stage.clock()) for one in told} == {Standing.DUE}
    assert len(await stage.audit("model benched")) == 1


async def test_an_answer_of_a_model_that_is_alone_ends_the_count(stage: Stage) -> None:
    told = await failing(stage, Cause.AUTH, Cause.AUTH, "well again", Cause.AUTH)
    assert [one.count for one in told] == [1, 2, 1]
    assert [is_news(one) for one in told] == [True] * 3
    assert len({one.since for one in told}) == 2
    assert len(await stage.audit("model benched")) == 2
    assert len(await stage.audit("model well")) == 1


async def test_a_request_that_was_at_fault_counts_for_no_model(stage: Stage) -> None:
    assert await failing(stage, Cause.REQUEST, Cause.OVERFLOW, Cause.ANSWER) == []


async def test_a_restart_remembers(tmp_path: object, clock: HandClock) -> None:
    url = f"sqlite:///{tmp_path}/again.db"
    opened = await open_store(url, now=clock)
    rest = await opened.cooldowns.failed(Failed("sonnet", MARK, Cause.AUTH, clock(), "Its key was refused."))
    await opened.close()
    again = await open_store(url, now=clock)
    assert await again.cooldowns.resting() == [rest]
    await again.close()

"""Schedules over the real store, agent and courier: each instant once, whatever is killed in between."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from runtime.booking import Quotas
from runtime.contract import (
    Address,
    Asker,
    Choice,
    Content,
    Effect,
    FileRef,
    Identity,
    Misfire,
    Model,
    Occurrence,
    OccurrenceState,
    Schedule,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    ToolContext,
    Usage,
    UserTurn,
    Wanted,
)
from runtime.contract.models import ModelReply
from runtime.errors import ModelFailed, ToolRetry
from runtime.runs import RunState
from runtime.schedules import MADE_UP, MISSED, NO_NEWS, OVERLAPS, PAUSED_AFTER, SPENT, WAITS
from runtime.store.protocol import Stock
from tests.contract.runtime.stage import (
    ADA,
    OTTO,
    SHELL,
    UMA,
    VERA,
    Crash,
    Process,
    Stage,
    address,
    crash_at,
    fake_tool,
)
from tests.contract.runtime.strict import Strict
from tests.fakes.models import held

HOUR: Final = timedelta(hours=1)
HOME: Final = address("r1")
ELSEWHERE: Final = address("r2")
PROMPT: Final = Task(TaskKind.PROMPT, "What changed?")


@dataclass
class Desk:
    """Who plans: a person in a room of the stage."""

    stage: Stage
    process: Process

    async def asker(self, who: Identity = ADA, at: Address = HOME, key: str = "") -> Asker:
        return Asker(await self.stage.store.identified(who), who, at, key)

    async def plan(
        self,
        when: str = "every hour",
        *,
        who: Identity = ADA,
        at: Address = HOME,
        to: Sequence[Address] = (),
        terms: Terms | None = None,
        task: Task = PROMPT,
        name: str = "news",
        key: str = "",
        zone: str = "",
        **more: str,
    ) -> Schedule:
        wanted = Wanted(name=name, when=when, zone=zone, task=task, to=to, terms=terms, **more)
        return await self.process.booking.add(wanted, await self.asker(who, at, key))

    async def fire(self, after: timedelta = HOUR) -> None:
        """Time passes; what is due is fired and worked on until nothing is left to do."""
        self.stage.clock.advance(after)
        await self.process.timer.look()
        await self.process.answer_all()

    async def history(self, schedule: Schedule) -> list[Occurrence]:
        """Oldest first."""
        return (await self.process.booking.history(schedule.id, most=1_000))[::-1]

    async def states(self, schedule: Schedule) -> list[str]:
        return [one.state.value for one in await self.history(schedule)]

    async def now(self, schedule: Schedule) -> Schedule:
        found = await self.stage.store.schedule(schedule.id)
        assert found
        return found


async def desk(stage: Stage, model: Model, *tools: Any, **more: Any) -> Desk:
    return Desk(stage, await stage.process(model, tools, **more))


# ------------------------------------------------------------------------------------------------------------- firing


async def test_what_is_due_is_done_and_shown_once(any_stage: Stage) -> None:
    at = await desk(any_stage, model := Strict(["all is well"]))
    planned = await at.plan("every hour", task=Task(TaskKind.PROMPT, "What changed?\n\n# Here\nas written"))
    await at.fire(HOUR - timedelta(minutes=1))
    assert await any_stage.screen() == []
    await at.fire(timedelta(minutes=1))
    await at.fire(timedelta(minutes=1))
    assert await any_stage.screen() == ["all is well"]
    [one] = await at.history(planned)
    assert (one.state, one.attempts, one.shown, one.wanted) == (OccurrenceState.DONE, 1, 1, 1)
    assert one.planned_at == planned.next_at
    assert (await at.now(planned)).next_at == one.planned_at + HOUR
    [turn] = model.requests[0].turns
    assert isinstance(turn, UserTurn)
    assert "What changed?\n\n# Here\nas written" in turn.text, "the task stands as it was written"
    assert await any_stage.rows("SELECT 1 FROM signals WHERE answered_at IS NULL") == []


async def test_nothing_of_it_is_shown_before_its_end_and_the_room_goes_on_beside_it(stage: Stage) -> None:
    at = await desk(stage, Strict([slow := held("the report"), "hello"]))
    await at.plan()
    stage.clock.advance(HOUR)
    await at.process.timer.look()
    async with at.process.running():
        await slow.begun.wait()
        await at.process.say("hi")
        async with asyncio.timeout(10):
            while not await stage.answers():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0)
        assert await stage.screen() == ["hello"]
        slow.until.set()
        await at.process.rest()
    assert await stage.screen() == ["hello", "the report"]


async def test_every_destination_gets_it_and_the_model_is_asked_once(any_stage: Stage) -> None:
    at = await desk(any_stage, model := Strict(["for all"]))
    planned = await at.plan(to=[HOME, ELSEWHERE])
    await at.fire()
    assert [await any_stage.screen(room) for room in ("r1", "r2")] == [["for all"], ["for all"]]
    assert len(model.requests) == 1
    [one] = await at.history(planned)
    assert (one.shown, one.wanted) == (2, 2)


async def test_a_report_knows_the_one_before(stage: Stage) -> None:
    at = await desk(stage, model := Strict(["three are open", "two are open"]))
    await at.plan()
    await at.fire()
    await at.fire()
    assert "three are open" not in str(model.requests[0].turns)
    assert "three are open" in str(model.requests[1].turns)


@pytest.mark.parametrize("point", ["fired", "model-answered", "step-recorded", "tool-finished", "delivery-stored"])
async def test_killed_anywhere_each_instant_is_fired_worked_on_and_shown_once(any_stage: Stage, point: str) -> None:
    from tests.contract.runtime.stage import READ

    first = await desk(
        any_stage, Strict([READ, "done", READ, "done"]), fake_tool("look", Effect.READ), probe=crash_at(point)
    )
    planned = await first.plan(to=[HOME, ELSEWHERE])
    any_stage.clock.advance(HOUR)
    if point == "fired":
        with pytest.raises(Crash):
            await first.process.timer.look()
    else:
        await first.process.timer.look()
        await first.process.until_crash()
    at = (
        await desk(
            any_stage,
            Strict([READ, "done"] if point in ("fired", "model-answered") else ["done"]),
            fake_tool("look", Effect.READ),
        )
        if point != "delivery-stored"
        else await desk(any_stage, Strict([]))
    )
    await at.process.timer.look()
    await at.process.answer_all()
    assert [await any_stage.screen(room) for room in ("r1", "r2")] == [["done"], ["done"]]
    assert await at.states(planned) == ["done"]


async def test_timers_that_race_fire_each_instant_once(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["x"] * 20))
    planned = [await at.plan(name=f"n{n}", at=address(f"room{n}")) for n in range(20)]
    any_stage.clock.advance(HOUR)
    await asyncio.gather(*(at.process.timer.look() for _ in range(4)))
    await at.process.answer_all()
    assert [await at.states(one) for one in planned] == [["done"]] * 20
    assert [await any_stage.screen(f"room{n}") for n in range(20)] == [["x"]] * 20


async def test_one_that_is_still_at_work_is_not_overtaken(stage: Stage) -> None:
    at = await desk(stage, Strict([SHELL, "done"]), fake_tool("shell", Effect.DANGER))
    planned = await at.plan()
    await at.fire()  # parked with its question
    await at.fire()
    assert [(one.state.value, one.reason) for one in await at.history(planned)] == [
        ("started", ""),
        ("skipped", OVERLAPS),
    ]
    [asked] = await stage.pending()
    assert asked.address == HOME, "cards are asked at home"
    await at.process.click(asked.id, Choice.APPROVE, who=OTTO)
    await at.process.answer_all()
    assert await at.states(planned) == ["done", "skipped"]
    assert (await stage.screen())[-1] == "done"


async def test_a_stop_in_its_home_ends_it_whether_it_works_or_waits(stage: Stage) -> None:
    at = await desk(stage, Strict([SHELL]), fake_tool("shell", Effect.DANGER))
    planned = await at.plan()
    await at.fire()
    await at.process.stop()
    await at.process.answer_all()
    [one] = await at.history(planned)
    assert one.state is OccurrenceState.FAILED
    assert "Stopped by" in one.reason
    assert (await at.now(planned)).failures == 0


async def test_a_paused_or_removed_one_is_not_fired_and_resuming_makes_up_for_nothing(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["again"]))
    planned, gone = await at.plan(), await at.plan(name="gone")
    await at.process.booking.pause(planned.id, await at.asker())
    await at.process.booking.remove(gone.id, await at.asker())
    await at.fire(5 * HOUR)
    assert await at.states(planned) == await at.states(gone) == []
    resumed = await at.process.booking.resume(planned.id, await at.asker())
    assert resumed.next_at
    assert any_stage.clock.at < resumed.next_at <= any_stage.clock.at + HOUR
    await at.fire()
    assert await at.states(planned) == ["done"]


async def test_a_one_off_ends_its_schedule(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["reminded"]))
    planned = await at.plan("in 20 minutes")
    await at.fire(timedelta(minutes=20))
    assert await any_stage.screen() == ["reminded"]
    assert (await at.now(planned)).state is ScheduleState.ENDED


async def test_start_and_end_bound_it(stage: Stage) -> None:
    at = await desk(stage, Strict(["x", "x"]))
    planned = await at.plan("0 * * * *", starts="2026-03-01 14:30", ends="2026-03-01 16:30")
    for _ in range(8):
        await at.fire()
    assert [f"{one.planned_at:%H:%M}" for one in await at.history(planned)] == ["15:00", "16:00"]
    assert (await at.now(planned)).state is ScheduleState.ENDED


async def test_jitter_moves_when_it_fires_and_not_what_it_is(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan(terms=Terms(jitter=timedelta(minutes=10)))
    await at.fire()
    await at.fire(HOUR + timedelta(minutes=4))
    assert len(await at.history(planned)) == 1
    at.process.agent._model = Strict(["y"])
    await at.fire(timedelta(minutes=2))
    assert [one.planned_at for one in await at.history(planned)] == [
        planned.next_at,
        planned.next_at and planned.next_at + HOUR,
    ]


async def test_a_run_that_somebody_asks_for_is_marked_and_changes_no_plan(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["now"]))
    planned = await at.plan()
    await at.process.booking.run_now(planned.id, await at.asker())
    await at.process.answer_all()
    [one] = await at.history(planned)
    assert (one.manual, one.state) == (True, OccurrenceState.DONE)
    assert (await at.now(planned)).next_at == planned.next_at


# ------------------------------------------------------------------------------------------------------------- missed


@pytest.mark.parametrize(
    ("terms", "fired", "why"),
    [
        (Terms(misfire=Misfire.SKIP), [], MISSED),
        (Terms(misfire=Misfire.ONCE), [-1], MADE_UP),
        (Terms(misfire=Misfire.ALL, catch_up=3), [-3, -2, -1], MISSED),
        (Terms(misfire=Misfire.WINDOW, window=timedelta(minutes=100)), [-2, -1], MISSED),
    ],
    ids=["skip", "once", "all", "window"],
)
async def test_what_was_missed_follows_the_policy_and_every_skip_can_be_seen(
    any_stage: Stage, terms: Terms, fired: list[int], why: str
) -> None:
    at = await desk(any_stage, Strict(["x"] * len(fired)))
    planned = await at.plan(terms=terms)
    await at.fire(100 * HOUR + timedelta(minutes=10))
    history = await at.history(planned)
    assert len(history) == 100
    assert [n - 100 for n, one in enumerate(history) if one.state is OccurrenceState.DONE] == fired
    assert {one.reason for one in history if one.state is OccurrenceState.SKIPPED} == {why}


async def test_after_a_very_long_rest_the_skips_are_told_shortly(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan("every 5 minutes")
    await at.fire(timedelta(days=30))
    history = await at.history(planned)
    assert len(history) == 101
    assert history[0].reason == f"{MADE_UP}, and 8,539 before this"


# ------------------------------------------------------------------------------------------------------------- failing


async def test_a_failing_one_is_tried_again_later_and_later_then_paused_and_told(any_stage: Stage) -> None:
    """Scenario 35."""
    at = await desk(any_stage, Strict([ModelFailed("the model is away")] * PAUSED_AFTER))
    planned = await at.plan("every day at 9")
    any_stage.clock.at = planned.next_at or any_stage.clock.at
    await at.fire(timedelta())
    for wait in WAITS:
        await at.fire(wait - timedelta(seconds=1))
        [one] = await at.history(planned)
        assert one.state is OccurrenceState.PLANNED
        await at.fire(timedelta(seconds=2))
    [one] = await at.history(planned)
    assert (one.state, one.attempts) == (OccurrenceState.FAILED, PAUSED_AFTER)
    stopped = await at.now(planned)
    assert (stopped.state, stopped.failures) == (ScheduleState.PAUSED, PAUSED_AFTER)
    [told] = await any_stage.screen()
    assert all(words in told for words in ("news", "5 times in a row", "the model is away")), told
    resumed = await at.process.booking.resume(planned.id, await at.asker())
    assert (resumed.state, resumed.failures, resumed.reason) == (ScheduleState.ACTIVE, 0, "")


async def test_a_success_forgets_the_failures_before_it(stage: Stage) -> None:
    at = await desk(stage, Strict([ModelFailed("away"), "back"]))
    planned = await at.plan("every day at 9")
    stage.clock.at = planned.next_at or stage.clock.at
    await at.fire(timedelta())
    await at.fire(WAITS[0])
    assert await stage.screen() == ["back"]
    assert await at.states(planned) == ["done"]
    assert (await at.now(planned)).failures == 0


async def test_the_next_instant_comes_before_another_try(stage: Stage) -> None:
    at = await desk(stage, Strict([ModelFailed("away")] * 2 + ["back"]))
    planned = await at.plan("every 3 minutes")
    await at.fire(timedelta(minutes=3))
    await at.fire(WAITS[0])  # fails again: five minutes are too long now
    assert await at.states(planned) == ["failed"]
    await at.fire(timedelta(minutes=2))
    assert await at.states(planned) == ["failed", "done"]


# --------------------------------------------------------------------------------------------------- quiet and costly


@pytest.mark.parametrize("text", [NO_NEWS, f"**{NO_NEWS}.**", "no news"])
async def test_without_news_a_quiet_one_is_silent(any_stage: Stage, text: str) -> None:
    at = await desk(any_stage, model := Strict([text, "news!"]))
    planned = await at.plan(terms=Terms(quiet=True))
    await at.fire()
    assert await any_stage.screen() == []
    assert NO_NEWS in str(model.requests[0].turns)
    await at.fire()
    assert await any_stage.screen() == ["news!"]
    assert [one.silent for one in await at.history(planned)] == [True, False]
    assert await any_stage.rows("SELECT 1 FROM signals WHERE answered_at IS NULL") == []


async def test_money_for_a_day_is_a_bound(any_stage: Stage) -> None:
    dear = ModelReply("dear", (), Usage("m", 1, 1, cost_micros=600_000))
    at = await desk(any_stage, Strict([dear, dear, dear]))
    planned = await at.plan(terms=Terms(most_micros=1_000_000))
    for _ in range(3):
        await at.fire()
    assert await at.states(planned) == ["done", "done", "skipped"]
    assert (await at.history(planned))[-1].reason == SPENT
    await at.fire(timedelta(hours=23))
    assert (await at.states(planned))[-1] == "done"


# --------------------------------------------------------------------------------------------------------------- files


class Painter:
    """A tool that puts a file onto the reply."""

    def __init__(self) -> None:
        self.inner = fake_tool("look", Effect.READ)
        self.spec = self.inner.spec

    async def call(self, arguments: object, context: ToolContext) -> str:
        (context.workspace / "chart.png").write_bytes(b"PNG")
        context.attach(FileRef("chart.png", "chart.png", 3, mime="image/png"))
        return "drawn"

    def caution(self) -> str:
        return ""


async def contents(stage: Stage) -> list[Content]:
    rows = await stage.rows("SELECT content FROM deliveries WHERE kind IN ('final', 'report') ORDER BY number")
    return [Content.from_json(row[0]) for row in rows]


@pytest.mark.parametrize("point", ["", "model-answered"])
async def test_what_a_tool_puts_onto_the_reply_is_on_it_also_after_a_kill(any_stage: Stage, point: str) -> None:
    from tests.contract.runtime.stage import READ

    probe = crash_at(point, 2) if point else crash_at("never")
    process = await any_stage.process(Strict([READ, "here it is"]), [Painter()], probe=probe)  # type: ignore[list-item]
    await process.say("draw")
    if point:
        await process.until_crash()
        process = await any_stage.process(Strict(["here it is"]), [Painter()])  # type: ignore[list-item]
    await process.answer_all()
    [content] = await contents(any_stage)
    assert [(file.name, file.path) for file in content.files] == [("chart.png", "chart.png")]


async def test_a_file_reaches_every_destination(stage: Stage) -> None:
    from tests.contract.runtime.stage import READ

    at = await desk(stage, Strict([READ, "here it is"]), Painter())
    await at.plan(to=[HOME, ELSEWHERE])
    await at.fire()
    assert [len(content.files) for content in await contents(stage)] == [1, 1]
    for room in (HOME, ELSEWHERE):
        with stage.workspaces.open(room, "chart.png") as file:
            assert file.read() == b"PNG"


async def test_old_instants_go_and_the_last_that_was_done_stays(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["one", "two", "three"]))
    planned = await at.plan("every hour")
    for _ in range(3):
        await at.fire()
    await at.process.booking.pause(planned.id, await at.asker())
    any_stage.clock.advance(300 * HOUR)
    duty = await any_stage.store.take(at.process.lease, "retention")
    assert duty
    for stock in (Stock.OCCURRENCES, Stock.EVENTS):
        await any_stage.store.sweep(duty, stock, None, any_stage.clock() - 100 * HOUR)
    assert [one.result for one in await at.history(planned) if one.result] == ["three"]
    assert await any_stage.rows("SELECT count(*) FROM signals WHERE kind = 'due'") == [(0,)]


async def test_one_that_is_over_gives_its_name_back_and_goes_with_its_last_instant(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict(["reminded"] * 2))
    for _ in range(2):
        await at.plan("in 20 minutes", name="stretch")
        await at.fire(timedelta(minutes=20))
    duty = await any_stage.store.take(at.process.lease, "retention")
    assert duty
    any_stage.clock.advance(300 * HOUR)
    for stock in (Stock.OCCURRENCES, Stock.SCHEDULES):
        await any_stage.store.sweep(duty, stock, None, any_stage.clock() - 100 * HOUR)
    assert await any_stage.store.schedules() == []


# -------------------------------------------------------------------------------------------------------------- booking


async def refused(work: Any) -> str:
    with pytest.raises(ToolRetry) as told:
        await work
    return str(told.value)


async def test_what_is_wrong_is_refused_in_words(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    await at.plan()
    assert "called 'news'" in await refused(at.plan())
    assert "0 9 * * 1-5" in await refused(at.plan("whenever", name="a")) or "example" in await refused(
        at.plan("whenever", name="a")
    )
    assert "Europe/Berlin" in await refused(at.plan(zone="Europe/Berln", name="b"))
    assert "what is to be done" in await refused(at.plan(task=Task(TaskKind.PROMPT, " \n"), name="c"))
    assert "characters" in await refused(at.plan(task=Task(TaskKind.PROMPT, "x" * 20_001), name="d"))
    assert "may plan" in await refused(at.plan(who=VERA, name="e"))
    assert "is to come" in await refused(at.plan(ends="2026-03-01 12:30", name="f"))
    at.process.booking._serves = lambda room: room == HOME
    assert "no account" in await refused(at.plan(to=[HOME, ELSEWHERE], name="g"))


async def test_a_room_that_cannot_be_posted_to_is_told_when_the_schedule_is_made(stage: Stage) -> None:
    at = await desk(stage, Strict([]))

    async def reach(room: Address) -> str | None:
        return "the bot is no member: /invite it." if room == ELSEWHERE else None

    at.process.booking._reach = reach
    assert "/invite" in await refused(at.plan(to=[ELSEWHERE]))
    await at.plan()


async def test_people_and_rooms_have_so_many_and_no_more_often(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    at.process.booking._quotas = lambda: Quotas(per_person=2, per_room=3, least_interval=timedelta(minutes=10))
    assert "at least 0:10:00" in await refused(at.plan("*/5 * * * *"))
    assert "at least 0:10:00" in await refused(at.plan("0,5 9 * * *"))
    for name in ("a", "b"):
        await at.plan(name=name)
    assert "One person" in await refused(at.plan(name="c", at=ELSEWHERE))
    await at.plan(name="c", who=OTTO)
    assert "One room" in await refused(at.plan(name="d", who=OTTO))


async def test_the_same_wish_once_more_is_the_same_schedule(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    once, again = await at.plan(key="run:call"), await at.plan(key="run:call")
    assert once == again
    assert len(await at.process.booking.listed()) == 1


async def test_names_are_made_of_the_task_and_told_apart(stage: Stage) -> None:
    at = await desk(stage, Strict([]))
    made = [await at.plan(name="", task=Task(TaskKind.PROMPT, "Call Ada about the boat, please")) for _ in range(3)]
    assert [one.name for one in made] == ["call ada about the", "call ada about the 2", "call ada about the 3"]


async def test_only_whoever_made_it_and_operators_change_it(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))
    planned = await at.plan(who=UMA)
    theirs = await at.plan(name="ada's", at=ELSEWHERE)
    booking = at.process.booking
    assert "somebody else" in await refused(booking.pause(theirs.id, await at.asker(UMA)))
    for who in (UMA, OTTO, ADA):
        changed = await booking.change(planned.id, Wanted(when="daily at 10"), await at.asker(who))
        assert changed.next_at
        assert changed.next_at.hour == 10
    assert [s.name for s in await booking.listed(await at.asker(UMA))] == ["news"], (
        "others' rooms are not theirs to see"
    )
    assert len(await booking.listed(await at.asker(OTTO))) == 2
    assert (await booking.find("NEWS", await at.asker(UMA))).id == planned.id
    assert "no schedule called" in await refused(booking.find("ada's", await at.asker(UMA)))


async def test_people_and_rooms_have_zones_of_their_own(any_stage: Stage) -> None:
    at = await desk(any_stage, Strict([]))

    async def first_hour(who: Identity, name: str) -> datetime | None:
        return (await at.plan("daily at 9", who=who, name=name)).next_at

    booking = at.process.booking
    assert await booking.set_zone("berlin", await at.asker(UMA), whole_room=True) == "Europe/Berlin"
    assert await booking.set_zone("America/New_York", await at.asker(ADA)) == "America/New_York"
    hours = [moment.hour for who, name in ((UMA, "a"), (ADA, "b")) if (moment := await first_hour(who, name))]
    assert hours == [8, 14]


async def test_every_change_is_in_the_audit(stage: Stage) -> None:
    at = await desk(stage, Strict(["x"]))
    planned = await at.plan()
    await at.fire()
    await at.process.booking.pause(planned.id, await at.asker())
    await at.process.booking.remove(planned.id, await at.asker())
    rows = await stage.rows("SELECT kind FROM audit WHERE kind LIKE 'schedule%' ORDER BY entry")
    assert [kind for (kind,) in rows] == ["schedule added", "schedule fired", "schedule pause", "schedule remove"]
    assert await stage.states() == [RunState.DONE]

"""Events: rows of the audit with their places; cursors of sinks; what stands last on screen; feedback."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.contract import Identity, Reaction
from runtime.domain.events.event import Event, Only
from runtime.domain.events.feedback import Rating
from runtime.domain.events.sinks import CURSOR_KEPT
from runtime.domain.runs import RunState
from runtime.domain.triggers.trigger import EventKind, EventTrigger
from runtime.events.sinks import role_of
from runtime.store.protocol import AuditCheckpoint, Duty
from runtime.timeline.run_events import run_events
from tests.contract.store.stage import ADA, LIST, OTHER_ROOM, ROOM, SHELL, STRANGER, UMA, Stage, step
from tests.contract.store.test_trigger_fires import begun, kept

UP, DOWN = ("👍",), ("👎",)


async def seal(stage: Stage) -> Duty:
    duty = await stage.duty("sealer")
    assert await stage.store.audit.seal(duty, await stage.store.audit.audit_head(), limit=10_000)
    return duty


async def told(stage: Stage, only: Only | None = None) -> tuple[Event, ...]:
    await seal(stage)
    return (await stage.store.events.page(0, limit=1_000, only=only or Only())).events


async def answered(stage: Stage, text: str = "hello", *, actor: Identity = ADA) -> str:
    """A message with its answer on screen; the delivery's id."""
    claim = await stage.begin(text, actor=actor)
    final = stage.final(claim, "done")
    await stage.store.runs.finish(claim.lane, claim.run_id, claim.next_step, None, RunState.DONE, "done", [final])
    await stage.drain()
    return str(final.id)


async def test_a_message_and_its_answer_are_two_events_of_one_run(stage: Stage) -> None:
    before = await stage.column("SELECT count(*) FROM audit")
    delivery = await answered(stage)
    after = await stage.column("SELECT count(*) FROM audit")
    assert after[0] - before[0] == 2  # as before there were events
    asked, sent = (await told(stage))[-2:]
    assert (asked.word, asked.who, asked.place.room) == ("session.asked", "Ada", str(ROOM))
    assert (sent.word, sent.about, sent.place.room) == ("delivery.sent", delivery, str(ROOM))
    assert asked.place.run == sent.place.run != ""
    assert asked.place.session == sent.place.session != ""


async def test_numbers_are_those_of_the_audit_without_a_gap(stage: Stage) -> None:
    for n in range(3):
        await answered(stage, f"m{n}")
    events = await told(stage)
    head = (await stage.store.audit.audit_head()).number
    assert [one.number for one in events] == list(range(1, head + 1))


async def test_pages_follow_each_other(stage: Stage) -> None:
    for n in range(4):
        await answered(stage, f"m{n}")
    every = await told(stage)
    found: list[Event] = []
    after = 0
    while (page := await stage.store.events.page(after, limit=3)).events:
        assert len(page.events) <= 3
        found += page.events
        after = page.next
    assert tuple(found) == every


async def test_events_of_a_room_a_run_and_some_words(stage: Stage) -> None:
    await answered(stage, "here")
    parked = await stage.park(SHELL, text="there", at=OTHER_ROOM)
    await seal(stage)
    there = await told(stage, Only(room=str(OTHER_ROOM)))
    assert [one.word for one in there] == ["session.asked", "approval.asked"]
    assert {one.place.run for one in there} == {parked.run}
    assert await told(stage, Only(run=str(parked.run))) == there
    assert await told(stage, Only(session=there[0].place.session)) == there
    assert [one.word for one in await told(stage, Only(words=("approval.*",)))] == ["approval.asked"]


async def test_people_see_only_rooms_that_they_may_see(stage: Stage) -> None:
    await answered(stage, "here")
    await stage.park(SHELL, text="there", at=OTHER_ROOM)
    events = await told(stage, Only(rooms=frozenset({str(OTHER_ROOM)})))
    assert {one.place.room for one in events} == {str(OTHER_ROOM)}
    assert await told(stage, Only(rooms=frozenset())) == ()


async def test_a_cursor_older_than_retention_is_told_with_the_oldest(stage: Stage) -> None:
    for n in range(3):
        await answered(stage, f"m{n}")
    duty = await seal(stage)
    rows = await stage.store.audit.audit_rows(0)
    assert await stage.store.audit.cut_audit(duty, AuditCheckpoint(5, rows[4].hash, stage.clock()))
    page = await stage.store.events.page(2)
    assert (page.oldest, page.is_cut(2), page.is_cut(5), page.is_cut(0)) == (6, True, False, False)
    assert page.events[0].number == 6


async def test_a_failed_call_and_a_failed_run_are_told(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, step(LIST))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "error: no such folder")
    await stage.store.runs.finish(claim.lane, claim.run_id, 3, None, RunState.FAILED, "the model is away", [])
    failed, over = (await told(stage))[-2:]
    assert (failed.word, failed.place.run) == ("tool.failed", str(claim.run_id))
    assert (over.word, over.detail, over.place.room) == ("run.failed", "the model is away", str(ROOM))
    trail = await stage.store.traces.trail(str(claim.run_id))
    assert trail is not None
    own = run_events(trail)
    assert [one.number for one in own] == list(range(1, len(own) + 1))
    assert [one.word for one in own if one.word.startswith(("run", "tool"))] == [
        "run.started",
        "tool.started",
        "tool.failed",
        "run.failed",
    ]


async def test_numbers_of_a_run_stay_while_it_goes_on(stage: Stage) -> None:
    claim = await stage.begin()
    seen: list[tuple[int, str]] = []

    async def look() -> None:
        trail = await stage.store.traces.trail(str(claim.run_id))
        assert trail is not None
        now = [(one.number, one.word) for one in run_events(trail)]
        assert now[: len(seen)] == seen
        seen[:] = now

    await look()
    stage.clock.advance(seconds=1)
    await stage.say("and this too")  # joins later, and must not come before what was told
    await stage.record(claim, step(LIST))
    await look()
    stage.clock.advance(seconds=1)
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    await stage.store.runs.steer(claim.lane, claim.run_id)
    await look()
    stage.clock.advance(seconds=1)
    await stage.store.runs.finish(
        claim.lane, claim.run_id, 3, None, RunState.DONE, "done", [stage.final(claim, "done")]
    )
    await look()
    await stage.drain()
    await look()
    assert seen[-1][1] == "delivery.checkpoint"


async def test_what_is_young_in_a_run_at_work_is_told_a_second_later(stage: Stage) -> None:
    claim = await stage.begin()
    trail = await stage.store.traces.trail(str(claim.run_id))
    assert trail is not None
    assert run_events(trail, now=stage.clock()) == ()
    assert run_events(trail, now=stage.clock() + timedelta(seconds=1))


# ------------------------------------------------------------------------------------------------------------- sinks


async def test_a_sink_begins_behind_the_newest_event_and_never_goes_back(stage: Stage) -> None:
    await answered(stage)
    duty = await seal(stage)
    head = (await stage.store.audit.audit_head()).number
    begun = await stage.store.events.begin_cursor(duty, "siem")
    assert begun is not None
    assert begun.number == head
    assert await stage.store.events.sink_reached(duty, "siem", head + 5)
    assert await stage.store.events.sink_reached(duty, "siem", head + 2)
    assert [one.number for one in await stage.store.events.cursors()] == [head + 5]
    again = await stage.store.events.begin_cursor(duty, "siem")
    assert again is not None
    assert again.number == head + 5


async def test_a_failing_sink_keeps_its_place_and_is_told_once(stage: Stage) -> None:
    duty = await seal(stage)
    await stage.store.events.begin_cursor(duty, "siem")
    first = await stage.store.events.sink_failed(duty, "siem", "answered 500")
    assert first is not None
    assert not first.is_to_be_told(stage.clock())
    stage.clock.advance(hours=24)
    later = await stage.store.events.sink_failed(duty, "siem", "answered 503")
    assert later is not None
    assert (later.number, later.failing_since, later.fault) == (first.number, first.failing_since, "answered 503")
    assert later.is_to_be_told(stage.clock())
    assert await stage.store.events.sink_told(duty, "siem")
    assert not await stage.store.events.sink_told(duty, "siem")
    await stage.store.events.sink_reached(duty, "siem", first.number + 1)
    [well] = await stage.store.events.cursors()
    assert (well.failing_since, well.fault, well.told) == (None, "", False)


async def test_a_node_that_lost_the_duty_moves_no_cursor(stage: Stage) -> None:
    duty = await stage.duty("event sinks")
    await stage.store.events.begin_cursor(duty, "siem")
    await stage.store.cluster.leave(stage.lease)
    assert await stage.store.events.begin_cursor(duty, "other") is None
    assert not await stage.store.events.sink_reached(duty, "siem", 99)
    assert await stage.store.events.sink_failed(duty, "siem", "x") is None
    assert not await stage.store.events.sink_told(duty, "siem")
    assert not await stage.store.events.leave_sink(duty)
    assert not await stage.store.events.drop_sinks(duty, [], stage.clock() + timedelta(days=1))
    assert [one.sink for one in await stage.store.events.cursors()] == ["siem"]


async def test_the_place_of_a_sink_goes_a_while_after_no_node_serves_it_any_more(stage: Stage) -> None:
    book, duty = stage.store.events, await stage.duty("event sinks")
    served = await stage.duty(role_of("served"))  # by a node, whose settings have it
    for name in ("served", "gone", "ours", "young"):
        await book.begin_cursor(duty, name)
    stage.clock.advance(hours=8 * 24)
    await book.sink_reached(duty, "young", 99)
    before = stage.clock() - CURSOR_KEPT
    assert await book.drop_sinks(duty, ["ours"], before) == ["gone"]
    assert await book.leave_sink(served)
    assert await book.drop_sinks(duty, ["ours"], before) == ["served"]
    assert [one.sink for one in await book.cursors()] == ["ours", "young"]


# ------------------------------------------------------------------------------------------------------- checkpoints


async def test_the_last_part_on_screen_in_each_room(stage: Stage) -> None:
    await answered(stage, "one")
    stage.clock.advance(seconds=1)
    last = await answered(stage, "two")
    await stage.enqueue("elsewhere", at=OTHER_ROOM)
    stage.clock.advance(seconds=1)
    await stage.drain(OTHER_ROOM)
    found = await stage.store.events.checkpoints()
    assert [one.room for one in found] == [OTHER_ROOM, ROOM]
    assert (found[1].delivery, found[1].receipt, found[1].part) == (last, f"m-{last}", 1)
    assert found[1].shown_at == stage.clock() - timedelta(seconds=1)
    assert [one.room for one in await stage.store.events.checkpoints(ROOM)] == [ROOM]


# ---------------------------------------------------------------------------------------------------------- feedback


async def marks(stage: Stage) -> list[tuple[str, int]]:
    rows = await stage.store.feedback.feedback(stage.clock() - timedelta(days=1))
    return sorted((one.person, int(one.value)) for one in rows)


async def test_a_reaction_becomes_feedback_with_its_run_and_words(stage: Stage) -> None:
    delivery = await answered(stage)
    assert await stage.store.feedback.note_reaction(Reaction(ROOM, UMA, f"m-{delivery}", added=("👍🏽",)))
    [one] = await stage.store.feedback.feedback(stage.clock() - timedelta(days=1))
    assert (one.person, one.value, one.delivery, one.said) == ("Uma", Rating.UP, delivery, "done")
    assert one.run == (await told(stage))[-1].place.run
    assert await stage.store.feedback.own_marks(UMA, ROOM) == {delivery: 1}


@pytest.mark.parametrize(
    ("marked", "left"),
    [
        ([(UP, ()), ((), UP)], []),
        ([(UP, ()), (DOWN, UP)], [("Uma", -1)]),
        ([(UP, ()), (DOWN, ()), ((), DOWN)], [("Uma", 1)]),
        ([(DOWN, ()), (DOWN, ())], [("Uma", -1)]),
        ([(("🎉",), ())], []),
    ],
)
async def test_changing_or_taking_away_a_reaction_updates_it(
    stage: Stage, marked: list[tuple[tuple[str, ...], tuple[str, ...]]], left: list[tuple[str, int]]
) -> None:
    delivery = await answered(stage)
    for added, removed in marked:
        stage.clock.advance(seconds=1)
        await stage.store.feedback.note_reaction(Reaction(ROOM, UMA, f"m-{delivery}", added, removed))
    assert await marks(stage) == left


async def test_a_rating_that_the_platform_tells_twice_counts_once(stage: Stage) -> None:
    delivery = await answered(stage)
    reaction = Reaction(ROOM, UMA, f"m-{delivery}", UP)
    assert [await stage.store.feedback.note_reaction(reaction) for _ in range(2)] == [True, False]
    assert len(await told(stage, Only(words=("feedback.*",)))) == 1


async def test_a_stranger_a_persons_message_and_another_room_give_none(stage: Stage) -> None:
    delivery = await answered(stage)
    for reaction in (
        Reaction(ROOM, STRANGER, f"m-{delivery}", UP),
        Reaction(ROOM, UMA, "m-of-a-person", UP),
        Reaction(OTHER_ROOM, UMA, f"m-{delivery}", UP),
        Reaction(OTHER_ROOM, UMA, added=UP, delivery=delivery),
    ):
        assert not await stage.store.feedback.note_reaction(reaction)
    assert await marks(stage) == []


async def test_words_beside_a_rating_of_the_page_are_kept(stage: Stage) -> None:
    delivery = await answered(stage)
    assert await stage.store.feedback.note_reaction(
        Reaction(ROOM, UMA, added=DOWN, delivery=delivery, words="too long")
    )
    [one] = await stage.store.feedback.feedback(stage.clock() - timedelta(days=1), room=ROOM)
    assert (one.value, one.words) == (Rating.DOWN, "too long")
    assert await stage.store.feedback.feedback(stage.clock() - timedelta(days=1), room=OTHER_ROOM) == []


async def test_feedback_goes_with_its_person_and_is_counted(stage: Stage) -> None:
    delivery = await answered(stage)
    await stage.store.feedback.note_reaction(Reaction(ROOM, UMA, f"m-{delivery}", UP))
    assert [one.word for one in await told(stage, Only(words=("feedback.*",)))] == ["feedback.given"]
    await stage.store.people.remove("Uma", actor="test")
    assert await marks(stage) == []


async def test_a_trigger_that_waits_for_a_reaction_fires_once_for_each(stage: Stage) -> None:
    waits = EventTrigger("t1", "unhappy", EventKind.REACTION, words=("👎",), prompt="Ask why.", agent="main")
    await kept(stage, waits)
    delivery = await answered(stage)
    bad = Reaction(ROOM, UMA, f"m-{delivery}", added=("👎",), words="too short")
    for reaction in (Reaction(ROOM, UMA, f"m-{delivery}", added=("👍",)), bad, bad):
        await stage.store.feedback.note_reaction(reaction)
    (report,) = await begun(stage)
    assert "Ask why." in report.task.text
    assert "too short" in report.task.text
    assert report.to == (ROOM,)

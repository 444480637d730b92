"""Previews in the store: one a run at a time, only while the run is ours, and replaced or thrown away by the last word."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from runtime.contract import Content, DeliveryId, Kind, Receipt, Wire
from runtime.domain.deliveries import DeliveryState, PartEvent, PartState
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol import Claim, Duty, NewDelivery, OpenDelivery, Previewed, Rendered
from tests.contract.store.stage import OTHER_ROOM, SHELL, Stage, reply, step

SLIP = Receipt("m1")


def origin(claim: Claim) -> str:
    return f"run:{claim.run_id}:preview"


def a_preview(claim: Claim, duty: Duty) -> NewDelivery:
    return NewDelivery(
        DeliveryId(new_id()),
        origin(claim),
        0,
        Kind.PROGRESS,
        claim.address,
        Content("so far"),
        rendered=Rendered(duty, (Wire("so far"),), floor="7"),
        reply_to="m0",
    )


async def previewed(stage: Stage, claim: Claim, duty: Duty, *, shown: bool = True) -> DeliveryId:
    new = a_preview(claim, duty)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, new) == Previewed(new.id, begun=True)
    if shown:
        assert await stage.store.outbox.checkpoint(duty, new.id, 1, SLIP)
    return new.id


def last_word(stage: Stage, claim: Claim, edits: DeliveryId | None = None, duty: Duty | None = None) -> NewDelivery:
    rendered = Rendered(duty, (Wire("done"),)) if duty else None
    return replace(stage.final(claim), replaces=origin(claim), edits=edits, rendered=rendered)


async def finish(stage: Stage, claim: Claim, final: NewDelivery) -> bool:
    """Whether its showing is begun with the commit."""
    ended = await stage.store.runs.finish(
        claim.lane, claim.run_id, claim.next_step, reply("done"), RunState.DONE, "done", [final]
    )
    assert ended is not None
    return final.id in ended.begun


async def edits(stage: Stage) -> list[object]:
    return await stage.column("SELECT edits FROM deliveries WHERE kind <> 'progress' ORDER BY number")


async def state(stage: Stage, delivery: DeliveryId) -> DeliveryState:
    row = await stage.store.operations.delivery(delivery)
    assert row is not None
    return row.state


# ---------------------------------------------------------------------------------------------------------- begun


async def test_a_preview_is_marked_with_the_commit_that_makes_it(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    row = await stage.store.operations.delivery(preview)
    assert row is not None
    assert [(p.state, p.body, p.attempts, p.floor) for p in row.parts] == [(PartState.MARKED, "so far", 1, "7")]
    assert await stage.rows("SELECT run_id, reply_to FROM deliveries") == [(claim.run_id, "m0")]


async def test_a_run_has_one_at_a_time(stage: Stage) -> None:
    """A run that goes on after a kill has the one of before back, with its receipt once it is on screen."""
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    again = a_preview(claim, duty)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, again) == Previewed(preview)
    await stage.store.outbox.checkpoint(duty, preview, 1, SLIP)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, again) == Previewed(preview, receipt=SLIP)
    assert len(await stage.rows("SELECT 1 FROM deliveries")) == 1


async def test_ten_at_once_are_one(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    new = [a_preview(claim, duty) for _ in range(10)]
    made = await asyncio.gather(*(stage.store.outbox.preview(claim.lane, claim.run_id, one) for one in new))
    assert [one.begun for one in made if one].count(True) == 1
    assert len({one.id for one in made if one}) == 1


async def test_one_that_was_thrown_away_may_be_followed_by_another(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    first = await previewed(stage, claim, duty, shown=False)
    assert await stage.store.outbox.drop(duty, first, 1, PartEvent.RETRY, "busy")
    await previewed(stage, claim, duty)
    assert await stage.column("SELECT ordinal FROM deliveries ORDER BY number") == [0, 1]


async def test_there_is_none_for_a_lane_that_is_not_ours(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    before = await stage.everything()
    stale = replace(claim.lane, fence=claim.lane.fence - 1)
    assert await stage.store.outbox.preview(stale, claim.run_id, a_preview(claim, duty)) is None
    assert await stage.everything() == before


async def test_there_is_none_of_a_run_that_has_ended(stage: Stage) -> None:
    """It would stay for ever."""
    claim, duty = await stage.begin(), await stage.duty()
    await stage.finish(claim)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, a_preview(claim, duty)) is None


async def test_there_is_none_by_a_courier_that_lost_its_duty(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    stale = replace(duty, fence=duty.fence + 1)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, a_preview(claim, stale)) is None


async def test_there_is_none_where_something_waits_to_be_said(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    await stage.enqueue("a report")
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, a_preview(claim, duty)) is None
    assert await stage.column("SELECT kind FROM deliveries") == ["report"]


async def test_what_waits_in_another_room_is_no_matter(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    await stage.enqueue("a report", at=OTHER_ROOM)
    assert await stage.store.outbox.preview(claim.lane, claim.run_id, a_preview(claim, duty)) is not None


# -------------------------------------------------------------------------------------------------------- replaced


async def test_the_last_word_takes_the_place_of_what_is_on_screen(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty)
    assert await finish(stage, claim, last_word(stage, claim, preview, duty))
    assert await edits(stage) == [preview]
    [open_] = await stage.waiting()
    assert (open_.edit_of, open_.over_preview) == (SLIP, True)


async def test_it_does_so_too_where_its_courier_did_not_know(stage: Stage) -> None:
    """The preview is of an earlier life: what was rendered as a message of its own is not begun."""
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty)
    assert not await finish(stage, claim, last_word(stage, claim, None, duty))
    [open_] = await stage.waiting()
    assert (open_.state, open_.delivery.edits, open_.edit_of) == (DeliveryState.QUEUED, preview, SLIP)


async def test_one_that_is_gone_is_not_replaced(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    await stage.store.outbox.drop(duty, preview, 1, PartEvent.RETRY, "busy")
    assert not await finish(stage, claim, last_word(stage, claim, preview, duty))
    assert await edits(stage) == [None]


async def test_without_any_the_last_word_goes_up_with_its_commit(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    assert await finish(stage, claim, last_word(stage, claim, None, duty))
    assert await edits(stage) == [None]


@pytest.mark.parametrize("how", ["marked", "unsettled"])
async def test_one_that_may_be_on_screen_is_replaced_as_soon_as_that_is_known(stage: Stage, how: str) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    if how == "unsettled":
        await stage.store.outbox.doubt(duty, preview, 1, stage.clock(), "cut")
    assert not await finish(stage, claim, last_word(stage, claim, None, duty))
    await stage.store.outbox.checkpoint(duty, preview, 1, SLIP)
    [open_] = await stage.waiting()
    assert (open_.delivery.edits, open_.edit_of, open_.over_preview) == (preview, SLIP, True)


async def test_one_that_never_left_is_thrown_away_in_the_same_commit(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    waiting = replace(a_preview(claim, duty), rendered=None)
    assert await stage.store.outbox.enqueue(waiting)
    await finish(stage, claim, last_word(stage, claim))
    assert await state(stage, waiting.id) is DeliveryState.DISCARDED
    assert await edits(stage) == [None]
    assert not await stage.store.outbox.render(duty, waiting.id, [Wire("so far")], mark=True)


async def test_the_courier_and_the_last_word_at_once_agree_on_what_becomes_of_it(stage: Stage) -> None:
    for _ in range(5):
        claim, duty = await stage.begin(), await stage.duty()
        waiting = replace(a_preview(claim, duty), rendered=None)
        await stage.store.outbox.enqueue(waiting)
        marked, _ = await asyncio.gather(
            stage.store.outbox.render(duty, waiting.id, [Wire("so far")], mark=True),
            finish(stage, claim, last_word(stage, claim)),
        )
        assert (await state(stage, waiting.id) is DeliveryState.OPEN) is marked
        assert ((await edits(stage))[-1] == waiting.id) is marked
        if marked:
            await stage.store.outbox.checkpoint(duty, waiting.id, 1, SLIP)
        await show_all(stage, duty)


async def show_all(stage: Stage, duty: Duty) -> None:
    for open_ in await stage.waiting():
        await stage.store.outbox.render(duty, open_.delivery.id, [Wire("done")], mark=True)
        await stage.store.outbox.checkpoint(duty, open_.delivery.id, 1, SLIP)


async def test_of_several_questions_the_first_takes_its_place(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty)
    await stage.record(claim, *(step(replace(SHELL, id=f"{n}"), StepState.ASKED) for n in range(3)))
    questions = [stage.ask(claim, number, SHELL) for number in range(claim.next_step + 1, claim.next_step + 4)]
    over = [replace(one, card=replace(one.card, replaces=origin(claim))) for one in questions]
    assert await stage.store.runs.park(claim.lane, claim.run_id, over) is not None
    assert await edits(stage) == [preview, None, None]


async def test_what_is_said_after_a_question_replaces_a_preview_of_its_own(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    await previewed(stage, claim, duty)
    await stage.record(claim, step(SHELL, StepState.ASKED))
    question = stage.ask(claim, claim.next_step + 1, SHELL)
    over = replace(question, card=replace(question.card, replaces=origin(claim)))
    await stage.store.runs.park(claim.lane, claim.run_id, [over])
    await show_all(stage, duty)
    await stage.click(question.id)
    await show_all(stage, duty)
    resumed = await stage.claim()
    second = await previewed(stage, resumed, duty)
    await finish(stage, resumed, last_word(stage, resumed, second))
    assert (await edits(stage))[-1] == second


# ----------------------------------------------------------------------------------------- thrown away and let go of


async def test_one_that_is_thrown_away_does_not_come_back(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    assert await stage.store.outbox.drop(duty, preview, 1, PartEvent.RETRY, "busy")
    assert await state(stage, preview) is DeliveryState.DISCARDED
    assert await stage.waiting() == []
    assert not await stage.store.outbox.drop(duty, preview, 1, PartEvent.RETRY, "busy")
    assert not await stage.store.outbox.mark(duty, preview, 1)
    assert await stage.store.operations.requeue(preview, "Ada") is None
    assert await stage.rows("SELECT what, detail FROM moves") == [("drop", "part 1: busy")]


async def test_what_cannot_change_its_preview_goes_as_a_message_of_its_own(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty)
    final = last_word(stage, claim, preview, duty)
    await finish(stage, claim, final)
    assert await stage.store.outbox.detach(duty, final.id, 1, "it was deleted")
    [open_] = await stage.waiting()
    assert isinstance(open_, OpenDelivery)
    assert (open_.delivery.edits, open_.edit_of, open_.over_preview) == (None, None, False)
    assert [part.state for part in open_.parts] == [PartState.PENDING]


async def test_the_story_of_a_message_has_its_previews(stage: Stage) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    first = await previewed(stage, claim, duty, shown=False)
    await stage.store.outbox.drop(duty, first, 1, PartEvent.RETRY, "busy")
    second = await previewed(stage, claim, duty)
    final = last_word(stage, claim, second)
    await finish(stage, claim, final)
    trail = await stage.store.traces.trail(claim.run_id)
    assert trail is not None
    assert [one.id for one in trail.deliveries] == [first, second, final.id]
    assert [(one.what, one.detail) for one in trail.moves] == [("drop", "part 1: busy")]


@pytest.mark.parametrize("act", ["drop", "detach"])
async def test_a_lost_duty_does_neither(stage: Stage, act: str) -> None:
    claim, duty = await stage.begin(), await stage.duty()
    preview = await previewed(stage, claim, duty, shown=False)
    stale = replace(duty, fence=duty.fence + 1)
    before = await stage.everything()
    if act == "drop":
        assert not await stage.store.outbox.drop(stale, preview, 1, PartEvent.RETRY, "busy")
    else:
        assert not await stage.store.outbox.detach(stale, preview, 1, "gone")
    assert await stage.everything() == before

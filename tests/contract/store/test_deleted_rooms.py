"""Conversations that people delete: gone at once, taken back for a while, then really removed, and nothing of others with them."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import Address, Busy, Identity, Outcome, RoomMark, RunId, SessionKey, Stopped
from runtime.contract.agents.tasks import PostedTask, TaskActor, TaskRequest
from runtime.store.protocol import Cleared
from runtime.store.shelf.deleting import NOT_YOURS, OTHERS_HERE, PLANNED_HERE, TAKEN_BACK_WITHIN, WATCHED_HERE
from runtime.store.shelf.removing import ROOMS_AT_ONCE
from tests.contract.store.stage import ADA, LIST, OTHER_ROOM, OTTO, ROOM, SHELL, UMA, Stage, address, step
from tests.contract.store.test_commands import plan_for
from tests.contract.store.test_trigger_fires import DEPLOY, of_person

SECRET = "the colour is teal"


async def delete(stage: Stage, *, actor: Identity = ADA, at: Address = ROOM) -> str | None:
    """Why it was refused, or None."""
    taken = await stage.take_in(stage.signal(Stopped(deletes=True), actor=actor, at=at))
    assert taken.verdict.outcome is (Outcome.UNCHANGED if taken.verdict.notice else Outcome.DECIDED)
    return taken.verdict.notice


async def listed(stage: Stage, who: Identity = ADA) -> list[str]:
    return [room.address.room for room in await stage.store.history.rooms("web", "main", who)]


async def cleared(stage: Stage) -> Cleared:
    found = await stage.store.retention.clear_deleted(await stage.duty("retention"), limit=2)
    assert found is not None
    return found


async def talk(stage: Stage, at: Address = ROOM) -> None:
    """A message with a call and its answer, shown."""
    claim = await stage.begin(SECRET, at=at)
    await stage.record(claim, step(LIST))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, SECRET)
    await stage.finish(replace(claim, next_step=3), SECRET)
    await stage.drain(at)


async def test_a_deleted_conversation_leaves_no_word_of_it_and_takes_nothing_else_along(stage: Stage) -> None:
    for at in (ROOM, OTHER_ROOM):
        for _ in range(3):
            await talk(stage, at)
            stage.clock.advance(seconds=1)
    elsewhere = [
        row for rows in (await stage.everything()).values() for row in rows if str(OTHER_ROOM) in map(str, row)
    ]
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(title="teal"))
    assert await delete(stage) is None
    assert await listed(stage) == [OTHER_ROOM.room]
    assert await cleared(stage) == Cleared(0, ()), "it can still be taken back"
    stage.clock.advance(seconds=TAKEN_BACK_WITHIN.total_seconds())
    first = await cleared(stage)
    assert first.removed > 0
    for _ in range(10):
        if (last := await cleared(stage)).bare:
            break
    assert last.bare == (ROOM,)
    await stage.store.retention.end_deleted(await stage.duty("retention"), last.bare)
    after = await stage.everything()
    left = [(name, row) for name, rows in after.items() for row in rows if str(ROOM) in map(str, row)]
    assert [(name, row) for name, row in left if "teal" in str(row)] == []
    assert [row for rows in after.values() for row in rows if str(OTHER_ROOM) in map(str, row)] == elsewhere
    assert (await stage.store.history.view(ROOM)).entries == ()
    assert await stage.store.history.room_owner(ROOM) == ADA
    assert [one[::2] for one in await stage.audit("conversation deleted")] == [("Ada", str(ROOM))]
    assert [one[1] for one in await stage.audit("conversation removed")] == [str(ROOM)]
    assert await cleared(stage) == Cleared(0, ())


async def test_what_is_under_way_ends_and_its_question_is_withdrawn(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(seconds=1)
    await stage.say("and then?")
    assert await delete(stage) is None
    assert await stage.column("SELECT state FROM approvals") == ["void"]
    assert await stage.column("SELECT state FROM runs") == ["stopped"]
    assert await stage.column("SELECT waiting FROM sessions") == [0]
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None, "what waited is not answered"
    await stage.drain()
    stage.clock.advance(hours=1)
    while not (last := await cleared(stage)).bare:
        assert last.removed
    assert await stage.column("SELECT COUNT(*) FROM approvals") == [0]


async def test_a_deleted_conversation_is_taken_back_in_time_and_by_its_owner_alone(stage: Stage) -> None:
    await talk(stage)
    await delete(stage)
    shelf = stage.store.shelf
    assert not await shelf.restore_room(UMA, "Uma", ROOM)
    assert await shelf.restore_room(ADA, "Ada", ROOM)
    assert await listed(stage) == [ROOM.room]
    stage.clock.advance(hours=1)
    assert await cleared(stage) == Cleared(0, ())
    await delete(stage)
    stage.clock.advance(seconds=TAKEN_BACK_WITHIN.total_seconds())
    assert not await shelf.restore_room(ADA, "Ada", ROOM)


async def test_who_goes_on_in_a_deleted_conversation_keeps_it(stage: Stage) -> None:
    await talk(stage)
    await delete(stage)
    stage.clock.advance(hours=1)
    await stage.say("wait, one more thing")
    assert await listed(stage) == [ROOM.room]
    assert await cleared(stage) == Cleared(0, ())
    assert SECRET in [entry.body for entry in (await stage.store.history.view(ROOM)).entries]
    assert await stage.column("SELECT COUNT(*) FROM deleted_rooms") == [0]


async def test_nobody_deletes_what_is_not_theirs_alone(stage: Stage) -> None:
    await talk(stage)
    assert await delete(stage, actor=OTTO) == NOT_YOURS
    stage.clock.advance(seconds=1)
    await stage.say("me too", actor=OTTO)
    assert await delete(stage) == OTHERS_HERE
    await stage.say("mine", at=OTHER_ROOM)
    await of_person(stage, DEPLOY, room=OTHER_ROOM)
    assert await delete(stage, at=OTHER_ROOM) == WATCHED_HERE
    await plan_for(stage, "news", OTHER_ROOM)
    assert await delete(stage, at=OTHER_ROOM) == PLANNED_HERE
    assert await stage.column("SELECT COUNT(*) FROM deleted_rooms") == [0]


async def removed(stage: Stage) -> None:
    """Nothing is left of ROOM."""
    for _ in range(10):
        if (last := await cleared(stage)).bare:
            break
    assert last.bare == (ROOM,)


async def test_a_written_command_and_what_was_to_be_done_go_with_a_conversation(stage: Stage) -> None:
    await stage.say("/task find teal", at=ROOM)
    await stage.drain()
    by = TaskActor(ROOM, SessionKey("s"), RunId("r1"), None, "k1")
    posted = await stage.store.tasks.post(TaskRequest("teal", "buy it"), by)
    assert isinstance(posted, PostedTask)
    stage.clock.advance(seconds=1)
    assert await delete(stage) is None
    assert await stage.column("SELECT state FROM tasks") == ["dropped"] * 2, "nobody begins with it any more"
    await stage.drain()
    stage.clock.advance(hours=1)
    await removed(stage)
    after = await stage.everything()
    assert [name for name in ("signals", "tasks", "deliveries", "parts") if "teal" in str(after[name])] == []
    assert await stage.store.history.room_owner(ROOM) == ADA


async def test_what_an_agent_handed_over_and_nobody_began_with_ends_too(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(seconds=1)
    await stage.say("teal as well")
    await stage.write("UPDATE signals SET kind = 'due', trigger = 'hand over' WHERE state = 'waiting'")
    assert await delete(stage) is None
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    stage.clock.advance(hours=1)
    await removed(stage)
    assert "teal" not in str((await stage.everything())["signals"])


async def test_what_a_node_began_to_remove_no_other_gives_back(stage: Stage) -> None:
    await talk(stage)
    await delete(stage)
    stage.clock.advance(seconds=TAKEN_BACK_WITHIN.total_seconds())
    await cleared(stage)
    stage.clock.advance(seconds=-2)  # the clock of another node is behind
    assert not await stage.store.shelf.restore_room(ADA, "Ada", ROOM)


async def test_words_of_somebody_else_that_came_in_beside_the_deletion_keep_a_conversation(stage: Stage) -> None:
    await talk(stage)
    stage.clock.advance(seconds=2)
    await delete(stage)
    stage.clock.advance(seconds=-1)  # the clock of another node is behind
    await stage.say("wait", actor=OTTO)
    stage.clock.advance(hours=1)
    assert await cleared(stage) == Cleared(0, ())
    assert SECRET in [entry.body for entry in (await stage.store.history.view(ROOM)).entries]


async def test_conversations_that_cannot_go_yet_hold_up_no_other(stage: Stage) -> None:
    for number in range(ROOMS_AT_ONCE):
        await stage.say("stays", at=address(f"r1{number}"))
        await stage.store.outbox.enqueue(stage.new_delivery(at=address(f"r1{number}")))
        await delete(stage, at=address(f"r1{number}"))
    stage.clock.advance(seconds=1)
    await stage.say("goes")
    await delete(stage)
    stage.clock.advance(hours=1)
    assert (await cleared(stage)).bare == ()
    assert (await cleared(stage)).bare == (ROOM,)

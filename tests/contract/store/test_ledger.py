"""What was committed, as conversations: in the order in which people saw it, each thing once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runtime.contract import (
    NOTHING_RAN,
    Author,
    Choice,
    Entry,
    FileRef,
    Identity,
    RanTool,
    Reasoning,
    Receipt,
    RoomMark,
    Wire,
    WorkBehind,
)
from runtime.domain.runs import StepState
from tests.contract.store.stage import ADA, LIST, OTHER_ROOM, OTTO, ROOM, SHELL, STRANGER, Stage, address, reply, step


def words(entries: Sequence[Entry]) -> list[str]:
    return [entry.body for entry in entries]


async def exchange(stage: Stage, said: str, answer: str) -> None:
    claim = await stage.begin(said)
    stage.clock.advance(seconds=1)
    await stage.finish(claim, answer)
    stage.clock.advance(seconds=1)
    await stage.drain()
    stage.clock.advance(seconds=1)


# ----------------------------------------------------------------------------------------------------------- rooms


async def test_rooms_are_those_in_which_the_person_spoke_newest_first(stage: Stage) -> None:
    for room in ("a", "b", "c"):
        await stage.say(f"hello {room}", at=address(room))
        stage.clock.advance(seconds=1)
    await stage.say("not mine", actor=OTTO, at=address("d"))
    await stage.say("more", at=address("a"))
    assert [r.address.room for r in await stage.store.history.rooms("web", "main", ADA)] == ["a", "c", "b"]


async def test_a_room_is_called_by_its_first_words(stage: Stage) -> None:
    await stage.say("  list\n the   files ")
    await stage.say("and then")
    (room,) = await stage.store.history.rooms("web", "main", ADA)
    assert room.title == "list the files"


async def test_operators_read_the_titles_of_conversations(stage: Stage) -> None:
    await stage.say("hello b", at=address("b"))
    stage.clock.advance(seconds=1)
    await stage.say("hello c", actor=OTTO, at=address("c"))
    await stage.say("elsewhere", at=replace(ROOM, account="other", room="e"))
    both = {address("b"): "hello b", address("c"): "hello c"}
    assert await stage.store.traces.titles([address("b"), address("c"), address("d")]) == both
    assert await stage.store.traces.conversations("web", "main") == both
    assert await stage.store.traces.conversations("web", "main", limit=1) == {address("c"): "hello c"}
    await stage.store.shelf.mark_room(ADA, address("b"), RoomMark("Greetings"))
    assert await stage.store.traces.titles([address("b")]) == {address("b"): "hello b"}
    mine = {**both, address("b"): "Greetings"}
    assert await stage.store.traces.titles([address("b"), address("c")], ADA) == mine
    assert await stage.store.traces.conversations("web", "main", owner=ADA) == mine


async def test_a_long_title_is_cut(stage: Stage) -> None:
    await stage.say("word " * 100)
    (room,) = await stage.store.history.rooms("web", "main", ADA)
    assert len(room.title) <= 80


async def test_an_answer_moves_its_room_up(stage: Stage) -> None:
    await stage.say("one", at=address("a"))
    claim = await stage.claim()
    stage.clock.advance(seconds=1)
    await stage.say("two", at=address("b"))
    stage.clock.advance(seconds=1)
    await stage.finish(claim)
    await stage.drain(address("a"))
    assert [r.address.room for r in await stage.store.history.rooms("web", "main", ADA)] == ["a", "b"]


async def test_a_room_tells_how_many_questions_wait(stage: Stage) -> None:
    parked = await stage.park(SHELL, replace(SHELL, id="c9"))
    assert [r.waiting_approvals for r in await stage.store.history.rooms("web", "main", ADA)] == [2]
    await stage.click(parked.approvals[0])
    assert [r.waiting_approvals for r in await stage.store.history.rooms("web", "main", ADA)] == [1]


async def test_rooms_of_accounts_with_like_names_are_kept_apart(stage: Stage) -> None:
    await stage.say("here", at=replace(ROOM, account="a_b"))
    await stage.say("there", at=replace(ROOM, account="axb"))
    assert [r.address.account for r in await stage.store.history.rooms("web", "a_b", ADA)] == ["a_b"]


async def test_a_refused_message_makes_no_room(stage: Stage) -> None:
    await stage.say("hello", actor=STRANGER)
    assert await stage.store.history.rooms("web", "main", STRANGER) == []
    assert await stage.store.history.room_owner(ROOM) is None


async def test_a_room_belongs_to_who_spoke_first(stage: Stage) -> None:
    await stage.say("first", actor=OTTO)
    stage.clock.advance(seconds=1)
    await stage.say("second")
    assert await stage.store.history.room_owner(ROOM) == OTTO
    assert await stage.store.history.room_owner(OTHER_ROOM) is None


# -------------------------------------------------------------------------------------------------------- timeline


async def test_a_conversation_is_told_in_order(stage: Stage) -> None:
    await exchange(stage, "one", "answer one")
    await exchange(stage, "two", "answer two")
    told = (await stage.store.history.view(ROOM)).entries
    assert words(told) == ["one", "answer one", "two", "answer two"]
    assert [entry.author for entry in told] == [Author.PERSON, Author.AGENT] * 2


async def test_a_message_tells_who_said_it_and_under_which_key(stage: Stage) -> None:
    taken = await stage.say("see", files=[FileRef("a.txt", "in/a.txt", 3)])
    (entry,) = (await stage.store.history.view(ROOM)).entries
    assert (entry.id, entry.name, entry.at) == (taken.verdict.signal_id, "Ada", stage.clock())
    assert (entry.files, entry.client_id) == ((FileRef("a.txt", "in/a.txt", 3),), f"e{stage.events}")


async def test_a_message_tells_whether_it_is_answered(stage: Stage) -> None:
    await stage.say("one")
    assert [e.answered for e in (await stage.store.history.view(ROOM)).entries] == [False]
    await stage.finish(await stage.claim())
    await stage.drain()
    assert [e.answered for e in (await stage.store.history.view(ROOM)).entries if e.author is Author.PERSON] == [True]


async def test_what_is_not_shown_yet_is_not_told(stage: Stage) -> None:
    await stage.finish(await stage.begin("one"))
    assert words((await stage.store.history.view(ROOM)).entries) == ["one"]


async def test_twins_are_told_both(stage: Stage) -> None:
    await stage.say("one")
    await stage.say("one")
    assert words((await stage.store.history.view(ROOM)).entries) == ["one", "one"]


async def test_clicks_and_stops_are_not_told(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    await stage.click(parked.approvals[0])
    await stage.stop()
    assert words((await stage.store.history.view(ROOM)).entries) == ["do it"]


async def test_other_rooms_are_not_told(stage: Stage) -> None:
    await stage.say("there", at=OTHER_ROOM)
    assert (await stage.store.history.view(ROOM)).entries == ()


async def test_an_edit_takes_the_place_of_what_it_replaces(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    await stage.drain()
    (asked,) = [e for e in (await stage.store.history.view(ROOM)).entries if e.author is Author.AGENT]
    stage.clock.advance(hours=2)
    await stage.click(parked.approvals[0], Choice.DENY)
    await stage.drain()
    (settled,) = [e for e in (await stage.store.history.view(ROOM)).entries if e.author is Author.AGENT]
    assert (settled.id, settled.at) == (asked.id, asked.at)
    assert (asked.version, settled.version) == (0, 1)
    assert "Denied" in settled.body


async def test_an_edit_before_the_entries_that_are_read_is_told_by_its_version(stage: Stage) -> None:
    parked = await stage.park(SHELL, text="do it")
    await stage.drain()
    card = (await stage.store.history.view(ROOM)).entries[-1]
    assert (await stage.store.history.view(ROOM)).edited == {}
    await stage.click(parked.approvals[0], Choice.DENY)
    await stage.drain()
    for n in range(2):
        stage.clock.advance(seconds=1)
        await stage.say(f"more {n}")
    assert (await stage.store.history.view(ROOM, limit=2)).edited == {card.id: 1}
    assert (await stage.store.history.view(ROOM)).edited == {}


async def test_each_part_of_a_long_answer_is_told(stage: Stage) -> None:
    duty = await stage.duty()
    long = await stage.enqueue()
    await stage.store.outbox.render_shown(duty, long, [Wire("a"), Wire("b"), Wire("c")], [Receipt(x) for x in "123"])
    told = (await stage.store.history.view(ROOM)).entries
    assert (words(told), [e.id for e in told]) == (["a", "b", "c"], [f"{long}.{n}" for n in (1, 2, 3)])


async def test_an_answer_keeps_what_ran_and_was_thought_behind_it(stage: Stage) -> None:
    claim = await stage.begin("list")
    thinking = replace(reply("", LIST, SHELL), reasoning=Reasoning("The files first."))
    await stage.store.runs.record_model(
        claim.lane, claim.run_id, 1, thinking, [step(LIST), step(SHELL, StepState.DONE, "no")]
    )
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    stage.clock.advance(seconds=3)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    await stage.finish(replace(claim, next_step=4), "one file")
    await stage.drain()
    await exchange(stage, "thanks", "welcome")
    _, answer, _, welcome = (await stage.store.history.view(ROOM)).entries
    assert answer.behind == WorkBehind((RanTool(LIST.tool, 3.0),), ("",))
    assert welcome.behind == NOTHING_RAN
    whole = WorkBehind((RanTool(LIST.tool, 3.0, LIST.arguments, "a.txt"),), ("The files first.",))
    assert await stage.store.history.work_behind(ROOM, answer.id) == whole
    for room, entry in ((OTHER_ROOM, answer.id), (ROOM, welcome.id), (ROOM, "nothing")):
        assert await stage.store.history.work_behind(room, entry) == NOTHING_RAN


async def test_only_the_last_are_told(stage: Stage) -> None:
    for n in range(6):
        await exchange(stage, f"q{n}", f"a{n}")
    assert words((await stage.store.history.view(ROOM, limit=3)).entries) == ["a4", "q5", "a5"]


async def test_going_back_page_by_page_tells_everything_once(stage: Stage) -> None:
    for n in range(7):
        await exchange(stage, f"q{n}", f"a{n}")
    whole = (await stage.store.history.view(ROOM)).entries
    told: tuple[Entry, ...] = ()
    page = (await stage.store.history.view(ROOM, limit=3)).entries
    while page:
        told = page + told
        page = (await stage.store.history.view(ROOM, before=page[0].at, limit=3)).entries
    assert told == whole


async def test_a_page_never_ends_inside_one_instant(stage: Stage) -> None:
    """Parts shown in one commit have one time; a page that cut between them would lose some for good."""
    duty = await stage.duty()
    for n in range(3):
        long = await stage.enqueue()
        await stage.store.outbox.render_shown(
            duty, long, [Wire(f"{n}a"), Wire(f"{n}b"), Wire(f"{n}c")], [Receipt("x")] * 3
        )
        stage.clock.advance(seconds=1)
    whole = (await stage.store.history.view(ROOM)).entries
    told: tuple[Entry, ...] = ()
    page = (await stage.store.history.view(ROOM, limit=4)).entries
    while page:
        told = page + told
        page = (await stage.store.history.view(ROOM, before=page[0].at, limit=4)).entries
    assert told == whole


# ------------------------------------------------------------------------------------------------------------ busy


async def test_a_room_is_busy_until_its_answer_is_shown(stage: Stage) -> None:
    assert not (await stage.store.history.view(ROOM)).busy
    await stage.say("hello")
    assert (await stage.store.history.view(ROOM)).busy
    await stage.finish(await stage.claim())
    assert (await stage.store.history.view(ROOM)).busy
    await stage.drain()
    assert not (await stage.store.history.view(ROOM)).busy


async def test_a_room_that_waits_for_a_person_is_not_busy(stage: Stage) -> None:
    await stage.park(SHELL)
    await stage.drain()
    assert not (await stage.store.history.view(ROOM)).busy


async def test_another_room_is_not_busy(stage: Stage) -> None:
    await stage.say("hello")
    assert not (await stage.store.history.view(OTHER_ROOM)).busy


async def test_a_person_sees_no_rooms_of_others(stage: Stage) -> None:
    await stage.say("hello", actor=OTTO)
    assert await stage.store.history.rooms("web", "main", Identity("web:ada")) == []


async def test_own_rooms_are_those_in_which_one_spoke_first(stage: Stage) -> None:
    own, others = (replace(ROOM, room=f"room_{n}") for n in range(2))
    await stage.say("mine", at=own)
    await stage.say("and others", actor=OTTO, at=own)
    await stage.say("theirs", actor=OTTO, at=others)
    stage.clock.advance(seconds=1)
    await stage.say("late", at=others)
    await stage.say("elsewhere", at=replace(own, account="xain"))
    found = await stage.store.history.own_rooms(ROOM.channel, ROOM.account, ADA)
    assert found == {own}
    assert [room for room in (own, others) if await stage.store.history.room_owner(room) == ADA] == [own]

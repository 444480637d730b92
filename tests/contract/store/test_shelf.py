"""How people keep their conversations on the page, and what they find in them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from runtime.contract import Author, Identity, Room, RoomMark
from runtime.store.protocol.retention import Stock
from tests.contract.store.stage import ADA, ROOM, UMA, Stage
from tests.contract.store.test_retention import sweep

OTHER = replace(ROOM, room="other1")


async def of(stage: Stage, who: Identity = ADA) -> dict[str, Room]:
    return {room.address.room: room for room in await stage.store.history.rooms(ROOM.channel, ROOM.account, who)}


async def test_a_conversation_is_named_pinned_and_put_away_for_one_person_alone(stage: Stage) -> None:
    for who in (ADA, UMA):
        await stage.say("what is the weather?", actor=who)
    shelf = stage.store.shelf
    await shelf.mark_room(ADA, ROOM, RoomMark(title="Weather", is_pinned=True))
    assert (await of(stage))[ROOM.room].title == "Weather"
    assert (await of(stage, UMA))[ROOM.room].title == "what is the weather?"
    await shelf.mark_room(ADA, ROOM, RoomMark(is_archived=True))
    kept = (await of(stage))[ROOM.room]
    assert (kept.title, kept.is_pinned, kept.is_archived) == ("Weather", False, True)
    await shelf.mark_room(ADA, ROOM, RoomMark(title="", is_pinned=True))
    kept = (await of(stage))[ROOM.room]
    assert (kept.title, kept.is_pinned, kept.is_archived) == ("what is the weather?", True, False)


async def test_what_came_after_somebody_read_it_is_unread(stage: Stage) -> None:
    await stage.say("hello")
    at = (await of(stage))[ROOM.room].last_at
    assert not (await of(stage))[ROOM.room].is_unread, "nobody ever said that they read it"
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(read_at=at))
    assert not (await of(stage))[ROOM.room].is_unread
    stage.clock.advance(seconds=5)
    await stage.say("and?")
    assert (await of(stage))[ROOM.room].is_unread
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(read_at=stage.clock() + timedelta(seconds=1)))
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(read_at=at))
    assert not (await of(stage))[ROOM.room].is_unread, "nothing becomes unread again"


async def test_a_message_that_changes_is_nothing_new(stage: Stage) -> None:
    await stage.say("hello")
    shown = await stage.enqueue("a card")
    await stage.drain()
    at = (await of(stage))[ROOM.room].last_at
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(read_at=at))
    stage.clock.advance(seconds=5)
    await stage.enqueue("the card, without its Undo", edits=shown)
    await stage.drain()
    found = (await of(stage))[ROOM.room]
    assert (found.last_at, found.is_unread) == (at, False)


async def test_messages_are_found_by_all_their_words_in_the_rooms_asked_for(stage: Stage) -> None:
    said = await stage.say("The Harbour report, 100% done")
    await stage.say("the harbour is far", at=OTHER)
    stage.clock.advance(seconds=5)
    await stage.say("nothing here")
    find = stage.store.shelf.find
    [found] = await find([ROOM, OTHER], "harbour REPORT")
    assert (found.address, found.id, found.author) == (ROOM, said.verdict.signal_id, Author.PERSON)
    assert found.text == "The Harbour report, 100% done"
    assert [one.address for one in await find([OTHER], "harbour")] == [OTHER]
    assert [one.text for one in await find([ROOM], "100%")] == [found.text], "a sign of the statement is a letter here"
    assert await find([ROOM], "10_%") == []
    assert await find([], "harbour") == []
    assert await find([ROOM], " ") == []


async def test_an_answer_is_found_by_what_is_written_not_by_its_tags(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.finish(claim, "done")
    [waiting] = await stage.waiting()
    body = '{"kind": "final", "markdown": "Two **lamps**", "html": "<p>Two <strong>lamps</strong></p>", "buttons": []}'
    await stage.show(waiting.delivery.id, await stage.duty(), body)
    find = stage.store.shelf.find
    [found] = await find([ROOM], "lamps")
    [*_, entry] = (await stage.store.history.view(ROOM)).entries
    assert (found.id, found.author, found.text) == (entry.id, Author.AGENT, "Two **lamps**")
    assert await find([ROOM], "strong") == []


async def test_a_mark_goes_once_its_conversation_is_gone_and_it_is_old(stage: Stage) -> None:
    await stage.say("hello")
    gone = replace(ROOM, room="gone01")
    for room in (ROOM, gone):
        await stage.store.shelf.mark_room(ADA, room, RoomMark(title="mine"))
    stage.clock.advance(hours=25)
    assert await sweep(stage, Stock.ROOM_MARKS, limit=1) == 1
    assert await stage.column("SELECT address FROM room_marks") == [str(ROOM)]


async def test_what_would_not_be_seen_in_a_title_is_shown_and_one_that_was_given_is_told_as_it_stands(
    stage: Stage,
) -> None:
    await stage.say("a\u202etxt.exe")
    assert (await of(stage))[ROOM.room].title == "a⟨U+202E⟩txt.exe"
    await stage.store.shelf.mark_room(ADA, ROOM, RoomMark(title="b⟨U+202E⟩"))
    assert (await of(stage))[ROOM.room].title == "b⟨U+202E⟩"

"""What people do on Telegram, as Signals."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import (
    UNREAD,
    Addressing,
    Amended,
    ApprovalId,
    Choice,
    Clicked,
    Commanded,
    Moved,
    Said,
    Stopped,
)
from tests.fakes.telegram import USERNAME
from tests.fakes.telegram_driver import ADA, BOB, attached
from tests.wire.telegram.stage import FORUM, GROUP, SUPERGROUP, Bench, address

# ------------------------------------------------------------------------------------------------------------ words


async def test_a_private_message_is_a_signal_with_every_key(bench: Bench) -> None:
    async with bench.life():
        told = await bench.driver.say("hello")
        [signal] = await bench.hears()
        assert signal.body == Said("hello")
        assert (signal.platform, signal.dedupe_key) == ("telegram:7000", f"u{told['update_id']}")
        assert signal.natural_key == f"m11:{told['message_id']}"
        assert (signal.actor, signal.actor_name) == ("telegram:11", "Ada")
        assert signal.address == address(ADA)
        assert (signal.reach, signal.joinable, signal.by_bot) == (Addressing.DIRECT, False, False)
        assert signal.message_id == f"11:{told['message_id']}"


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (f"@{USERNAME} hi", "hi"),
        (f"@{USERNAME}, hi", "hi"),
        (f"@{USERNAME}: hi", "hi"),
        (f"hi @{USERNAME}", "hi"),
        (f"@{USERNAME.upper()} hi", "hi"),
        (f"👩‍👩‍👧 @{USERNAME} hi", f"👩‍👩‍👧 @{USERNAME} hi"),  # in the middle it is one of the words
        (f"Привет, мир @{USERNAME}", "Привет, мир"),
        (f"😀😀 привет @{USERNAME}", "😀😀 привет"),
        (f"@{USERNAME} 😀 привет @{USERNAME}", "😀 привет"),
        (f"@{USERNAME}", f"@{USERNAME}"),  # whoever is only called hears at least that
    ],
)
async def test_the_bots_name_around_the_words_is_no_part_of_them(bench: Bench, said: str, heard: str) -> None:
    async with bench.life():
        signal = await bench.signal_of(said, chat=GROUP)
        assert signal.body == Said(heard)
        assert signal.reach is Addressing.MENTION


@pytest.mark.parametrize("said", ["lunch?", "@somebody_else lunch?", f"{USERNAME} lunch?", f"mail@{USERNAME} lunch?"])
async def test_what_names_nobody_or_others_is_overheard(bench: Bench, said: str) -> None:
    async with bench.life():
        signal = await bench.signal_of(said, chat=SUPERGROUP)
        assert signal.body == Said(said)
        assert signal.reach is Addressing.OVERHEARD


async def test_an_answer_to_the_bot_is_for_the_bot(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.signal_of("hello", chat=GROUP)
        await bench.show(adapter, "What would you like?", at=address(GROUP))
        shown = await bench.last(GROUP)
        signal = await bench.signal_of("tea", chat=GROUP, reply_to=shown["message_id"])
        assert signal.body == Said("tea")
        assert signal.reach is Addressing.MENTION


async def test_an_answer_to_somebody_else_brings_what_was_said(bench: Bench) -> None:
    async with bench.life():
        told = await bench.driver.say("Guten Morgen\nallerseits", chat=GROUP, user=BOB)
        signal = await bench.signal_of(f"@{USERNAME} translate", chat=GROUP, reply_to=told["message_id"])
        assert signal.body == Said("> Guten Morgen\n> allerseits\n\ntranslate")


async def test_an_answer_to_somebody_else_without_the_bots_name_is_overheard(bench: Bench) -> None:
    async with bench.life():
        told = await bench.driver.say("lunch?", chat=GROUP, user=BOB)
        signal = await bench.signal_of("yes", chat=GROUP, reply_to=told["message_id"])
        assert signal.reach is Addressing.OVERHEARD


async def test_a_topic_is_a_thread_that_may_be_joined_and_the_general_one_is_none(bench: Bench) -> None:
    async with bench.life():
        in_topic = await bench.signal_of("hi", chat=FORUM, thread=7, mention=True)
        in_general = await bench.signal_of("hi", chat=FORUM, mention=True)
        assert (in_topic.address, in_topic.joinable) == (address(FORUM, 7), True)
        assert (in_general.address, in_general.joinable) == (address(FORUM), False)


async def test_changed_words_are_told_with_the_message_they_change(bench: Bench) -> None:
    async with bench.life():
        first = await bench.signal_of("helo", chat=GROUP, mention=True)
        told = {"chat": GROUP, "message_id": int(first.message_id.partition(":")[2])}
        await bench.driver.inject(type="edit", text="hello", mention=True, **told)
        _, second = await bench.hears(2)
        assert second.body == Amended("hello")
        assert (second.message_id, second.address, second.natural_key) == (first.message_id, first.address, None)
        assert second.reach is Addressing.MENTION


async def test_another_program_is_known_as_one(bench: Bench) -> None:
    async with bench.life():
        signal = await bench.signal_of("beep", chat=GROUP, user=900, bot=True)
        assert signal.by_bot


async def test_an_administrator_who_speaks_as_the_group_is_the_group(bench: Bench) -> None:
    as_group = {"sender_chat": {"id": GROUP, "type": "group", "title": "The house"}}
    async with bench.life():
        signal = await bench.signal_of("hi", chat=GROUP, user=1087968824, bot=True, more=as_group)
        assert (signal.actor, signal.actor_name, signal.by_bot) == (f"telegram:{GROUP}", "The house", False)


# --------------------------------------------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("said", "body"),
    [
        ("/status", Commanded("status")),
        ("/model gpt 5", Commanded("model", "gpt 5")),
        (f"/usage@{USERNAME}", Commanded("usage")),
        (f"/Usage@{USERNAME.upper()} all", Commanded("usage", "all")),
        ("/stop", Stopped()),
        (f"/stop@{USERNAME}", Stopped()),
        ("/start", Commanded("help")),
        ("/start from_a_link", Commanded("help")),
        ("/dance now", Commanded("dance", "now")),
        (f"/mode@{USERNAME} trusted 2h", Commanded("mode", "trusted 2h")),
        ("/away until Monday", Commanded("away", "until Monday")),
        ("/back", Commanded("back")),
        (f"/context@{USERNAME}", Commanded("context")),
        ("/compact", Commanded("compact")),
        ("/usr/bin is a folder", Said("/usr/bin is a folder")),
        ("run /status", Said("run /status")),
    ],
)
async def test_commands(bench: Bench, said: str, body: object) -> None:
    async with bench.life():
        signal = await bench.signal_of(said)
        assert signal.body == body


async def test_a_command_in_a_group_is_for_the_bot(bench: Bench) -> None:
    async with bench.life():
        signal = await bench.signal_of("/status", chat=GROUP)
        assert signal.reach is Addressing.MENTION


async def test_a_command_for_another_bot_is_nothing(bench: Bench) -> None:
    async with bench.life():
        await bench.hears_nothing_of(type="message", chat=GROUP, text="/status@other_bot")


# ------------------------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize(
    ("file", "name", "mime"),
    [
        (attached("report.pdf", b"%PDF", mime="application/pdf"), "report.pdf", "application/pdf"),
        (attached("", b"jpg", kind="photo"), "photo.jpg", "image/jpeg"),
        (attached("", b"ogg", kind="voice", mime="audio/ogg"), "voice.ogg", "audio/ogg"),
        (attached("song.mp3", b"mp3", kind="audio", mime="audio/mpeg"), "song.mp3", "audio/mpeg"),
        (attached("", b"mp4", kind="video", mime="video/mp4"), "video.mp4", "video/mp4"),
    ],
    ids=["document", "photo", "voice", "audio", "video"],
)
async def test_files(bench: Bench, file: dict[str, Any], name: str, mime: str) -> None:
    async with bench.life():
        signal = await bench.signal_of("look", files=[file])
        assert isinstance(signal.body, Said)
        [ref] = signal.body.files
        assert (signal.body.text, ref.name, ref.mime, ref.path) == ("look", name, mime, "")
        assert ref.size > 0
        assert ref.remote.startswith("file-")


async def test_a_caption_names_the_bot_as_a_text_does(bench: Bench) -> None:
    async with bench.life():
        signal = await bench.signal_of("😀 what is this?", chat=GROUP, mention=True, files=[attached("a.txt", b"a")])
        assert isinstance(signal.body, Said)
        assert (signal.body.text, signal.reach) == ("😀 what is this?", Addressing.MENTION)


async def test_a_sticker_says_what_it_shows(bench: Bench) -> None:
    sticker = {"file_id": "s", "file_unique_id": "s", "width": 1, "height": 1, "is_animated": False, "is_video": False}
    async with bench.life():
        signal = await bench.signal_of("", more={"sticker": {**sticker, "type": "regular", "emoji": "👍"}})
        assert signal.body == Said("👍")


DICE = {"dice": {"emoji": "🎲", "value": 4}}
VENUE = {"location": {"latitude": 52.5, "longitude": 13.4}, "title": "Cafe", "address": "Main Street 1"}


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (DICE, "a roll of dice"),
        ({"venue": VENUE, "location": VENUE["location"]}, "a venue"),
        ({"story": {"chat": {"id": 11, "type": "private"}, "id": 3}}, "a story"),
    ],
    ids=["dice", "venue", "story"],
)
async def test_what_cannot_be_read_is_said_to_whoever_is_alone_with_us(
    bench: Bench, more: dict[str, Any], what: str
) -> None:
    async with bench.life():
        signal = await bench.signal_of("", more=more)
        assert (signal.body, signal.reach) == (Commanded(UNREAD, what), Addressing.DIRECT)


async def test_a_location_that_moves_is_not_told_of_again(bench: Bench) -> None:
    moved = {"message_id": 7, "date": 1, "edit_date": 2, "chat": {"id": ADA, "type": "private"}, **VENUE}
    update = {"edited_message": moved | {"from": {"id": ADA, "is_bot": False, "first_name": "Ada"}}}
    async with bench.life():
        await bench.hears_nothing_of(type="raw", update=update)


# ------------------------------------------------------------------------------------------------------- no requests


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "introduce", "chat": GROUP},
        {"type": "introduce", "chat": 13},
        {"type": "message", "chat": GROUP, "text": "", "more": {"pinned_message": {"chat": {"id": GROUP, "type": "group"}, "date": 0, "message_id": 1}}},
        {"type": "message", "chat": GROUP, "text": "from the channel", "more": {"is_automatic_forward": True}},
        {"type": "message", "chat": GROUP, "text": "", "more": DICE},
        {"type": "member", "chat": GROUP, "status": "kicked"},
        {"type": "raw", "update": {"message_reaction": {"chat": {"id": 11, "type": "private"}, "message_id": 1, "date": 0, "old_reaction": [], "new_reaction": []}}},
        {"type": "raw", "update": {"message": {"message_id": "not a number"}}},
        {"type": "raw", "update": {"message": 7}},
        {"type": "raw", "update": {"callback_query": {"id": "1"}}},
        {"type": "raw", "update": {"something_of_next_year": {"a": 1}}},
    ],
    ids=["added", "allowed", "pin", "channel", "dice", "kicked", "reaction", "no number", "no message", "half a click", "new kind"],
)  # fmt: skip
async def test_what_is_no_request_makes_no_signal_and_holds_up_nothing(bench: Bench, asked: dict[str, Any]) -> None:
    async with bench.life() as adapter:
        await bench.hears_nothing_of(**asked)
        assert adapter.standing().trouble is None


# ----------------------------------------------------------------------------------------------------------- clicks


async def test_a_press_is_answered_even_if_nobody_knows_the_button(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "hello")
        number = int(receipt.message_id.partition(":")[2])
        for payload in ("nonsense", ":", "abc:fly", "abc:approve:now", "é:approve"):
            told = await bench.driver.click(number, payload)
            await _answered(bench, told["query"])
        assert bench.sink.calls == []


async def _answered(bench: Bench, query: str) -> dict[str, Any]:
    from tests.contract.adapters.stage import until

    found: list[dict[str, Any]] = []

    async def look() -> bool:
        found[:] = [answer for answer in (await bench.driver.screen())["answers"] if answer["query"] == query]
        return bool(found)

    await until(look, f"answer to {query}")
    return found[0]


async def test_a_press_in_a_topic_knows_its_thread(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.signal_of("hi", chat=FORUM, thread=7)
        receipt = await bench.show(adapter, "hello", at=address(FORUM, 7))
        number = int(receipt.message_id.partition(":")[2])
        await bench.driver.click(number, "abc:deny", chat=FORUM, user=BOB)
        signal = (await bench.hears(2))[-1]
        assert signal.body == Clicked(ApprovalId("abc"), Choice.DENY)
        assert (signal.address, signal.actor) == (address(FORUM, 7), "telegram:12")
        assert signal.message_id == receipt.message_id


async def test_an_old_press_that_cannot_be_answered_any_more_counts(bench: Bench) -> None:
    async with bench.life() as adapter:
        receipt = await bench.show(adapter, "hello")
        await bench.driver.click(int(receipt.message_id.partition(":")[2]), "abc:approve", old=True)
        [signal] = await bench.hears()
        assert signal.body == Clicked(ApprovalId("abc"), Choice.APPROVE)
        await bench.signal_of("still here?")
        assert (await bench.driver.screen())["answers"] == []


# ------------------------------------------------------------------------------------------------------------ moves


async def test_a_group_that_becomes_a_supergroup_keeps_its_room(bench: Bench) -> None:
    async with bench.life() as adapter:
        before = await bench.signal_of("hello", chat=GROUP, mention=True)
        await bench.driver.inject(type="move", chat=GROUP, to=SUPERGROUP)
        moved = (await bench.hears(2))[1]
        assert (moved.body, moved.address) == (Moved(str(SUPERGROUP)), before.address)
        after = await bench.signal_of("still here?", chat=SUPERGROUP, mention=True)
        assert after.address == before.address
        await bench.show(adapter, "yes", at=after.address)
        assert await bench.driver.texts(SUPERGROUP) == ["yes"]
    told = [signal for signal in bench.sink.calls if isinstance(signal.body, Moved)]
    assert len({signal.natural_key for signal in told}) == 1, "told in both chats, and one move"

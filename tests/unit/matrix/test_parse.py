"""What people write in Matrix rooms is read as they mean it, and nobody's tricks with it count."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from runtime.contract import Address, Addressing, Amended, Commanded, FileRef, Said, Signal
from signalbox_matrix import parse
from signalbox_matrix.parse import Me, Scene
from signalbox_matrix.rooms import Room, Rooms, link

ME: Final = Me("@bot:hs.test", "Signalbox")
AT: Final = datetime(2026, 11, 27, tzinfo=UTC)


def room(members: int = 3) -> Room:
    return Room("!r:hs.test", name="Kitchen", members=members, names={"@ada:hs.test": "Ada"})


def event(kind: str = "m.room.message", **content: Any) -> dict[str, Any]:
    return {"type": kind, "event_id": "$e", "sender": "@ada:hs.test", "content": content}


def read(members: int = 3, **content: Any) -> Signal | None:
    made = event(**({"msgtype": "m.text"} | content))
    scene = Scene(ME, room(members), "!r:hs.test", AT, thread=parse.thread_of(made["content"]))
    return parse.message(made, scene)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"body": "Signalbox: hi", "m.mentions": {"user_ids": ["@bot:hs.test"]}}, "hi"),
        ({"body": "@signalbox, hi", "m.mentions": {"user_ids": ["@bot:hs.test"]}}, "hi"),
        ({"body": "@bot:hs.test hi"}, "hi"),
        ({"body": "hi Signalbox"}, "hi Signalbox"),
        (
            {"body": "Signalbox hi", "formatted_body": '<a href="https://matrix.to/#/@bot:hs.test">Signalbox</a> hi'},
            "hi",
        ),
        ({"body": "Bot hi", "formatted_body": '<a href="https://matrix.to/#/%40bot:hs.test">Bot</a> hi'}, "hi"),
    ],
)
def test_a_mention_in_each_form_reaches_us_without_it(content: dict[str, Any], words: str) -> None:
    signal = read(**content)
    assert signal
    assert (signal.reach, signal.body) == (Addressing.MENTION, Said(words))


@pytest.mark.parametrize(
    "content",
    [
        {"body": "lunch?", "m.mentions": {}},
        {"body": "the Signalbox bot is nice", "m.mentions": {"user_ids": ["@bob:hs.test"]}},
        {"body": "@room lunch?", "m.mentions": {"room": True, "user_ids": []}},
        {"body": "Signalboxes are green"},
        {"body": "!unknown command", "m.mentions": {}},
    ],
)
def test_what_names_others_or_nobody_is_overheard(content: dict[str, Any]) -> None:
    signal = read(**content)
    assert signal
    assert signal.reach is Addressing.OVERHEARD


def test_a_room_of_two_is_direct_and_called_by_its_person() -> None:
    signal = read(members=2, body="hi")
    assert signal
    assert (signal.reach, signal.room_name, signal.actor) == (Addressing.DIRECT, "@Ada", "matrix:@ada:hs.test")


def test_what_is_quoted_above_an_answer_is_not_said_again() -> None:
    relates = {"m.in_reply_to": {"event_id": "$before"}}
    signal = read(members=2, body="> <@bob:hs.test> old\n> words\n\nnew words", **{"m.relates_to": relates})
    assert signal
    assert signal.body == Said("new words")
    assert parse.answered_event({"m.relates_to": relates}) == "$before"


def test_a_quote_that_answers_nothing_stays() -> None:
    signal = read(members=2, body="> this\nI mean")
    assert signal
    assert signal.body == Said("> this\nI mean")


def test_the_answer_that_a_thread_falls_back_to_is_nobodys() -> None:
    relates = {
        "rel_type": "m.thread",
        "event_id": "$root",
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": "$x"},
    }
    assert parse.answered_event({"m.relates_to": relates}) == ""
    assert parse.thread_of({"m.relates_to": relates}) == "$root"


def test_a_file_with_its_caption() -> None:
    info = {"size": 8, "mimetype": "text/plain"}
    signal = read(msgtype="m.file", body="look", filename="a.txt", url="mxc://hs.test/x", info=info, members=2)
    assert signal
    assert signal.body == Said("look", (FileRef("a.txt", "", 8, "mxc://hs.test/x", "text/plain"),))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"msgtype": "m.file", "body": "a.txt", "file": {"url": "mxc://hs.test/x"}}, "an encrypted file"),
        ({"msgtype": "m.file", "body": "a.txt", "url": "https://evil.example/x"}, "an encrypted file"),
        ({"msgtype": "m.location", "body": "here"}, "a location"),
    ],
)
def test_what_cannot_be_read_is_told_to_who_is_alone_with_us(content: dict[str, Any], what: str) -> None:
    alone = read(members=2, **content)
    assert alone
    assert alone.body == Commanded("unread", what)
    assert read(members=3, **content) is None


def test_a_notice_is_by_a_program_and_an_emote_is_told_as_one() -> None:
    notice, emote = read(msgtype="m.notice", body="beep"), read(msgtype="m.emote", body="waves", members=2)
    assert notice
    assert notice.by_bot
    assert emote
    assert emote.body == Said("* waves")


def test_an_edit_has_the_words_without_the_star() -> None:
    made = event(msgtype="m.text", body="* hello")
    made["content"]["m.new_content"] = {"msgtype": "m.text", "body": "hello"}
    made["content"]["m.relates_to"] = {"rel_type": "m.replace", "event_id": "$a"}
    signal = parse.edit(made, Scene(ME, room(2), "!r:hs.test", AT))
    assert signal
    assert (signal.body, signal.message_id) == (Amended("hello"), "$a")


def test_a_room_that_was_replaced_twice_keeps_its_first_id_for_rows() -> None:
    rooms = Rooms()
    rooms.move("!a", "!b")
    rooms.move("!b", "!c")
    here = Address("matrix", ME.id, "!a")
    assert (rooms.wire(here), rooms.row("!c"), rooms.row("!b")) == ("!c", "!a", "!a")


def test_a_link_leads_to_the_message() -> None:
    assert link(Address("matrix", ME.id, "!r:hs.test"), "$e/1") == "https://matrix.to/#/!r:hs.test/$e%2F1"


def test_encryption_is_not_taken_back() -> None:
    here = room()
    here.learn(
        {
            "type": "m.room.encryption",
            "state_key": "",
            "event_id": "$1",
            "content": {"algorithm": "m.megolm.v1.aes-sha2"},
        }
    )
    here.learn({"type": "m.room.encryption", "state_key": "", "event_id": "$2", "content": {}})
    assert here.encrypted_by == "$1"

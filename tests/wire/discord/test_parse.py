"""Wire to Signal, with values only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from adapters.discord import interactions
from adapters.discord.contents import safe
from adapters.discord.parse import Me, edit, message
from adapters.discord.rooms import Place, Rooms
from adapters.discord.snowflakes import first_at, made_at
from runtime.contract import (
    REASON,
    Address,
    Addressing,
    Amended,
    Choice,
    Clicked,
    Commanded,
    FileRef,
    Identity,
    Said,
    Signal,
    Stopped,
)

BOT: Final = "1000000000000000001"
ROLE: Final = "501"
ID: Final = "1573932764682518528"
ME: Final = Me(BOT, frozenset({ROLE}))
CHANNEL: Final = Place("700", 0, guild="500")
THREAD: Final = Place("800", 11, parent="700", guild="500")
ALONE: Final = Place("942", 1)
ADA: Final[dict[str, Any]] = {"id": "42", "username": "ada", "global_name": "Ada"}
US: Final[dict[str, Any]] = {"id": BOT, "username": "signalbox", "bot": True}


def raw(content: str = "hi", **more: Any) -> dict[str, Any]:
    base = {"id": ID, "channel_id": "700", "type": 0, "author": ADA, "content": content, "mentions": []}
    return {**base, "mention_roles": [], "attachments": [], **more}


def said(content: str = "hi", place: Place = CHANNEL, me: Me = ME, **more: Any) -> Any:
    signal = message(raw(content, **more), place, me)
    assert signal
    return signal


def test_a_message_becomes_a_signal() -> None:
    signal = said("Hello", place=ALONE)
    assert signal.platform == f"discord:{BOT}"
    assert (signal.dedupe_key, signal.message_id) == (f"m{ID}", ID)
    assert (signal.actor, signal.actor_name) == (Identity("discord:42"), "Ada")
    assert signal.address == Address("discord", BOT, "942")
    assert (signal.body, signal.reach, signal.by_bot, signal.joinable) == (
        Said("Hello"),
        Addressing.DIRECT,
        False,
        False,
    )
    assert signal.received_at == datetime(2026, 11, 22, 5, 26, 53, 357000, tzinfo=UTC)


def test_the_name_in_the_server_goes_before_the_others() -> None:
    assert said(member={"nick": "Countess"}).actor_name == "Countess"
    assert said(author={"id": "1", "username": "plain"}).actor_name == "plain"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (f"<@{BOT}> hi", "hi"),
        (f"<@!{BOT}> hi", "hi"),
        (f"<@&{ROLE}> hi", "hi"),
        (f"<@{BOT}>, hi", "hi"),
        (f"<@{BOT}>: hi", "hi"),
        (f"<@{BOT}><@{BOT}> hi", "hi"),
        (f"hi <@{BOT}>", "hi"),
        (f"привет 🚦 <@{BOT}> hi", "привет 🚦  hi"),
        (f"<@{BOT}>\n\nfirst\n\nsecond", "first\n\nsecond"),
        (f"<@{BOT}> ask <@43>", "ask @Bob"),
        (f"<@{BOT}> ask <@44>", "ask <@44>"),
        (f"<@{BOT}> look in <#700>", "look in <#700>"),
    ],
)
def test_the_mention_that_calls_us_is_taken_off(content: str, words: str) -> None:
    bob = {"id": "43", "username": "bob", "global_name": "Bob"}
    signal = said(content, mentions=[US, bob], mention_roles=[ROLE] if "&" in content else [])
    assert signal.body == Said(words)
    assert signal.reach is Addressing.MENTION


@pytest.mark.parametrize(
    ("more", "reach"),
    [
        ({}, Addressing.OVERHEARD),
        ({"mentions": [US]}, Addressing.MENTION),
        ({"mention_roles": [ROLE]}, Addressing.MENTION),
        ({"mention_roles": ["999"]}, Addressing.OVERHEARD),
        ({"mention_everyone": True}, Addressing.OVERHEARD),
        ({"type": 19, "referenced_message": {"author": US}}, Addressing.MENTION),
        ({"type": 19, "referenced_message": {"author": ADA}}, Addressing.OVERHEARD),
        ({"type": 19, "referenced_message": None}, Addressing.OVERHEARD),
    ],
)
def test_who_is_spoken_to(more: dict[str, Any], reach: Addressing) -> None:
    assert said(**more).reach is reach


def test_a_mention_alone_says_nothing() -> None:
    assert message(raw(f"<@{BOT}>", mentions=[US]), CHANNEL, ME) is None


@pytest.mark.parametrize("kind", [1, 6, 7, 18, 20, 21, 46])
def test_what_the_platform_tells_of_people_is_no_message(kind: int) -> None:
    """Pins, joins, new threads, commands, polls that ended."""
    assert message(raw(type=kind), CHANNEL, ME) is None


def test_our_own_words_are_nobodys_and_programs_are_known() -> None:
    assert message(raw(author=US), CHANNEL, ME) is None
    assert said(author={**ADA, "bot": True}).by_bot
    assert said(webhook_id="7").by_bot


def test_a_thread_is_part_of_the_address_and_may_be_joined() -> None:
    signal = said(place=THREAD, mentions=[US])
    assert signal.address == Address("discord", BOT, "700", "800")
    assert signal.joinable
    assert not said(place=THREAD).joinable


def test_a_thread_for_each_conversation_has_the_id_of_the_message_it_begins_with() -> None:
    me = Me(BOT, threads=True)
    begun = said(me=me, mentions=[US])
    assert (begun.address, begun.joinable) == (Address("discord", BOT, "700", ID), True)
    assert said(me=me).address == Address("discord", BOT, "700")
    assert said(me=me, place=THREAD, mentions=[US]).address.thread == "800"
    assert said(me=me, place=ALONE).address.thread == ""


def test_what_was_passed_on_is_read() -> None:
    assert said("", message_snapshots=[{"message": {"content": "the news"}}]).body == Said("the news")


def test_files_are_named_by_a_handle_without_a_link() -> None:
    attachment = {
        "id": "9",
        "filename": "a b.txt",
        "size": 3,
        "url": "https://cdn/x?hm=secret",
        "content_type": "text/plain",
    }
    signal = said("", attachments=[attachment])
    assert signal.body.files == (FileRef("a b.txt", f"inbox/{ID}-1-a b.txt", 3, f"700/{ID}/9", "text/plain"),)
    assert "secret" not in repr(signal)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd", "passwd"),
        ("..\\x.bat", "x.bat"),
        ("a\0b/c", "c"),
        ("..", "file"),
        ("", "file"),
        (".hidden", "hidden"),
        ("名前.txt", "名前.txt"),
        ("a:b?.txt", "a_b_.txt"),
        ("x" * 300 + ".pdf", "x" * 96 + ".pdf"),
    ],
)
def test_a_files_name_leads_nowhere_else(name: str, kept: str) -> None:
    assert safe(name) == kept


def test_changed_words_are_of_the_same_message_each_change_once() -> None:
    at = "2026-11-22T05:30:00+00:00"
    changed = edit(raw(f"<@{BOT}> hello", mentions=[US], edited_timestamp=at), CHANNEL, ME)
    assert changed
    assert (changed.body, changed.message_id, changed.dedupe_key) == (Amended("hello"), ID, f"e{ID}:{at}")
    assert edit(raw("hello", edited_timestamp=None), CHANNEL, ME) is None, "a preview of a link was added"
    assert edit(raw("hello", edited_timestamp=at, author=US), CHANNEL, ME) is None


@pytest.mark.parametrize("gone", ["id", "type", "author"])
def test_a_malformed_message_is_an_error_that_callers_expect(gone: str) -> None:
    broken = {name: value for name, value in raw().items() if name != gone}
    with pytest.raises(KeyError):
        message(broken, CHANNEL, ME)


def test_an_id_tells_its_time() -> None:
    assert made_at(str(first_at(datetime(2026, 11, 22, tzinfo=UTC)))) == datetime(2026, 11, 22, tzinfo=UTC)
    assert first_at(datetime(2000, 1, 1, tzinfo=UTC)) == 0


# --------------------------------------------------------------------------------------------------------- places


def test_places_are_learnt_from_what_the_gateway_tells() -> None:
    rooms = Rooms(BOT)
    roles = [{"id": "500"}, {"id": ROLE, "tags": {"bot_id": BOT}}, {"id": "9", "tags": {"bot_id": "8"}}]
    threads = [{"id": "800", "type": 11, "parent_id": "700", "last_message_id": "5"}]
    channels = [{"id": "700", "type": 0, "parent_id": "1", "name": "general", "last_message_id": None}]
    rooms.learn("GUILD_CREATE", {"id": "500", "roles": roles, "channels": channels, "threads": threads})
    assert rooms.places["800"] == Place("800", 11, "700", "", "5", "500", "general")
    assert rooms.places["700"].parent == "", "a category is no parent"
    assert rooms.own_roles("500") == {ROLE}
    rooms.note("800", "6")
    assert rooms.places["800"].last == "6"
    rooms.learn("THREAD_DELETE", {"id": "800"})
    rooms.learn("PRESENCE_UPDATE", {})
    assert "800" not in rooms.places


# --------------------------------------------------------------------------------------------------- interactions


def interaction(kind: int, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"id": "77", "token": "t", "type": kind, "data": data, "channel": {"id": "942", "type": 1}, "user": ADA}
    return {**base, **more}


def pressed(raw: dict[str, Any]) -> Signal | None:
    body, place = interactions.body_of(raw), interactions.place_told(raw)
    assert place
    return interactions.signal(raw, body, place, ME) if body else None


def test_a_button_press_is_told_as_it_came() -> None:
    signal = pressed(interaction(3, {"custom_id": "forged:approve"}))
    assert signal
    assert signal.body == Clicked("forged", Choice.APPROVE)  # type: ignore[arg-type]
    assert (signal.dedupe_key, signal.actor, signal.reach) == ("i77", Identity("discord:42"), Addressing.DIRECT)


def test_a_press_in_a_thread_of_a_server_knows_both() -> None:
    more = {"guild_id": "500", "member": {"user": ADA, "nick": None}, "user": None}
    channel = {"id": "800", "type": 11, "parent_id": "700"}
    signal = pressed(interaction(3, {"custom_id": "a:deny"}, channel=channel, **more))
    assert signal
    assert (signal.address, signal.reach) == (Address("discord", BOT, "700", "800"), Addressing.MENTION)


@pytest.mark.parametrize("custom_id", ["", ":", "a:", ":approve", "a:allow", "nonsense", "a:reason"])
def test_what_no_button_of_ours_carries_is_nothing(custom_id: str) -> None:
    assert pressed(interaction(3, {"custom_id": custom_id})) is None


@pytest.mark.parametrize(
    ("name", "options", "body"),
    [
        ("ask", [{"name": "text", "value": " what? "}], Said("what?")),
        ("stop", [], Stopped()),
        ("status", [], Commanded("status")),
        ("model", [{"name": "name", "value": "x"}], Commanded("model", "x")),
        ("unheard-of", [], Commanded("unheard-of")),
        ("mode", [{"name": "value", "value": "read-only"}], Commanded("mode", "read-only")),
        ("away", [{"name": "value", "value": "until Monday"}], Commanded("away", "until Monday")),
        ("back", [], Commanded("back")),
        ("context", [], Commanded("context")),
        ("compact", [], Commanded("compact")),
    ],
)
def test_commands(name: str, options: list[dict[str, Any]], body: Any) -> None:
    signal = pressed(interaction(2, {"name": name, "options": options}))
    assert signal
    assert signal.body == body


def test_an_empty_question_and_another_kind_of_interaction_are_nothing() -> None:
    assert pressed(interaction(2, {"name": "ask", "options": []})) is None
    assert pressed(interaction(4, {"name": "ask"})) is None


@pytest.mark.parametrize("name", [REASON, interactions.WHY], ids=["ours", "of an older version"])
@pytest.mark.parametrize("nested", [True, False], ids=["in a row", "in a label"])
def test_the_reason_written_into_the_form_is_read(nested: bool, name: str) -> None:
    field = {"type": 4, "custom_id": name, "value": " too risky "}
    row = {"type": 1, "components": [field]} if nested else {"type": 18, "component": field}
    signal = pressed(interaction(5, {"custom_id": "a:deny", "components": [row]}))
    assert signal
    assert signal.body == Clicked("a", Choice.DENY, "too risky")  # type: ignore[arg-type]


def test_only_the_button_that_opens_the_form_does() -> None:
    assert interactions.opens_form(interaction(3, {"custom_id": "a:reason"})) == ("a", Choice.DENY)
    assert interactions.opens_form(interaction(3, {"custom_id": "a:edit"})) == ("a", Choice.EDIT)
    assert interactions.opens_form(interaction(3, {"custom_id": "a:deny"})) is None
    assert interactions.opens_form(interaction(5, {"custom_id": "a:reason"})) is None

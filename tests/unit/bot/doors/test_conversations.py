"""Conversations as people keep them: what the page may ask for, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest

from bot.doors.page.conversations import READ_AROUND_CHARS, snippet, without_marks
from runtime.contract import Identity, Role, RoomMark
from tests.unit.bot.doors.stage import AT, NAMED_ROOM, doors_served


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({"title": "  My \n room\u202e "}, RoomMark(title="My room⟨U+202E⟩")),
        ({"title": ""}, RoomMark(title="")),
        ({"pinned": True, "archived": False}, RoomMark(is_pinned=True, is_archived=False)),
        ({"read_at": AT.isoformat()}, RoomMark(read_at=AT)),
        ({}, RoomMark()),
    ],
)
async def test_a_conversation_is_kept_as_its_person_wants_it(body: Any, kept: RoomMark) -> None:
    async with doors_served() as stage:
        vera = stage.links.add("Vera", Role.VIEWER)
        stage.spoke("Vera", "veras1")
        assert await stage.by(vera, "POST", "/api/v1/rooms/veras1/mark", body) == (200, {})
        assert stage.shelf.marks == [(Identity("web:main/vera"), "veras1", kept)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"title": "x" * 121}, "title: String should have at most 120 characters"),
        ({"title": 4}, "title: Input should be a valid string"),
        ({"pinned": "yes"}, "pinned: Input should be a valid boolean"),
        ({"archived": 1}, "archived: Input should be a valid boolean"),
        ({"read_at": 0}, "read_at: Value error, a moment is a text"),
        ({"read_at": "yesterday"}, "read_at: Input should be a valid datetime"),
        ({"read_at": "2026-03-01T12:00:00"}, "read_at: Input should have timezone info"),
    ],
)
async def test_nonsense_is_refused_with_what_would_be_right(body: Any, told: str) -> None:
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.OWNER)
        stage.spoke("Ada", "adas01")
        status, why = await stage.by(ada, "POST", "/api/v1/rooms/adas01/mark", body)
        assert (status, why["detail"].startswith(told)) == (422, True), why
        assert stage.shelf.marks == []


async def test_a_secret_in_a_name_is_taken_out() -> None:
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.USER)
        stage.spoke("Ada", "adas01")
        await stage.by(ada, "POST", "/api/v1/rooms/adas01/mark", {"title": f"for {secret}"})
        [(_, _, mark)] = stage.shelf.marks
        assert mark.title
        assert mark.title.startswith("for ")
        assert secret not in mark.title


async def test_nobody_keeps_a_conversation_that_they_may_not_read() -> None:
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.USER)
        stage.spoke("Bob", "bobs01")
        stage.spoke("Ada", NAMED_ROOM)
        for room in ("bobs01", "nobodys1", NAMED_ROOM):
            assert (await stage.by(ada, "POST", f"/api/v1/rooms/{room}/mark", {"pinned": True}))[0] == 403, room
        assert stage.shelf.marks == []


async def test_a_deleted_conversation_is_taken_back_in_time() -> None:
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.USER)
        stage.spoke("Ada", "adas01")
        stage.spoke("Bob", "bobs01")
        asked = [
            await stage.by(ada, "POST", f"/api/v1/rooms/{room}/restore") for room in ("adas01", "adas01", "bobs01")
        ]
        assert [status for status, _ in asked] == [200, 409, 403]
        assert stage.shelf.restored == [(Identity("web:main/ada"), "Ada", "adas01")] * 2


async def test_one_searches_ones_own_conversations_alone() -> None:
    async with doors_served() as stage:
        ada, bob = stage.links.add("Ada", Role.USER), stage.links.add("Bob", Role.VIEWER)
        stage.spoke("Ada", "adas01")
        stage.spoke("Ada", NAMED_ROOM)
        _, told = await stage.by(ada, "GET", "/api/v1/search?q=%20lamp%20")
        assert told["data"] == [
            {
                "room": "web:main/adas01",
                "title": "hello",
                "id": "e1",
                "author": "agent",
                "name": "",
                "at": AT.isoformat(),
                "text": "before lamp after",
            }
        ]
        assert await stage.by(bob, "GET", "/api/v1/search?q=lamp") == (200, {"data": [], "next": None})
        assert stage.shelf.asked == [(["adas01"], "lamp"), ([], "lamp")]
        for words in ("", "?q=", "?q=%20", "?q=" + "x" * 201):
            assert (await stage.by(ada, "GET", f"/api/v1/search{words}"))[0] == 422, words


def test_a_long_message_is_told_from_a_little_before_the_word() -> None:
    text = f"{'far ' * 100}the lamp is here {'and there ' * 100}"
    told = snippet(text, ["nothing", "lamp"])
    assert told.startswith("… far")
    assert "the lamp is here" in told
    assert len(told) < 170
    assert snippet("short", ["short"]) == "short"


def test_an_answer_is_told_as_plain_text() -> None:
    card = "**Approve `write_file`?**\n\n```\ntea.txt\n```\n\nAsked by *Ada*"
    assert without_marks(card, ["ada"]).split() == ["Approve", "write_file?", "tea.txt", "Asked", "by", "Ada"]


def test_of_a_long_answer_only_what_is_around_the_word_is_read() -> None:
    far = "far\n" * 5_000
    told = without_marks(f"{far}the **lamp** is here\n{far}", ["nothing", "lamp"])
    assert "the lamp is here" in told
    assert len(told) <= 3 * READ_AROUND_CHARS


async def test_a_copy_is_for_whoever_may_read_the_room_and_an_import_for_operators() -> None:
    async with doors_served() as stage:
        ada, oscar = stage.links.add("Ada", Role.USER), stage.links.add("Oscar", Role.OPERATOR)
        stage.spoke("Bob", "bobs01")
        stage.spoke("Ada", "adas01")
        assert (await stage.by(ada, "GET", "/api/v1/rooms/bobs01/copy"))[0] == 403
        assert (await stage.by(ada, "GET", "/api/v1/rooms/adas01/copy?format=pdf"))[0] == 400
        assert (await stage.by(ada, "POST", "/api/v1/conversation-copies", {}))[0] == 403
        status, why = await stage.by(oscar, "POST", "/api/v1/conversation-copies", {"signalbox": "conversation"})
        assert status == 422, why
        assert "Nothing was imported." in str(why)

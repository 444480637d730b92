"""Conversations as people keep them: what the page may ask for, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.web.shelf import snippet
from runtime.contract import Address, Author, Entry, FoundEntry, Identity, Role, RoomMark, Stopped
from tests.unit.web.stage import ADAS_ROOM, served

AT: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)


class KeptShelf:
    def __init__(self) -> None:
        self.marks: list[tuple[Identity, str, RoomMark]] = []
        self.asked: list[tuple[list[str], str]] = []
        self.restored: list[tuple[Identity, str, str]] = []

    async def mark_room(self, owner: Identity, address: Address, mark: RoomMark) -> None:
        self.marks.append((owner, address.room, mark))

    async def restore_room(self, owner: Identity, name: str, address: Address) -> bool:
        self.restored.append((owner, name, address.room))
        return True

    async def find(self, addresses: Sequence[Address], wanted: str) -> list[FoundEntry]:
        self.asked.append(([one.room for one in addresses], wanted))
        return [FoundEntry(one, "e1", Author.AGENT, "", AT, f"before\n\n{wanted} after") for one in addresses]


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
async def test_a_conversation_is_kept_as_its_person_wants_it(tmp_path: Path, body: Any, kept: RoomMark) -> None:
    shelf = KeptShelf()
    async with (
        served(tmp_path, shelf=shelf) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.post(f"/api/rooms/{ADAS_ROOM}/mark", json=body) as answer,
    ):
        assert answer.status == 200, await answer.text()
    assert shelf.marks == [(Identity("web:main/ada"), ADAS_ROOM, kept)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"title": "x" * 121}, "at most 120 characters"),
        ({"title": 4}, "at most 120 characters"),
        ({"pinned": "yes"}, 'Set "pinned" to true or false.'),
        ({"archived": 1}, 'Set "archived" to true or false.'),
        ({"read_at": "yesterday"}, "to an instant with its offset"),
        ({"read_at": "2026-03-01T12:00:00"}, "to an instant with its offset"),
    ],
)
async def test_nonsense_is_refused_with_what_would_be_right(tmp_path: Path, body: Any, told: str) -> None:
    shelf = KeptShelf()
    async with (
        served(tmp_path, shelf=shelf) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.post(f"/api/rooms/{ADAS_ROOM}/mark", json=body) as answer,
    ):
        assert answer.status == 400
        assert told in (await answer.json())["error"]
    assert shelf.marks == []


async def test_one_searches_ones_own_conversations_alone(tmp_path: Path) -> None:
    shelf = KeptShelf()
    async with served(tmp_path, shelf=shelf) as stage:
        stage.history.entries[stage.address(ADAS_ROOM)] = [Entry("s1", Author.PERSON, "Ada", AT, "hello")]
        async with (
            stage.client(stage.links.add("Ada", Role.USER)) as client,
            client.get("/api/search", params={"q": " lamp "}) as answer,
        ):
            [found] = (await answer.json())["found"]
        async with (
            stage.client(stage.links.add("Bob", Role.USER)) as client,
            client.get("/api/search", params={"q": "lamp"}) as answer,
        ):
            assert (await answer.json())["found"] == []
    assert (found["room"], found["title"], found["entry"], found["text"]) == (
        ADAS_ROOM,
        "hello",
        "e1",
        "before lamp after",
    )
    assert shelf.asked == [([ADAS_ROOM], "lamp"), ([], "lamp")]


async def test_a_conversation_is_deleted_by_a_signal_and_taken_back_by_who_deleted_it(tmp_path: Path) -> None:
    shelf = KeptShelf()
    async with served(tmp_path, shelf=shelf) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        async with client.post(f"/api/rooms/{ADAS_ROOM}/delete", json={"id": "delete-1"}) as answer:
            assert answer.status == 200, await answer.text()
        async with client.post(f"/api/rooms/{ADAS_ROOM}/restore", json={}) as answer:
            assert answer.status == 200, await answer.text()
    assert stage.sink.bodies == [Stopped(deletes=True)]
    assert shelf.restored == [(Identity("web:main/ada"), "Ada", ADAS_ROOM)]


def test_a_long_message_is_told_from_a_little_before_the_word() -> None:
    text = f"{'far ' * 100}the lamp is here {'and there ' * 100}"
    told = snippet(text, ["nothing", "lamp"])
    assert told.startswith("… far")
    assert "the lamp is here" in told
    assert len(told) < 170
    assert snippet("short", ["short"]) == "short"

"""What an open page hears."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse

from adapters.web import events
from adapters.web.events import BACKLOG, Feed
from adapters.web.window import NEWEST, PAGE, WHOLE_EVERY
from runtime.contract import (
    PEOPLE,
    QUESTIONS,
    Advancing,
    Author,
    Entry,
    Resting,
    Role,
    Speaking,
    Thinking,
    Working,
    room_topic,
)
from tests.unit.web.stage import Stage, served

ROOM = "room01"
SPOKEN = 12
"""States of a text that a page is shown."""
EVENTS = f"/api/rooms/{ROOM}/events"


def said(entry_id: str, text: str, minute: int = 0) -> Entry:
    return Entry(entry_id, Author.PERSON, "Ada", datetime(2026, 3, 1, 12, minute, tzinfo=UTC), text)


async def frame(answer: ClientResponse) -> tuple[str, Any]:
    """The next event of a stream, comments and settings skipped."""
    async with asyncio.timeout(30):
        while True:
            lines = (await answer.content.readuntil(b"\n\n")).decode().split("\n")
            if lines[0].startswith("event: "):
                return lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))


async def test_a_page_is_told_the_room_at_once_and_after_each_change(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.USER)) as client,
        client.get(EVENTS) as answer,
    ):
        assert answer.content_type == "text/event-stream"
        assert await frame(answer) == ("changed", {"entries": [], "busy": False, "mode": None})
        stage.history.entries[stage.address(ROOM)] = [said("s1", "hello")]
        stage.notifier.notify(room_topic(stage.address(ROOM)))
        event, room = await frame(answer)
        assert (event, [entry["text"] for entry in room["entries"]]) == ("changed", ["hello"])


async def test_what_a_page_was_told_comes_in_brief_from_then_on(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.history.entries[stage.address(ROOM)] = [said("s1", "hello")]
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.history.entries[stage.address(ROOM)] += [said("s2", "and again", minute=1)]
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, room = await frame(answer)
        assert room["entries"][0] == {"id": "s1", "version": 0, "answered": True}
        assert room["entries"][1]["text"] == "and again"


async def test_an_edited_message_is_told_anew(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.history.entries[stage.address(ROOM)] = [said("s1", "hello")]
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.history.entries[stage.address(ROOM)] = [replace(said("s1", "hello, all"), version=1)]
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, room = await frame(answer)
        assert room["entries"][0]["text"] == "hello, all"


async def test_after_a_change_the_newest_are_read_and_the_page_again_where_an_older_one_was_edited(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        entries = stage.history.entries[stage.address(ROOM)] = [said(f"s{n}", f"word {n}", minute=n) for n in range(50)]
        async with client.get(EVENTS) as answer:
            _, whole = await frame(answer)
            entries.append(said("s50", "news", minute=50))
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, newest = await frame(answer)
            entries[0] = replace(said("s0", "word for word"), version=1)
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, edited = await frame(answer)
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, same = await frame(answer)
    assert (len(whole["entries"]), len(newest["entries"]), newest["entries"][-1]["text"]) == (50, NEWEST, "news")
    assert [entry["text"] for entry in edited["entries"] if "text" in entry] == ["word for word"]
    assert len(same["entries"]) == NEWEST
    assert stage.history.read == [PAGE, NEWEST, NEWEST, PAGE, NEWEST]


async def test_a_message_is_told_as_answered_however_much_was_said_since(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        entries = stage.history.entries[stage.address(ROOM)] = [said(f"s{n}", f"word {n}", minute=n) for n in range(50)]
        entries[20] = replace(entries[20], answered=False)
        async with client.get(EVENTS) as answer:
            await frame(answer)
            entries += [said(f"s{n}", f"word {n}", minute=n) for n in range(50, 50 + NEWEST)]
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, waiting = await frame(answer)
            entries[20] = replace(entries[20], answered=True)
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, answered = await frame(answer)
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, later = await frame(answer)
    told = [next(one for one in room["entries"] if one["id"] == "s20") for room in (waiting, answered)]
    assert [one["answered"] for one in told] == [False, True]
    assert stage.history.read == [PAGE, NEWEST + 30, NEWEST + 38, NEWEST]
    assert len(later["entries"]) == NEWEST


async def test_where_much_was_said_between_two_looks_nothing_is_missing(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        entries = stage.history.entries[stage.address(ROOM)] = [said("s0", "first")]
        async with client.get(EVENTS) as answer:
            await frame(answer)
            entries += [said(f"s{n}", f"word {n}", minute=n) for n in range(1, 2 * NEWEST)]
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            _, room = await frame(answer)
    assert [entry["id"] for entry in room["entries"]] == [f"s{n}" for n in range(2 * NEWEST)]


async def test_what_comes_in_further_back_such_as_a_summary_is_told_at_once_and_once(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        entries = stage.history.entries[stage.address(ROOM)] = [said(f"s{n}", f"word {n}", minute=n) for n in range(50)]
        async with client.get(EVENTS) as answer:
            await frame(answer)
            entries.insert(10, replace(said("summary", "what was said", minute=9), version=1))
            for _ in range(2):
                stage.notifier.notify(room_topic(stage.address(ROOM)))
                _, room = await frame(answer)
                assert ("summary" in {entry["id"] for entry in room["entries"]}) is (len(room["entries"]) > NEWEST)
    assert stage.history.read == [PAGE, NEWEST, PAGE, NEWEST]


async def test_now_and_then_the_whole_page_is_read(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer:
            for _ in range(WHOLE_EVERY + 1):
                await frame(answer)
                stage.notifier.notify(room_topic(stage.address(ROOM)))
        assert stage.history.read[: WHOLE_EVERY + 1] == [PAGE, *[NEWEST] * (WHOLE_EVERY - 1), PAGE]


async def test_a_page_that_comes_back_says_what_it_has(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.history.entries[stage.address(ROOM)] = [said("s1", "old"), said("s2", "new", minute=5)]
        since = said("s2", "new", minute=5).at.isoformat()
        async with client.get(EVENTS, params={"since": since}) as answer:
            _, room = await frame(answer)
        assert ["text" in entry for entry in room["entries"]] == [False, True]
        async with client.get(EVENTS, params={"since": "noon"}) as answer:
            assert answer.status == 400


async def test_progress_arrives_in_order_and_in_its_own_room_only(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.adapter.progress(stage.address("other1"), Thinking())
            for event in (
                Thinking(),
                Working("shell", "{}"),
                Advancing("shell", "{}", "half \u202edone"),
                Working("shell", "{}", ended=True),
                Speaking("hi"),
                Resting(),
            ):
                stage.adapter.progress(stage.address(ROOM), event)
            told = [await frame(answer) for _ in range(6)]
        advancing = {"kind": "advancing", "tool": "shell", "arguments": "{}", "words": "half ⟨U+202E⟩done"}
        assert told == [
            ("progress", {"kind": "thinking"}),
            ("progress", {"kind": "working", "tool": "shell", "arguments": "{}", "ended": False}),
            ("progress", advancing),
            ("progress", {"kind": "working", "tool": "shell", "arguments": "{}", "ended": True}),
            ("progress", {"kind": "speaking", "text": "hi"}),
            ("progress", {"kind": "resting"}),
        ]


async def test_a_text_that_is_spoken_reads_the_store_once_when_it_is_there(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        entries = stage.history.entries[stage.address(ROOM)] = [said("s1", "hello")]
        async with client.get(EVENTS) as answer:
            await frame(answer)
            read = len(stage.history.read)
            for number in range(SPOKEN):
                stage.adapter.progress(stage.address(ROOM), Speaking("so " * number + "on"))
                await frame(answer)
            assert len(stage.history.read) == read
            entries.append(said("s2", "so on", minute=1))
            stage.adapter.progress(stage.address(ROOM), Resting())
            stage.notifier.notify(room_topic(stage.address(ROOM)))
            while (await frame(answer))[0] != "changed":
                pass
            assert len(stage.history.read) == read + 1


async def test_a_page_that_opens_in_the_middle_sees_what_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        stage.adapter.progress(stage.address(ROOM), Speaking("half an ans"))
        async with client.get(EVENTS) as answer:
            assert await frame(answer) == ("progress", {"kind": "speaking", "text": "half an ans"})
        stage.adapter.progress(stage.address(ROOM), Resting())
        async with client.get(EVENTS) as answer:
            assert (await frame(answer))[0] == "changed"


def test_a_slow_page_loses_old_progress_but_never_that_something_changed() -> None:
    feed = Feed()
    feed.change()
    for number in range(BACKLOG + 50):
        feed.push(Working("tool", str(number)))
    assert feed.take_change()
    assert feed.take_progress() == [Working("tool", str(number)) for number in range(50, BACKLOG + 50)]
    assert not feed.take_change()
    assert feed.take_progress() == []


def test_of_a_text_being_spoken_only_the_newest_state_waits() -> None:
    feed = Feed()
    for text in ("a", "ab", "abc"):
        feed.push(Speaking(text))
    assert feed.take_progress() == [Speaking("abc")]


async def test_what_changes_while_a_room_is_read_is_not_lost() -> None:
    feed = Feed()
    feed.change()
    assert feed.take_change()
    feed.change()  # while the page is being told of the first
    feed.push(Resting())
    assert feed.take_progress() == [Resting()]
    async with asyncio.timeout(30):
        await feed.wait()
    assert feed.take_change()


async def test_a_page_that_left_is_forgotten(tmp_path: Path) -> None:
    async with served(tmp_path) as stage:
        async with stage.client(stage.links.add("Ada", Role.USER)) as client, client.get(EVENTS) as answer:
            await frame(answer)
            assert stage.notifier.listeners == 1
        await gone(stage)


async def test_stopping_ends_every_stream_so_that_the_server_can_stop(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.adapter._events.close()
            async with asyncio.timeout(30):
                assert await answer.content.read() == b""
        await gone(stage)


async def test_a_quiet_stream_beats_and_a_voided_link_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", events.HEARTBEAT / 300)
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer:
            async with asyncio.timeout(30):
                while b": still here" not in await answer.content.readuntil(b"\n\n"):
                    pass
                stage.links.people.clear()
                await answer.content.read()
        await gone(stage)


async def test_a_stream_with_news_all_the_time_ends_with_its_link_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", events.HEARTBEAT / 300)
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer, asyncio.timeout(30), asyncio.TaskGroup() as group:
            await frame(answer)
            stage.links.people.clear()
            ringing = group.create_task(rings(stage))
            await answer.content.read()
            ringing.cancel()
        await gone(stage)


async def rings(stage: Stage) -> None:
    """Questions change more often than a quiet stream beats."""
    while True:
        stage.notifier.notify(QUESTIONS)
        await asyncio.sleep(0.01)


async def test_a_stream_ends_at_once_when_its_person_is_signed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", events.HEARTBEAT * 100)  # by which it would end too
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.USER)) as client:
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.links.people.clear()
            stage.notifier.notify(PEOPLE)
            async with asyncio.timeout(30):
                await answer.content.read()
        await gone(stage)


async def test_a_stream_ends_at_once_when_its_person_may_no_longer_read_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT", events.HEARTBEAT * 100)  # by which it would end too
    async with served(tmp_path) as stage, stage.client(stage.links.add("Otto", Role.OPERATOR)) as client:
        async with client.get(EVENTS) as answer:
            await frame(answer)
            stage.links.add("Otto", Role.USER)
            stage.notifier.notify(PEOPLE)
            async with asyncio.timeout(30):
                assert b"changed" not in await answer.content.read()
        await gone(stage)


async def gone(stage: Stage) -> None:
    """Until no page listens; a page that left is noticed when something is written to it."""
    async with asyncio.timeout(30):
        while stage.notifier.listeners:
            stage.adapter.progress(stage.address(ROOM), Thinking())
            await asyncio.sleep(0.01)


async def test_a_person_has_so_many_streams_and_leaves_the_rest_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "STREAMS", 3)
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(served(tmp_path))
        ada = await stack.enter_async_context(stage.client(stage.links.add("Ada", Role.USER)))
        otto = await stack.enter_async_context(stage.client(stage.links.add("Otto", Role.OPERATOR)))
        pages = [await stack.enter_async_context(ada.get(EVENTS)) for _ in range(3)]
        assert [page.status for page in pages] == [200] * 3
        async with ada.get(EVENTS) as refused:
            assert refused.status == 429
            assert "Close one" in (await refused.json())["error"]
        async with otto.get(EVENTS) as others:
            assert others.status == 200
        pages[0].close()
        async with asyncio.timeout(20):  # nothing is written to the page that left: it counts no more by itself
            while True:
                async with ada.get(EVENTS) as again:
                    if again.status == 200:
                        break
                await asyncio.sleep(0.05)

"""The inbox of the page: what waits for the visitor, and presses that come from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from yarl import URL

from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Button,
    Choice,
    Clicked,
    Closed,
    Content,
    Effect,
    Identity,
    Role,
    Waiting,
)
from tests.unit.web.stage import IDENTITY, served

AT: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASKED: Final = ApprovalId("a1")
CARD: Final = Content("**May I run `shell`?**\n\n```\n<b>ls</b>\n```", (Button(ASKED, Choice.APPROVE, "Approve"),))
WAITING: Final = Waiting(
    ASKED,
    ApprovalKind.CALL,
    "shell",
    Effect.DANGER,
    Address("web", "main", "room01"),
    "#general",
    "Bob",
    AT,
    AT + timedelta(hours=12),
    CARD,
)


async def test_it_tells_what_waits_for_whoever_asks(tmp_path: Path) -> None:
    asked: list[Identity] = []

    async def inbox(who: Identity) -> list[Waiting]:
        asked.append(who)
        return [WAITING, replace(WAITING, id=ApprovalId("a2"), card=None)]

    async with (
        served(tmp_path, inbox=inbox) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.get("/api/inbox") as answer,
    ):
        told = await answer.json()
    first, second = told["questions"]
    assert (told["count"], asked) == (2, [Identity("web:main/ada")])
    assert (first["id"], first["effect"], first["room"], first["requester"]) == ("a1", "danger", "#general", "Bob")
    assert first["buttons"] == [{"approval_id": "a1", "choice": "approve", "label": "Approve"}]
    assert "&lt;b&gt;ls&lt;/b&gt;" in first["html"]
    assert (second["html"], second["buttons"]) == ("", [])


async def test_it_tells_what_became_of_those_that_the_page_knows(tmp_path: Path) -> None:
    asked: list[tuple[Identity, list[ApprovalId]]] = []

    async def inbox(_: Identity) -> list[Waiting]:
        return [WAITING]

    async def closed(who: Identity, questions: Sequence[ApprovalId]) -> list[Closed]:
        asked.append((who, [*questions]))
        return [Closed(ApprovalId("b1"), "shell", "#general", "denied", "Bob", AT, "not <today>")]

    async with (
        served(tmp_path, inbox=inbox, closed=closed) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
    ):
        async with client.get("/api/inbox", params={"knows": "a1,b1,"}) as answer:
            (told,) = (await answer.json())["closed"]
        async with client.get("/api/inbox", params={"knows": "a1"}) as answer:
            assert (await answer.json())["closed"] == []
    assert asked == [(Identity("web:main/ada"), ["b1"])]
    assert (told["state"], told["by"], told["at"]) == ("denied", "Bob", AT.isoformat())
    assert (told["tool"], told["room"], told["reason"]) == ("shell", "#general", "not <today>")


async def test_a_press_there_is_vouched_for_and_belongs_to_no_room(tmp_path: Path) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        body = {"id": "0123456789abcdef", "inbox": True, "room": "room01", "choice": "approve"}
        async with client.post("/api/approvals/a1", json=body) as answer:
            assert answer.status == 200
        (signal,) = stage.sink.taken.values()
    assert (signal.body, signal.alone) == (Clicked(ASKED, Choice.APPROVE), True)
    assert str(signal.address) == f"web:{IDENTITY}/inbox"


@pytest.mark.parametrize("inbox", ["yes", 1, None, {}])
async def test_only_the_word_itself_means_the_inbox(tmp_path: Path, inbox: object) -> None:
    async with served(tmp_path) as stage, stage.client(stage.links.add("Ada", Role.OWNER)) as client:
        body = {"id": "0123456789abcdef", "inbox": inbox, "room": "room01", "choice": "approve"}
        async with client.post("/api/approvals/a1", json=body) as answer:
            assert answer.status == 200
        (signal,) = stage.sink.taken.values()
    assert (signal.alone, signal.address) == (False, stage.address("room01"))


async def test_the_inbox_is_no_room_to_read_or_write(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client(stage.links.add("Ada", Role.OWNER)) as client,
        client.get("/api/rooms/inbox/timeline") as answer,
    ):
        assert answer.status == 404


@pytest.mark.parametrize("number", ["1", "9", "9%2B"])
async def test_the_icon_has_a_number(tmp_path: Path, number: str) -> None:
    async with (
        served(tmp_path) as stage,
        stage.client() as client,
        client.get(URL(f"/static/icon-{number}.svg", encoded=True)) as answer,
    ):
        assert (answer.status, answer.content_type) == (200, "image/svg+xml")
        assert f">{number.replace('%2B', '+')}</text></svg>" in await answer.text()

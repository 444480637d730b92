"""The channel's side of the contract."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from runtime.contract import (
    Address,
    ApprovalId,
    Attempt,
    Button,
    ChannelAdapter,
    Choice,
    Content,
    Delivery,
    DeliveryId,
    FileRef,
    Kind,
    Part,
    Receipt,
    SettleResult,
)
from runtime.http.authentication import Authenticator
from tests.unit.web.stage import build

HERE = Address("web", "main", "room01")


def as_channel(adapter: ChannelAdapter) -> ChannelAdapter:
    """Checked by mypy: the adapter is a ChannelAdapter."""
    return adapter


def delivery(text: str, **content: object) -> Delivery:
    return Delivery(DeliveryId("d1"), "run:1", 0, Kind.APPROVAL, HERE, Content(text, **content))  # type: ignore[arg-type]


async def test_showing_is_the_couriers_commit(tmp_path: Path) -> None:
    adapter = as_channel(build(tmp_path).adapter)
    part = Part(DeliveryId("d1"), 1, HERE, "{}")
    offered = adapter.features()
    assert (offered.edits, offered.stored, offered.settles) == (True, True, False)
    assert offered.progress is not None
    assert await adapter.show(part) == Receipt("d1.1")
    assert await adapter.edit(Receipt("d0.1"), part) == Receipt("d1.1")
    assert await adapter.settle(part, Attempt(1, datetime(2026, 8, 1, tzinfo=UTC))) is SettleResult.UNKNOWN


def test_a_delivery_is_one_wire_message_with_markdown_html_buttons_and_files(tmp_path: Path) -> None:
    button = Button(ApprovalId("ap1"), Choice.DENY, "Deny")
    file = FileRef("a.txt", "out/a.txt", 3)
    (wire,) = build(tmp_path).adapter.render(delivery("Run `ls`? <b>", buttons=(button,), files=(file,)))
    assert json.loads(wire.body) == {
        "kind": "approval",
        "markdown": "Run `ls`? <b>",
        "html": "<p>Run <code>ls</code>? &lt;b&gt;</p>",
        "buttons": [{"approval_id": "ap1", "choice": "deny", "label": "Deny"}],
        "files": [{"name": "a.txt", "path": "out/a.txt", "size": 3}],
    }
    assert wire.fallback == "Run ls? <b>"


def test_thirty_thousand_characters_stay_one_message_and_lose_nothing(tmp_path: Path) -> None:
    text = "".join(f"- item {number} 漢字 🚦\n" for number in range(2_000))
    (wire,) = build(tmp_path).adapter.render(delivery(text))
    body = json.loads(wire.body)
    assert body["markdown"] == text
    assert all(f"<li>item {number} " in body["html"] for number in range(2_000))


async def test_listening_ends_by_being_cancelled_and_leaves_no_task(tmp_path: Path) -> None:
    stage = build(tmp_path)
    before = asyncio.all_tasks()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(stage.adapter.listen(stage.sink))
        await asyncio.sleep(0)
        assert stage.adapter.standing().trouble is None
        task.cancel()
    assert stage.adapter.standing().trouble is not None
    assert asyncio.all_tasks() == before


def test_two_installations_on_one_machine_do_not_share_a_cookie(tmp_path: Path) -> None:
    links = build(tmp_path).links
    assert Authenticator(links=links, identity="a").cookie != Authenticator(links=links, identity="b").cookie

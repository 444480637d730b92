"""Payloads of many shapes: the real adapter makes of each what is written beside it, and acknowledges it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web

from bot.testing.serve import serving
from tests.contract.adapters.stage import at_work, until
from tests.wire.shapes import Line, Outcome, check, heard, lines, made
from tests.wire.slack.stage import TEAM, Workspace, workspace

LINES: Final = lines(Path(__file__).parent / "shapes" / "payloads.jsonl")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Outcome]:
    """All of them, told one after the other to one account over its socket, and to one over HTTP."""
    return asyncio.run(_told(tmp_path_factory.mktemp("shapes")))


@pytest.mark.parametrize("line", LINES, ids=[line["name"] for line in LINES])
def test_a_payload_makes_what_is_written_beside_it(line: Line, outcomes: Mapping[str, Outcome]) -> None:
    check(line, outcomes[line["name"]])


async def _told(folder: Path) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    async with workspace(folder) as on:
        on.slack.delivery.pace.ack_within = 15
        for over, way in (("socket", on.life), ("http", lambda: _over_http(on))):
            async with way():
                for line in LINES:
                    if line.get("over", "socket") == over:
                        found[line["name"]] = await _tell(on, line)
    return found


@asynccontextmanager
async def _over_http(on: Workspace) -> AsyncIterator[None]:
    adapter, app = on.adapter(mode="http"), web.Application()
    app.add_routes(routes := adapter.routes())
    async with serving(app) as base, at_work(adapter, on.sink):
        await on.connected(adapter)
        await on.driver.hook(f"{base}{routes[0].path}")
        yield


async def _tell(on: Workspace, line: Line) -> Outcome:
    """Tell it until it is acknowledged. What is suggested or opened beside that may end later."""
    before = len(on.sink.calls)
    [event] = on.slack.people.do(_raw(line))
    with heard() as warnings:
        on.slack.delivery.tell(event)
        await until(lambda: event.id in on.slack.board.acked, f"acknowledgement of {line['name']}")
    return Outcome(list(map(made, on.sink.calls[before:])), list(warnings), on.slack.board.acked[event.id])


def _raw(line: Line) -> dict[str, Any]:
    return {"type": "raw", "team": TEAM, "kind": line["kind"], "payload": line["payload"]}

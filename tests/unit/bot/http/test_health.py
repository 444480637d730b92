"""Whether the process lives, and whether it can work."""

from __future__ import annotations

from functools import partial

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.http.health import Check, health_routes, reasons_against
from bot.server.site import is_watcher
from runtime.errors import StoreError


async def fine() -> None:
    return None


async def broken() -> None:
    raise StoreError("the disk is full")


async def ask(path: str, checks: dict[str, Check]) -> tuple[int, dict[str, object]]:
    site = web.Application()
    site.add_routes(health_routes(checks))
    async with TestClient(TestServer(site)) as client, client.get(path) as answer:
        return answer.status, await answer.json()


async def test_it_is_ready_when_nothing_speaks_against_it() -> None:
    assert await ask("/readyz", {"store": fine, "web": lambda: None}) == (200, {"status": "ready"})


async def test_every_reason_is_told() -> None:
    status, told = await ask("/readyz", {"store": broken, "web": lambda: "not connected", "other": fine})
    assert status == 503
    assert told["reasons"] == {"store": "the disk is full", "web": "not connected"}


async def test_it_lives_whatever_is_not_ready() -> None:
    assert await ask("/healthz", {"store": broken}) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("headers", "is_told"),
    [
        ({}, True),
        ({"Host": "bot.example.org"}, True),
        ({"Host": "evil.example"}, False),
        ({"Host": "evil.example", "Authorization": "Bearer wrong"}, False),
        ({"Host": "evil.example", "Authorization": "Bearer secret"}, True),
    ],
)
async def test_why_it_is_stuck_is_told_to_those_who_watch(headers: dict[str, str], is_told: bool) -> None:
    may_know = partial(is_watcher, hosts={"bot.example.org"}, token="secret")
    site = web.Application()
    site.add_routes(health_routes({}, stuck=lambda: "it lost its place", may_know=may_know))
    async with TestClient(TestServer(site)) as client, client.get("/healthz", headers=headers) as answer:
        assert answer.status == 503
        assert await answer.json() == {"status": "stuck", **({"reason": "it lost its place"} if is_told else {})}


async def test_a_check_that_breaks_is_a_reason_too() -> None:
    def bug() -> str | None:
        raise RuntimeError("a bug")

    assert await reasons_against({"bug": bug}) == {"bug": "RuntimeError: a bug"}

"""The console's API and pages, over HTTP, behind the real guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.console.routes import console_routes
from bot.node.lock import Control
from bot.operator.client import Client, connected
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address
from runtime.http.authentication import Authenticator
from runtime.http.guard import install
from tests.unit.bot.fake_store import TOKEN, FakeStore, context_of

EVIL = "<script>alert(1)</script>"
Browser = TestClient[web.Request, web.Application]


@asynccontextmanager
async def serving(
    store: FakeStore, notifier: LocalNotifier | None = None, nudged: list[Address] | None = None
) -> AsyncIterator[Browser]:
    site = web.Application()
    install(site, [])
    site.add_routes(console_routes(context_of(store, notifier, nudged)))
    async with TestClient(TestServer(site)) as browser:
        yield browser


@asynccontextmanager
async def client(
    store: FakeStore, *, notifier: LocalNotifier | None = None, nudged: list[Address] | None = None
) -> AsyncIterator[Client]:
    async with serving(store, notifier, nudged) as browser:
        url = str(browser.make_url("")).rstrip("/")
        async with connected(Control(url, TOKEN, 1)) as made:
            yield made


def as_person(name: str) -> dict[str, Any]:
    """The cookie of a person, as the page sets it."""
    cookie = Authenticator(links=FakeStore(), identity="w1").cookie
    return {"cookies": {cookie: f"link-of-{name}"}}


def same_site(browser: Browser) -> dict[str, str]:
    return {"Origin": str(browser.make_url("")).rstrip("/"), "Sec-Fetch-Site": "same-origin"}


PAGES = ["/console", "/console/approvals", "/console/runs", "/console/outbox", "/console/people", "/console/trace"]


async def page(store: FakeStore, path: str) -> str:
    async with serving(store) as browser, browser.get(path, **as_person("ada")) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/html"
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        return await answer.text()

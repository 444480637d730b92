"""The doors by which the page's browsers ask to be told, for people who are signed in there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.push.routes import NO_LIBRARY, NO_SESSION, TURNED_OFF, PushRoutes
from bot.push.vapid import BAD_BROWSER, BrowserAddress, Vapid
from bot.settings.sections.web_push import PushSection
from runtime.contract import Role
from runtime.domain.approvals import Rights
from runtime.domain.ids import digest
from runtime.guard.sealing import Sealer
from runtime.http.authentication import SecondLayer
from runtime.http.guard import install
from runtime.store.web_push.subscriptions import Browser
from tests.contract.store.stage import ADA, SHELL, Stage
from tests.fakes.push_service import FakeBrowser, padded, unpadded
from tests.unit.bot.fake_store import FakeStore, context_of

SEALER: Final = Sealer(b"k" * 32)
LINK: Final = "a-link-of-ada"
ENDPOINT: Final = "https://push.example.org/wpush/v2/abc"
NO_POINT: Final = "BA" + "BA" * 42 + "A"
"""As long as a key, but no point of the curve: nothing can be sealed for it."""
Made = Callable[[], Vapid] | None
Client = TestClient[web.Request, web.Application]


def vapid() -> Vapid:
    return Vapid(SEALER, "mailto:ops@example.org")


@asynccontextmanager
async def served(
    stage: Stage, made: Made = vapid, *, token: str = LINK, second: SecondLayer | None = None
) -> AsyncIterator[Client]:
    await stage.store.people.set_link("Ada", LINK, actor="test")
    context = replace(context_of(FakeStore()), store=stage.store, links=stage.store.people)
    if second:
        context = replace(context, auth=replace(context.auth, page=second))
    doors, site = PushRoutes(context, lambda: SEALER, made), web.Application()
    install(site, [])
    site.add_routes(doors.routes())
    cookies = {doors._authenticator.cookie: token} if token else {}
    async with TestClient(TestServer(site), cookies=cookies) as client:
        client.session.headers["Origin"] = str(client.make_url("")).rstrip("/")
        yield client


def as_browsers_write_it(browser: FakeBrowser) -> dict[str, Any]:
    known = browser.address
    return {"endpoint": known.endpoint, "expirationTime": None, "keys": {"p256dh": known.p256dh, "auth": known.auth}}


async def trouble(client: Client) -> tuple[bool, str]:
    async with client.get("/api/push") as answer:
        told = await answer.json()
    return bool(told["key"]), told["trouble"]


async def test_a_browser_is_kept_sealed_and_with_its_sign_in(stage: Stage) -> None:
    browser = FakeBrowser("phone", ENDPOINT)
    async with served(stage) as client:
        async with client.get("/api/push") as answer:
            terms = await answer.json()
        async with client.post("/api/push/browsers", json=as_browsers_write_it(browser)) as answer:
            assert answer.status == 201
        async with client.get("/api/push") as answer:
            assert (await answer.json())["told"] is True
    assert (terms["on"], terms["trouble"], terms["told"], len(padded(terms["key"]))) == (True, "", False, 65)
    ((name, session, sealed),) = await stage.rows("SELECT id, session, sealed FROM push_subscriptions")
    assert (name, session) == (digest(ENDPOINT), digest(LINK))
    assert BrowserAddress.of_text(SEALER.open(sealed, Browser.about_of(name))) == replace(
        browser.address, language="en"
    )


async def test_every_node_has_the_same_key_and_another_seal_makes_another_one() -> None:
    assert vapid().public_key == vapid().public_key
    assert vapid().public_key != Vapid(Sealer(b"x" * 32), "").public_key


@pytest.mark.parametrize("subject", ["mailto:ops@box", "https://box.example.org/contact"])
def test_whoever_the_settings_name_is_named_to_push_services(subject: str) -> None:
    given = PushSection(enabled=True, subject=subject)
    proof = Vapid(SEALER, given.subject).proof(
        FakeBrowser("phone", ENDPOINT).address, datetime(2026, 11, 1, tzinfo=UTC)
    )
    assert proof["Authorization"].startswith("vapid t=")


async def test_what_was_seen_and_who_looks_is_noted_and_a_browser_dropped(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    async with served(stage) as client:
        await client.post("/api/push/browsers", json=as_browsers_write_it(FakeBrowser("phone", ENDPOINT)))
        await client.post("/api/push/here", json={"here": True, "seen": []})
        (one,) = await stage.store.web_push.to_tell(Rights())
        assert one.browser.is_looking
        await client.post("/api/push/here", json={"here": False, "seen": [*parked.approvals, 7, "\0", "\ud800"]})
        assert await stage.store.web_push.to_tell(Rights()) == []
        await client.post("/api/push/browsers/drop", json={"endpoint": ENDPOINT})
    assert not await stage.store.web_push.any_browser()


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://push.example.org/x"},
        {"endpoint": "https://ada@push.example.org/x"},
        {"endpoint": "https://push.example.org/" + "x" * 1_000},
        {"endpoint": "https://[2001:db8::1]/x"},
        {"endpoint": "https://push.example.org:port/x"},
        {"endpoint": 7},
        {"endpoint": "https://push.example.org:99999/x"},
        {"endpoint": "https://push.example.org:abc/x"},
        {"endpoint": "https://push.example.org:0/x"},
        {"endpoint": "https://[::1/x"},
        {"endpoint": "https://pu sh.example.org/x"},
        {"keys": {"p256dh": unpadded(b"\x04" + b"\x01" * 64), "auth": unpadded(b"a" * 16)}},
        {"keys": None},
        {"keys": {"p256dh": "BAAA", "auth": "AAAA"}},
        {"keys": {"p256dh": "é", "auth": "AAAA"}},
        {"keys": {"p256dh": NO_POINT, "auth": "A" * 22}},
    ],
)
async def test_what_is_no_browser_is_refused(stage: Stage, change: dict[str, Any]) -> None:
    given = {**as_browsers_write_it(FakeBrowser("phone", ENDPOINT)), **change}
    async with served(stage) as client, client.post("/api/push/browsers", json=given) as answer:
        assert (answer.status, (await answer.json())["error"]) == (400, BAD_BROWSER)


async def test_it_says_in_words_why_a_browser_can_t_be_told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(stage, None) as client:
        assert await trouble(client) == (False, TURNED_OFF)
    monkeypatch.setattr("bot.push.vapid.LIBRARY", "a_library_that_is_not_here")
    async with served(stage) as client:
        assert await trouble(client) == (False, NO_LIBRARY)
        given = as_browsers_write_it(FakeBrowser("phone", ENDPOINT))
        async with client.post("/api/push/browsers", json=given) as answer:
            assert (answer.status, (await answer.json())["error"]) == (409, NO_LIBRARY)


async def test_who_comes_through_a_proxy_is_told_why_not(stage: Stage) -> None:
    who = await stage.store.people.identified(ADA)
    assert who is not None
    assert who.role is Role.OWNER

    async def ask(_: web.Request) -> Any:
        return who, ADA

    async with served(stage, token="", second=SecondLayer("", ask)) as client:
        assert await trouble(client) == (False, NO_SESSION)

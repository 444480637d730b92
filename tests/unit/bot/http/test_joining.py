"""The page of an invitation: it asks for a name, lets one person in, and says in words why it doesn't."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.console.routes import console_routes
from bot.http.joining import SORRY
from runtime.contract import Role
from runtime.http.guard import install
from runtime.store.protocol.people import Unjoined
from runtime.store.store import Store, open_store
from tests.unit.bot.fake_store import FakeStore, context_of
from tests.unit.bot.operator.console import Browser, same_site
from tests.unit.guard.secrets import SECRETS


@asynccontextmanager
async def door() -> AsyncIterator[tuple[Browser, Store]]:
    """The routes over a real store, in which Ada is an owner."""
    store = await open_store("sqlite:///:memory:")
    await store.people.add_person("Ada", Role.OWNER, [], actor="")
    site = web.Application()
    install(site, [])
    site.add_routes(console_routes(replace(context_of(FakeStore()), store=store, links=store.people)))
    async with TestClient(TestServer(site)) as browser:
        yield browser, store
    await store.close()


async def made(store: Store) -> str:
    _, token = await store.people.make_invitation(Role.USER, timedelta(days=1), actor="Ada")
    return token


async def test_whoever_opens_the_link_gives_a_name_and_is_in() -> None:
    async with door() as (browser, store):
        token = await made(store)
        for _ in range(2):  # a program that shows previews looks too
            async with browser.get(f"/join/{token}") as answer:
                assert answer.status == 200
                assert "Ada has invited you." in await answer.text()
        async with browser.post(f"/api/join/{token}", json={"name": " Zoe  B "}, headers=same_site(browser)) as answer:
            assert await answer.json() == {"name": "Zoe B", "told": ""}
            (cookie,) = answer.cookies.values()
            assert cookie["httponly"]
            assert cookie["samesite"] == "Strict"
        found = await store.people.person_of(cookie.value)
        assert found
        assert (found[0].name, found[0].role) == ("Zoe B", Role.USER)
        async with browser.post(f"/api/join/{token}", json={"name": "Yan"}, headers=same_site(browser)) as answer:
            assert (answer.status, (await answer.json())["error"]) == (410, SORRY[Unjoined.USED])
        async with browser.get(f"/join/{token}") as answer:
            assert answer.status == 410
            assert "lets one person in" in await answer.text()


async def test_a_name_that_is_taken_gets_a_number_and_says_so() -> None:
    async with door() as (browser, store):
        token = await made(store)
        async with browser.post(f"/api/join/{token}", json={"name": "ada"}, headers=same_site(browser)) as answer:
            told = await answer.json()
        assert told["name"] == "ada 2"
        assert told["told"].startswith("You're called ada 2 here")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "Write a name."),
        (7, "Write a name."),
        (" :: ", "Write a name."),
        ("Settings", "Choose another one"),
        ("C\u043emmand line of root", "Choose another one"),
        ("Zo\ud800e", "invisible characters"),
        ("Zo\0e", "invisible characters"),
        ("Zo\u202ee", "invisible characters"),
        ("x" * 500, "at most 100 characters, and this one has 500"),
        (SECRETS["npm"][1], "mustn't be stored"),
    ],
)
async def test_a_name_that_cannot_be_kept_is_refused_and_the_invitation_stays(name: object, words: str) -> None:
    async with door() as (browser, store):
        token = await made(store)
        async with browser.post(f"/api/join/{token}", json={"name": name}, headers=same_site(browser)) as answer:
            assert answer.status == 400
            assert words in (await answer.json())["error"]
        assert (await store.people.invitations())[0].ended_at is None


async def test_links_that_are_no_invitation_say_so() -> None:
    async with door() as (browser, store):
        async with browser.get("/join/nothing-like-it") as answer:
            assert answer.status == 404
            assert "doesn&#x27;t exist" in await answer.text()
        invitation, token = await store.people.make_invitation(Role.USER, timedelta(days=1), actor="Ada")
        await store.people.revoke_invitation(invitation.id, actor="Ada")
        async with browser.get(f"/join/{token}") as answer:
            assert answer.status == 410
            assert "was withdrawn" in await answer.text()


async def test_another_site_lets_nobody_join() -> None:
    async with door() as (browser, store):
        token = await made(store)
        foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        async with browser.post(f"/api/join/{token}", json={"name": "Zoe"}, headers=foreign) as answer:
            assert answer.status == 403
        assert (await store.people.invitations())[0].ended_at is None

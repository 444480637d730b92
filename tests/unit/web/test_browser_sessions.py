"""Browsers of one link: each is confirmed and signed out for itself."""

from __future__ import annotations

from aiohttp import ClientSession, CookieJar, web

from bot.auth.confirming import Confirmations
from bot.testing.serve import serving
from runtime.contract import Role
from runtime.domain.ids import digest
from runtime.http.authentication import Authenticator, SecondLayer
from tests.unit.web.stage import FakeLinks


def browser() -> ClientSession:
    return ClientSession(cookie_jar=CookieJar(unsafe=True), headers={"Sec-Fetch-Site": "same-origin"})


async def test_a_browser_that_opens_its_link_is_confirmed_and_no_other_one() -> None:
    links, seconds = FakeLinks(), [0.0]
    confirmations = Confirmations(lambda: seconds[0])
    site, door = (
        web.Application(),
        Authenticator(links=links, identity="main", second=SecondLayer(opened=confirmations.opened)),
    )
    site.add_routes([web.get("/link/{token}", door.enter)])
    link = f"/link/{links.add('Ada', Role.OWNER)}"

    def confirmed() -> list[bool]:
        return [bool(confirmations.left(digest(one))) for one in links.sessions]

    async with serving(site) as url, browser() as one, browser() as two:
        for each in (one, two):
            await each.get(url + link, allow_redirects=False)
        assert confirmed() == [True, True]
        seconds[0] = 700
        assert confirmed() == [False, False]
        async with two.get(url + link, allow_redirects=False) as answer:
            assert (answer.status, answer.cookies) == (303, {}), "its session goes on"
        assert confirmed() == [False, True]
        for session in [*links.sessions]:
            async with browser() as thief, thief.get(f"{url}/link/{session}", allow_redirects=False) as answer:
                assert answer.status >= 400, "a session is no link, so it confirms nothing"


async def test_who_becomes_somebody_else_leaves_no_session_behind() -> None:
    links = FakeLinks()
    site, door = web.Application(), Authenticator(links=links, identity="main")
    site.add_routes([web.post("/link/{token}", door.become)])
    async with serving(site) as url, browser() as one:
        for name in ("Ada", "Grace"):
            async with one.post(f"{url}/link/{links.add(name, Role.USER)}") as answer:
                assert answer.status == 204
        (session,) = links.sessions
    known = await links.person_of(session)
    assert known
    assert known[0].name == "Grace"

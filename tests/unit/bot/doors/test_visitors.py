"""People at the page as callers of the REST API: let in by their cookie as by the page itself, and never from elsewhere."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from typing import Final

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer, make_mocked_request

from bot.auth.layer import AuthLayer
from bot.doors.callers import PAGE_TOO_OFTEN, Caller, Callers
from bot.doors.page.visitors import PageVisitors
from bot.doors.rooms import ProgramRooms
from bot.doors.streams import STREAMS_PER_PERSON, STREAMS_PER_TOKEN, Streams
from runtime.contract import Address, Identity, Person, PersonId, Role
from runtime.domain.programs.token import ProgramToken
from runtime.http.authentication import SecondLayer
from runtime.http.errors import Refusal
from runtime.http.guard import install
from tests.unit.bot.doors.stage import NAMED_ROOM, OURS, OWN_HOST, DoorStage, doors_served
from tests.unit.web.stage import IDENTITY

SAY: Final = "/api/v1/rooms/adas01/messages"
WORDS: Final = {"text": "hello"}
SOCKET: Final = {"Connection": "Upgrade", "Upgrade": "websocket"}


def a_caller(token: ProgramToken, person: Person, *, at_page: bool = False) -> Caller:
    async def still() -> tuple[ProgramToken, Person]:
        return token, person

    return Caller(token, person, still, at_page=at_page)


async def rooms_of(stage: DoorStage, link: str) -> list[str]:
    status, told = await stage.by(link, "GET", "/api/v1/rooms")
    assert status == 200, told
    return [one["room"] for one in told["data"]]


async def test_a_person_has_the_rooms_of_their_page_and_nobody_elses() -> None:
    async with doors_served() as stage:
        ada, bob, vera = (
            stage.links.add(*one) for one in (("Ada", Role.USER), ("Bob", Role.USER), ("Vera", Role.VIEWER))
        )
        for name, room in (("Ada", "adas01"), ("Bob", "bobs01"), ("Vera", "veras1"), ("Ada", NAMED_ROOM)):
            stage.spoke(name, room)
        assert await rooms_of(stage, ada) == ["web:main/adas01"]
        assert await rooms_of(stage, bob) == ["web:main/bobs01"]
        assert await rooms_of(stage, vera) == ["web:main/veras1"]
        others = [(room, 403) for room in ("bobs01", NAMED_ROOM, "nobodys1")]
        for room, status in (("adas01", 200), *others, ("Too.Strange", 422)):
            assert (await stage.by(ada, "GET", f"/api/v1/rooms/{room}/messages"))[0] == status, room


async def test_an_operator_reads_every_room_of_the_page() -> None:
    async with doors_served() as stage:
        oscar = stage.links.add("Oscar", Role.OPERATOR)
        stage.spoke("Ada", "adas01")
        stage.spoke("Ada", NAMED_ROOM)
        for room in ("adas01", NAMED_ROOM):
            assert (await stage.by(oscar, "GET", f"/api/v1/rooms/{room}/messages"))[0] == 200
        assert await rooms_of(stage, oscar) == []


async def test_a_person_may_do_what_their_role_may() -> None:
    async with doors_served() as stage:
        vera, ada = stage.links.add("Vera", Role.VIEWER), stage.links.add("Ada", Role.USER)
        _, me = await stage.by(ada, "GET", "/api/v1/me")
        assert (me["identity"], me["role"], me["rooms"], me["agents"]) == ("web:main/ada", "user", [], ["main"])
        assert (await stage.by(ada, "POST", SAY, WORDS))[0] == 202
        assert await rooms_of(stage, ada) == ["web:main/adas01"]
        for link, path, told in (
            (vera, "/api/v1/rooms/veras1/messages", "This needs the role user, and yours is viewer."),
            (ada, "/api/v1/schedules", "This needs the role operator, and yours is user."),
        ):
            status, why = await stage.by(link, "POST", path, WORDS)
            assert (status, why["detail"]) == (403, told)


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {**OURS, "Sec-Fetch-Site": "same-origin"}, 202),
        ("POST", {**OURS, "Origin": "{url}"}, 202),
        ("POST", {"Origin": "{url}"}, 202),
        ("POST", OURS, 403),
        ("POST", {}, 403),
        ("POST", {**OURS, "Origin": "https://evil.example"}, 403),
        ("POST", {**OURS, "Origin": "null"}, 403),
        ("POST", {**OURS, "Sec-Fetch-Site": "same-site"}, 403),
        ("POST", {**OURS, "Sec-Fetch-Site": "cross-site"}, 403),
        ("POST", {**OURS, "Sec-Fetch-Site": "none"}, 403),
        ("POST", {"Origin": "{url}", "Content-Type": "text/plain"}, 403),
        ("POST", {**OURS, "Origin": "http://evil.example", "Host": "evil.example"}, 421),
        ("GET", {}, 200),
        ("GET", {"Sec-Fetch-Site": "none"}, 200),
        ("GET", {"Host": OWN_HOST}, 200),
        ("GET", {"Host": "evil.example"}, 421),
        ("GET", {"Origin": "https://evil.example"}, 403),
        ("GET", {"Origin": "{url}", "Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", {"Sec-Fetch-Site": "same-site"}, 403),
        ("GET", SOCKET, 403),
        ("GET", {**SOCKET, "Origin": "http://127.0.0.1:1"}, 403),
    ],
)
async def test_a_cookie_counts_where_the_page_itself_asks(method: str, headers: dict[str, str], status: int) -> None:
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.USER)
        given = {name: words.format(url=stage.url) for name, words in headers.items()}
        path, body = (SAY, WORDS) if method == "POST" else ("/api/v1/rooms", None)
        assert (await stage.ask(method, path, {**stage.cookie(ada), **given}, body))[0] == status


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        ("Bearer sbx_made-up", 401),
        ("bearer sbx_ci", 401),
        ("Bearer control", 401),
        ("Bearer", 401),
        ("", 401),
        ("Digest abc", 401),
        ("Bearer sbx_ci", 200),
        ("Basic YTpi", 200),
    ],
)
async def test_a_bearer_goes_first_and_no_cookie_saves_one_that_is_refused(shown: str, status: int) -> None:
    async with doors_served() as stage:
        stage.tokens.add("ci", Role.USER)
        ada = stage.links.add("Ada", Role.OWNER)
        got, me = await stage.ask("GET", "/api/v1/me", {**stage.cookie(ada), "Authorization": shown})
        assert got == status
        if status == 200:
            assert me["identity"] == ("api:ci" if shown.startswith("Bearer") else "web:main/ada")


async def test_a_cookie_of_nobody_and_no_cookie_are_refused() -> None:
    async with doors_served() as stage:
        status, told = await stage.by("guessed", "GET", "/api/v1/rooms")
        assert (status, told["detail"][:36]) == (401, "This browser isn't signed in any mor")
        status, told = await stage.ask("POST", SAY, {}, WORDS)
        assert (status, told["detail"][:35]) == (401, "This needs a token in the header `A"), "a program is told so"


@pytest.mark.parametrize("path", ["/v1/models", "/mcp", "/a2a"])
async def test_other_doors_take_tokens_alone(path: str) -> None:
    async with doors_served() as stage:
        ada = stage.links.add("Ada", Role.OWNER)
        assert (await stage.by(ada, "GET", path))[0] == 401


async def test_a_program_whose_role_was_lowered_reads_its_own_rooms_alone() -> None:
    stage = DoorStage()
    stage.spoke("Ada", "adas01")
    rooms, token = ProgramRooms(stage.context()), ProgramToken(name="ci", role=Role.OPERATOR)
    for role, may in ((Role.OPERATOR, True), (Role.USER, False)):
        caller = a_caller(token, Person(PersonId("ci"), "ci", role))
        assert await rooms.may_read(caller, Address("web", IDENTITY, "adas01")) is may


async def test_people_of_a_proxy_are_let_in_as_at_the_page() -> None:
    asked: list[str] = []

    async def ask(request: web.Request) -> tuple[Person, Identity]:
        asked.append(request.cookies.get("proxy", ""))
        return Person(PersonId("ada"), "Ada", Role.USER), Identity("web:main/ada")

    async with doors_served(DoorStage(auth=AuthLayer(SecondLayer(ask=ask)))) as stage:
        stage.spoke("Ada", "adas01")
        status, told = await stage.ask("GET", "/api/v1/rooms", {"Cookie": "proxy=yes"})
        assert (status, [one["room"] for one in told["data"]]) == (200, ["web:main/adas01"])
        foreign = {"Cookie": "proxy=yes", "Origin": "https://evil.example"}
        assert (await stage.ask("GET", "/api/v1/rooms", foreign))[0] == 403
        assert (await stage.ask("GET", "/api/v1/rooms", {"Cookie": "proxy=yes", "Authorization": "Bearer x"}))[0] == 401
        assert (await stage.ask("GET", "/api/v1/rooms", {}))[0] == 401
        assert asked == ["yes"], "neither from elsewhere, nor for a program"


async def test_a_person_is_let_in_no_longer_than_their_link() -> None:
    stage = DoorStage()
    ada = stage.links.add("Ada", Role.USER)
    visitors = PageVisitors(stage.context())

    async def stay(request: web.Request) -> web.Response:
        caller = await visitors.caller(request)
        assert caller
        await caller.still()
        stage.links.people.clear()
        await caller.still()
        return web.Response()

    site = web.Application()
    install(site, [], webhooks=["/stay"])
    site.add_routes([web.get("/stay", stay)])
    async with TestServer(site) as server, ClientSession(headers=stage.cookie(ada)) as session:
        answer = await session.get(server.make_url("/stay"))
        assert (answer.status, "signed in any more" in await answer.text()) == (401, True)


async def test_a_person_may_ask_as_often_as_their_pages_do_and_no_oftener() -> None:
    context = DoorStage().context()
    at = timedelta(hours=1)
    callers = Callers(context.store.programs, context.now, ticks=lambda: at)

    async def at_page(request: web.Request) -> Caller:
        token = ProgramToken(name="web:main/ada", role=Role.USER, per_minute=3)
        return a_caller(token, Person(PersonId("ada"), "Ada", Role.USER), at_page=True)

    request = make_mocked_request("GET", "/api/v1/rooms")
    for _ in range(3):
        await callers.caller(request, at_page)
    with pytest.raises(Refusal) as refused:
        await callers.caller(request, at_page)
    assert (refused.value.status, refused.value.sentence) == (429, PAGE_TOO_OFTEN.format(count=3))


@pytest.mark.parametrize(
    ("at_page", "most", "told"),
    [(True, STREAMS_PER_PERSON, "You have 128 "), (False, STREAMS_PER_TOKEN, "This token has 1,000 ")],
)
def test_a_person_leaves_connections_to_others(at_page: bool, most: int, told: str) -> None:
    streams, person = Streams(), Person(PersonId("ada"), "Ada", Role.USER)
    ada, other = (
        a_caller(ProgramToken(name=name, role=Role.USER), person, at_page=at_page) for name in ("ada", "other")
    )
    with ExitStack() as opened:
        for _ in range(most):
            opened.enter_context(streams.opened(ada))
        with pytest.raises(Refusal, match=told), streams.opened(ada):
            """One more."""
        with streams.opened(other):
            """Somebody else."""
    with streams.opened(ada):
        """Again."""

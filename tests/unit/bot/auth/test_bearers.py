"""The API with tokens of the provider, beside our own: one layer, then the other, and never both for one token."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web

from bot.auth.admitting import NOBODY_NOTED_MAX, TURNED_AWAY_NOTED_EACH, AdmissionRules, Doorkeeper
from bot.auth.provider import AWAY_FOR
from bot.testing.serve import serving
from runtime.contract import Role
from runtime.domain.programs.token import ProgramToken
from runtime.store.store import open_store
from tests.fakes.openid import FakeOpenId, openid
from tests.unit.bot.auth.stage import OURS, ROLES, AuthStage, call, signing_in, staged

MINUTE: Final = 60.0


async def test_a_signed_token_opens_the_api_as_its_person(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage:
        token = at.signed()
        assert await call(stage, token) == (200, "oidc:ada-1 user")
        assert await call(stage, token) == (200, "oidc:ada-1 user")
        assert at.seen.count("jwks") == at.seen.count("openid-configuration") == 1
        assert at.seen.count("userinfo") == 0
        assert await stage.names() == {"Ada": "user", "owner": "owner"}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"aud": "signalbox-page"}, "This token is for another audience."),
        ({"iss": "https://evil.example"}, "This token is of another issuer."),
        ({"exp": 1}, "This token has ended."),
        ({"nbf": time.time() + 86_400}, "This token isn't valid yet."),
    ],
)
async def test_a_token_that_isnt_good_is_refused_with_its_reason(
    changed: dict[str, Any], why: str, tmp_path: Path
) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage:
        for _ in range(3):
            assert await call(stage, at.signed(**changed)) == (401, why)
        words = why.removeprefix("This ").rstrip(".")
        assert await stage.audit("turned away") == [("", f"a {words}", "")], "once, however often it comes"


async def test_our_own_tokens_never_reach_the_provider_nor_its_tokens_ours(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage:
        await stage.store.programs.make_token(ProgramToken(name="ci", role=Role.USER), "sbx_good")
        assert await call(stage, "sbx_good") == (200, "api:ci user")
        assert (await call(stage, "sbx_made.up.one"))[0] == 401
        assert (await call(stage, "nonsense"))[0] == 401
        assert at.seen == []


async def test_new_keys_are_found_and_made_up_ones_cost_the_provider_nothing(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage:
        old = at.signed()
        assert (await call(stage, old))[0] == 200
        at.rotate()
        stage.seconds += 11
        assert await call(stage, at.signed()) == (200, "oidc:ada-1 user")
        assert at.seen.count("jwks") == 2
        at.rotate("third")
        for _ in range(5):
            assert (await call(stage, at.signed()))[0] == 401
        assert at.seen.count("jwks") == 2, "looked for at most each ten seconds"
        stage.seconds += MINUTE
        assert (await call(stage, old))[0] == 401, "its key was given up"


@dataclass
class SlowKeys(FakeOpenId):
    """Its keys come once they may."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_come: asyncio.Event = field(default_factory=asyncio.Event)

    async def jwks(self, request: web.Request) -> web.Response:
        self.asked.set()
        await self.may_come.wait()
        return await super().jwks(request)


async def test_nobody_waits_while_keys_are_looked_for_that_somebody_made_up(tmp_path: Path) -> None:
    slow = SlowKeys()
    slow.may_come.set()
    async with openid(slow) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        good = at.signed()
        at.rotate()
        stage.seconds += MINUTE
        slow.may_come.clear()
        slow.asked.clear()
        looking = asyncio.ensure_future(call(stage, at.signed()))
        await slow.asked.wait()
        assert await ada.who() == (200, "Ada user")
        assert await call(stage, good) == (200, "oidc:ada-1 user")
        assert not looking.done()
        slow.may_come.set()
        assert (await looking)[0] == 200


async def test_an_old_token_raises_no_role_and_a_lowered_one_holds_at_once(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        at.person["groups"] = ["ops"]
        assert await call(stage, at.signed()) == (200, "oidc:ada-1 operator")
        old = at.signed(iat=int(time.time()) - 90)
        at.person["groups"] = ["staff"]
        await ada.sign_in()  # the provider says now: a user
        assert await call(stage, old) == (200, "oidc:ada-1 user")
        assert (await stage.names())["Ada"] == "user"
        at.person["groups"] = []
        assert (await call(stage, at.signed()))[0] == 403
        assert (await stage.names())["Ada"] == "viewer"


async def test_a_group_that_was_taken_away_doesnt_come_back_with_a_token_of_a_moment_earlier(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        at.person["groups"] = ["ops"]
        before, earlier = (at.signed(iat=int(time.time()) - seconds) for seconds in (20, 40))
        await ada.sign_in()
        at.person["groups"] = ["staff"]
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada user")
        assert await call(stage, before) == (200, "oidc:ada-1 user")
        assert (await stage.names())["Ada"] == "user"
        at.person |= {"sub": "eve-1", "name": "Eve"}
        assert await call(stage, at.signed()) == (200, "oidc:eve-1 user")
        at.person["groups"] = ["ops"]
        assert await call(stage, at.signed(iat=int(time.time()) - 20)) == (200, "oidc:eve-1 user"), "by a newer token"
        assert await call(stage, earlier) == (200, "oidc:ada-1 user")


async def test_a_token_that_says_nothing_of_groups_leaves_the_role_of_its_person(tmp_path: Path) -> None:
    roles = ROLES.replace('user = ["staff"]', 'user = ["staff", "*"]')
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at, roles=roles) as stage, stage.browser() as ada:
        at.person["groups"] = ["ops"]
        await ada.sign_in()
        assert await call(stage, at.signed(groups=None)) == (200, "oidc:ada-1 user")
        assert await ada.who() == (200, "Ada operator")
        assert await call(stage, at.signed(groups=[])) == (200, "oidc:ada-1 user")
        assert (await stage.names())["Ada"] == "user", "none at all is a word, too"
        at.person |= {"sub": "eve-1", "name": "Eve"}
        assert await call(stage, at.signed(groups=None)) == (200, "oidc:eve-1 user"), "made of everybody's role"


async def test_an_old_token_brings_nobody_back_who_was_removed(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage:
        at.person["groups"] = ["ops"]
        old = at.signed(iat=int(time.time()) - 90)
        assert (await call(stage, at.signed()))[0] == 200
        assert await call(stage, old) == (200, "oidc:ada-1 operator")
        await stage.store.people.remove("Ada", actor="owner")
        assert (await call(stage, old))[0] == 401
        assert await call(stage, old) == (
            403,
            "Nobody here has the identity oidc:ada-1, and this token is too old to make somebody. Get a new one.",
        )
        assert await stage.names() == {"owner": "owner"}
        assert ("oidc:ada-1", "an old token", "") in await stage.audit("turned away")


async def test_nobody_fills_the_audit_with_reasons_of_their_own_making() -> None:
    store = await open_store("sqlite:///:memory:")
    try:
        now = [0.0]
        door = Doorkeeper(store.people, AdmissionRules("Fake ID", {}), ticks=lambda: now[0])
        for number in range(NOBODY_NOTED_MAX + 9):
            await door.record("", f"a token is signed with 'x{number}'")
        await door.record("oidc:eve", "no role")
        assert len(await store.audit.newest_audit("turned away", limit=99)) == NOBODY_NOTED_MAX + 1
        now[0] += TURNED_AWAY_NOTED_EACH.total_seconds()
        await door.record("", "a token has ended")
        assert len(await store.audit.newest_audit("turned away", limit=99)) == NOBODY_NOTED_MAX + 2
    finally:
        await store.close()


async def test_a_provider_that_is_away_closes_the_api_for_its_tokens(tmp_path: Path) -> None:
    async with openid(FakeOpenId(away=True)) as at, signing_in(tmp_path, at) as stage:
        status, words = await call(stage, at.signed())
        assert (status, words) == (
            503,
            "Fake ID can't be asked about this token: it answered 503. Try again in a few seconds.",
        )
        assert (await call(stage, at.signed()))[0] == 503
        assert at.seen == ["openid-configuration"], "those who wait don't ask one after the other"
        at.away = False
        stage.seconds += AWAY_FOR.total_seconds()
        assert (await call(stage, at.signed()))[0] == 200


# ------------------------------------------------------------------------------------------------------ forward-auth


@asynccontextmanager
async def forwarding(folder: Path, answer: Callable[[web.Request], web.Response]) -> AsyncIterator[AuthStage]:
    async def verify(request: web.Request) -> web.Response:
        return answer(request)

    app = web.Application()
    app.add_routes([web.get("/verify", verify)])
    async with serving(app) as url, staged(folder, f'[auth]\nurl = "{url}/verify"\n{ROLES}', FakeOpenId()) as stage:
        yield stage


async def test_a_forward_auth_address_names_people_and_no_header_of_a_request_does(tmp_path: Path) -> None:
    seen = []

    def verify(request: web.Request) -> web.Response:
        seen.append(dict(request.headers))
        if "sso=ada" not in request.headers.get("Cookie", "") and "ada" not in request.headers.get("Authorization", ""):
            return web.Response(status=401)
        return web.Response(headers={"Remote-User": "ada", "Remote-Groups": "guests, staff", "Remote-Name": "Ada L."})

    async with forwarding(tmp_path, verify) as stage, stage.browser() as ada:
        forged = {"Remote-User": "owner", "Remote-Groups": "ops", "X-Forwarded-User": "owner"}
        assert (await ada.get("/api/who", **forged))[0] == 401
        assert (await ada.get("/api/who", Cookie="sso=eve", **forged))[0] == 401
        assert await ada.get("/api/who", Cookie="sso=ada; signalbox-x=ours") == (200, "Ada L. user")
        assert "signalbox-x" not in seen[-1]["Cookie"]
        assert await call(stage, "token-of-ada") == (200, "auth:ada user")
        asked = len(seen)
        assert await ada.get("/api/who", Cookie="sso=ada; signalbox-x=ours") == (200, "Ada L. user")
        assert len(seen) == asked
        stage.seconds += MINUTE
        await ada.get("/api/who", Cookie="sso=ada; signalbox-x=ours")
        assert len(seen) == asked + 1


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (web.Response(status=500), 503),
        (web.Response(status=204), 503),
        (web.Response(headers={"Remote-User": "a b"}), 503),
        (web.Response(status=302, headers={"Location": "https://id.example.com"}), 401),
        (web.Response(status=403, headers={"Remote-User": "ada", "Remote-Groups": "staff"}), 401),
        (web.Response(headers={"Remote-User": "ada"}), 403),
    ],
    ids=["broken", "nobody", "no identity", "elsewhere", "refused", "no group"],
)
async def test_a_forward_auth_address_that_names_nobody_lets_nobody_in(
    answer: web.Response, status: int, tmp_path: Path
) -> None:
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Type"}
    async with forwarding(tmp_path, lambda _: web.Response(status=answer.status, headers=headers)) as stage:
        assert (await call(stage, "token"))[0] == status
        assert (await stage.names()) == {"owner": "owner"}
        assert len(await stage.audit("turned away")) == 1


async def test_there_is_no_sign_out_where_a_proxy_signs_in(tmp_path: Path) -> None:
    async with forwarding(tmp_path, lambda _: web.Response(status=401)) as stage, stage.browser() as ada:
        assert await ada.sign_out(**OURS, Origin=stage.url) == 404

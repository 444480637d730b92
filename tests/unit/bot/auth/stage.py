"""A site with people who sign in at a fake provider: the real layer over a store in memory, and browsers with cookies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession, CookieJar, web
from yarl import URL

from bot.auth.layer import AuthLayer
from bot.auth.parts import layer_of
from bot.doors.callers import Callers
from bot.settings.settings import Settings, load
from bot.testing.serve import serving
from runtime.contract import Links, Role
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.http.authentication import SIGN_OUT_PATH, Authenticator
from runtime.http.guard import install
from runtime.store.store import Store, open_store
from tests.fakes.openid import API_AUDIENCE, OPENID_CLIENT, FakeOpenId

ROLES: Final = '[auth.roles]\nviewer = ["guests"]\nuser = ["staff"]\noperator = ["ops"]\n'
OURS: Final = {"X-Signalbox": "1"}


@dataclass
class AuthStage:
    """`seconds` are those of the clock by which the provider is asked again."""

    store: Store
    at: FakeOpenId
    url: str = ""
    seconds: float = 1_000.0
    rights: Rights = field(default_factory=Rights)

    def ticks(self) -> float:
        return self.seconds

    async def names(self) -> dict[str, str]:
        return {one.person.name: one.person.role.word for one in await self.store.people.people()}

    async def audit(self, kind: str) -> list[tuple[str, str, str]]:
        rows = await self.store.audit.newest_audit(kind, limit=50)
        return [(row.actor, row.subject, row.detail) for row in rows]

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[Browser]:
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            yield Browser(session, self)


@dataclass
class Browser:
    """A browser, with its cookies."""

    session: ClientSession
    stage: AuthStage

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.session.get(self.stage.url + path, headers=headers, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Location") or unescape(await answer.text())

    async def who(self) -> tuple[int, str]:
        return await self.get("/api/who")

    async def begin(self, following: str = "", more: str = "") -> str:
        """The provider's page, where the person says yes: the address to which it sends the browser back."""
        status, page = await self.get(f"/sign-in?next={following}{more}")
        assert status == 303, page
        async with self.session.get(URL(page, encoded=True), allow_redirects=False) as answer:
            return answer.headers["Location"].removeprefix(self.stage.url)

    async def sign_in(self, following: str = "", more: str = "") -> tuple[int, str]:
        return await self.get(await self.begin(following, more))

    async def sign_out(self, **headers: str) -> int:
        async with self.session.post(self.stage.url + "/sign-out", headers=headers) as answer:
            return answer.status

    def cookies(self) -> dict[str, str]:
        return {cookie.key: cookie.value for cookie in self.session.cookie_jar}


def settings_of(folder: Path, text: str) -> Settings:
    (folder / "signalbox.toml").write_text(f'data_dir = "{folder}"\n{text}')
    return load(folder / "signalbox.toml", environ={})


def auth_of(at: FakeOpenId, more: str = "", roles: str = ROLES) -> str:
    provider = f'issuer = "{at.url}"\nclient_id = "{OPENID_CLIENT}"\nname = "Fake ID"\naudience = "{API_AUDIENCE}"\n'
    return f"[auth]\n{provider}{more}{roles}"


@asynccontextmanager
async def signing_in(folder: Path, at: FakeOpenId, more: str = "", roles: str = ROLES) -> AsyncIterator[AuthStage]:
    async with staged(folder, auth_of(at, more, roles), at) as stage:
        yield stage


@asynccontextmanager
async def staged(folder: Path, text: str, at: FakeOpenId) -> AsyncIterator[AuthStage]:
    store = await open_store("sqlite:///:memory:")
    try:
        await store.people.add_person("owner", Role.OWNER, [], actor="test")
        stage = AuthStage(store, at)
        links, layer = layer_of(
            settings_of(folder, text), store, new_id, "main", lambda: stage.rights, ticks=stage.ticks
        )
        async with serving(_site(stage, links, layer)) as url:
            stage.url = url
            yield stage
    finally:
        await store.close()


def _site(stage: AuthStage, links: Links, layer: AuthLayer) -> web.Application:
    authenticator = Authenticator(links=links, identity="main", second=layer.page)
    callers = Callers(stage.store.programs, stage.store.now, second=layer.holder)

    async def who(request: web.Request) -> web.Response:
        visitor = await authenticator.visitor(request)
        return web.Response(text=f"{visitor.person.name} {visitor.person.role.word}")

    async def calling(request: web.Request) -> web.Response:
        caller = await callers.caller(request)
        return web.Response(text=f"{caller.identity} {caller.role.word}")

    site = web.Application()
    install(site, [], webhooks=["/api/v1/who"])
    site.add_routes([web.get("/api/who", who), web.get("/", who), web.get("/api/v1/who", calling), *layer.routes])
    site.add_routes([web.get("/link/{token}", authenticator.enter), web.post(SIGN_OUT_PATH, authenticator.leave)])
    return site


async def call(stage: AuthStage, token: str) -> tuple[int, str]:
    """A program at the API."""
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession() as session, session.get(f"{stage.url}/api/v1/who", headers=headers) as answer:
        if answer.content_type == "application/problem+json":
            told: Mapping[str, Any] = await answer.json(content_type=None)
            return answer.status, str(told["detail"])
        return answer.status, await answer.text()

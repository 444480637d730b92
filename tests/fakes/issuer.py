"""An issuer of tokens on the wire: metadata, device codes, PKCE, refresh tokens that are good once, and revocation.

A refresh token that comes a second time ends its whole family, as RFC 9700 (4.14.2) wants it. `away` answers 503 to requests
for tokens, `cut` carries one out and closes the connection. The login page lets everybody in, as a person who clicks.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_plus, urlencode

from aiohttp import web

CLIENT: Final = "signalbox-test"
CLIENT_SECRET: Final = "a secret: of the client"
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
CHALLENGE: Final = "code_challenge"


@dataclass
class Family:
    """Tokens that came of one sign-in."""

    alive: bool = True
    used: set[str] = field(default_factory=set)
    current: str = ""


@dataclass
class FakeIssuer:
    """One issuer. `life` is that of a token in seconds, `rotates`: a refresh token is good once."""

    life: float = 3600
    rotates: bool = True
    secret: str = ""
    audience: str = ""
    url: str = ""
    away: bool = False
    cut: bool = False
    names_itself: str | None = None
    entered: bool = True
    asked_slowly: int = 0
    families: dict[str, Family] = field(default_factory=dict)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    asked: list[Mapping[str, str]] = field(default_factory=list)
    devices: set[str] = field(default_factory=set)
    tokens: dict[str, Family] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    def lets_in(self, token: str) -> bool:
        return token in self.tokens and self.tokens[token].alive and self.ends[token] > time.time()

    def revoke_all(self) -> None:
        for family in self.tokens.values():
            family.alive = False

    def end_tokens(self) -> None:
        """No token is good any more; refresh tokens are."""
        self.ends = dict.fromkeys(self.ends, 0.0)

    # ------------------------------------------------------------------------------------------------------ addresses

    async def metadata(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "device_authorization_endpoint": f"{self.url}/device",
                "revocation_endpoint": f"{self.url}/revoke",
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def device(self, request: web.Request) -> web.Response:
        form = await self._form(request, "device")
        if self._stranger(request, form):
            return _refused("invalid_client", 401)
        code = secrets.token_urlsafe(16)
        self.devices.add(code)
        page = f"{self.url}/enter"
        told = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": page, "expires_in": 60}
        return web.json_response({**told, "interval": 0, "verification_uri_complete": f"{page}?code=WDJB-MJHT"})

    async def authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        self.seen.append("authorize")
        if asked.get("client_id") != CLIENT or asked.get("code_challenge_method") != "S256":
            return _refused("invalid_request")
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        self.asked.append(asked)
        issuer = self.url if self.names_itself is None else self.names_itself
        back = {"code": code, "state": asked["state"], **({"iss": issuer} if issuer else {})}
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode(back)}")

    async def token(self, request: web.Request) -> web.Response:
        form = await self._form(request, "")
        grant = form.get("grant_type", "")
        self.seen.append(grant.rpartition(":")[2])
        self.was_asked.set()
        if self.away:
            return web.Response(status=503, text="not now")
        if self._stranger(request, form):
            return _refused("invalid_client", 401)
        match grant:
            case "refresh_token":
                answer = self._refresh(form)
            case "authorization_code":
                answer = self._code(form)
            case _ if grant == DEVICE_GRANT:
                answer = self._device(form)
            case _:
                answer = _refused("unsupported_grant_type")
        if self.cut:
            self.cut = False
            assert request.transport is not None
            request.transport.abort()
        return answer

    async def revoke(self, request: web.Request) -> web.Response:
        form = await self._form(request, "revoke")
        family = self.families.get(form.get("token", "")) or self.tokens.get(form.get("token", ""))
        if family:
            family.alive = False
        return web.Response()

    # ---------------------------------------------------------------------------------------------------------- grants

    def _refresh(self, form: Mapping[str, str]) -> web.Response:
        token = form.get("refresh_token", "")
        family = self.families.get(token)
        if family is None or not family.alive:
            return _refused("invalid_grant", words="it was revoked")
        if token in family.used:
            family.alive = False
            self.seen.append("reuse")
            return _refused("invalid_grant", words="this refresh token was used before")
        if self.rotates:
            family.used.add(token)
        return self._given(family, token)

    def _code(self, form: Mapping[str, str]) -> web.Response:
        asked = self.codes.pop(form.get("code", ""), {})
        proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if not asked or proof.decode().rstrip("=") != asked[CHALLENGE] or asked["redirect_uri"] != form["redirect_uri"]:
            return _refused("invalid_grant")
        return self._given(Family()) if self._is_for(form) else _refused("invalid_target")

    def _device(self, form: Mapping[str, str]) -> web.Response:
        if form.get("device_code") not in self.devices:
            return _refused("expired_token")
        if self.asked_slowly:
            self.asked_slowly -= 1
            return _refused("slow_down")
        if not self.entered:
            self.entered = True
            return _refused("authorization_pending")
        self.devices.discard(form["device_code"])
        return self._given(Family())

    def _given(self, family: Family, again: str = "") -> web.Response:
        access = secrets.token_urlsafe(24)
        refresh = again if again and not self.rotates else secrets.token_urlsafe(24)
        self.tokens[access], self.families[refresh] = family, family
        self.ends[access], family.current = time.time() + self.life, refresh
        told = {"access_token": access, "token_type": "Bearer", "expires_in": self.life}
        return web.json_response(told if again and not self.rotates else {**told, "refresh_token": refresh})

    # -------------------------------------------------------------------------------------------------------- requests

    async def _form(self, request: web.Request, what: str) -> dict[str, str]:
        if what:
            self.seen.append(what)
        return {name: str(value) for name, value in (await request.post()).items()}

    def _is_for(self, form: Mapping[str, str]) -> bool:
        return not self.audience or form.get("audience") == self.audience

    def _stranger(self, request: web.Request, form: Mapping[str, str]) -> bool:
        if form.get("client_id") != CLIENT:
            return True
        if not self.secret:
            return False
        pair = base64.b64decode(request.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        return (client, unquote_plus(secret)) != (CLIENT, self.secret)


def _refused(code: str, status: int = 400, words: str = "") -> web.Response:
    return web.json_response({"error": code, **({"error_description": words} if words else {})}, status=status)


@asynccontextmanager
async def issuer(**given: object) -> AsyncIterator[FakeIssuer]:
    """One on a free port of this machine."""
    fake = FakeIssuer(**given)  # type: ignore[arg-type]  # its own fields
    app = web.Application()
    app.router.add_get("/.well-known/oauth-authorization-server", fake.metadata)
    app.router.add_get("/authorize", fake.authorize)
    app.router.add_post("/device", fake.device)
    app.router.add_post("/token", fake.token)
    app.router.add_post("/revoke", fake.revoke)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        await runner.cleanup()

"""An OpenID provider on the wire: discovery, keys, code and PKCE, userinfo, renewal and revocation.

Tokens are signed by `joserfc`, which the product doesn't use. Codes are good once, for the client, the address and the proof
they were asked with. Whoever is asked for the password types it just then; else they did so `typed_at`, which an ID token says
if the provider `tells_when`. `away` answers 503 to everything. `changed` changes an ID token before it is signed.
`meanwhile` is asked while a token is taken back, and `found` is what it answered.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from bot.testing.serve import serving

OPENID_CLIENT: Final = "signalbox-page"
API_AUDIENCE: Final = "signalbox-api"
_RSA: Final = RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})


@dataclass
class FakeOpenId:
    """One provider with one person at its keyboard: `person` are the claims that userinfo tells of them."""

    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ada-1", "name": "Ada", "groups": ["staff"]})
    url: str = ""
    named: str = ""
    away: bool = False
    groups_in_id_token: bool = False
    typed_at: float = 0.0
    tells_when: bool = True
    key: RSAKey | ECKey = field(default_factory=lambda: _RSA)
    changed: Callable[[dict[str, Any]], dict[str, Any]] = dict
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    renewals: dict[str, str] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[tuple[int, str]]] | None = None
    found: list[tuple[int, str]] = field(default_factory=list)

    def signed(self, **claims: object) -> str:
        """A token of the API, as of now."""
        now = int(time.time())
        told = {"iss": self.url, "aud": API_AUDIENCE, "iat": now, "exp": now + 300, **self.person, **claims}
        return jwt.encode({"alg": self.key.as_dict()["alg"], "kid": self.key.kid}, told, self.key)

    def rotate(self, kid: str = "second") -> None:
        self.key = ECKey.generate_key("P-256", {"kid": kid, "use": "sig", "alg": "ES256"})

    def end_tokens(self) -> None:
        self.tokens.clear()

    def revoke_all(self) -> None:
        self.tokens.clear()
        self.renewals.clear()

    @web.middleware
    async def watch(self, request: web.Request, handler: Callable[..., Any]) -> web.StreamResponse:
        self.seen.append(request.path.rpartition("/")[2])
        if self.away:
            return web.Response(status=503)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def metadata(self, _: web.Request) -> web.Response:
        return web.json_response(
            {
                "issuer": self.named or self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/jwks",
                "revocation_endpoint": f"{self.url}/revoke",
            }
        )

    async def jwks(self, _: web.Request) -> web.Response:
        return web.json_response({"keys": [self.key.as_dict(private=False)]})

    async def authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        if asked.get("client_id") != OPENID_CLIENT or asked.get("code_challenge_method") != "S256":
            return web.Response(status=400)
        if "login" in asked.get("prompt", "").split():
            self.typed_at = time.time()
        code = secrets.token_urlsafe(12)
        self.codes[code] = asked
        raise web.HTTPFound(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")

    async def token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        if form.get("grant_type") == "refresh_token":
            told = {"id_token": self._id_token({"aud": OPENID_CLIENT})} if self.groups_in_id_token else {}
            return self._given(told) if self.renewals.pop(form["refresh_token"], "") else _refused("invalid_grant")
        asked = self.codes.pop(form.get("code", ""), {})
        proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if not asked or (proof.decode().rstrip("="), form["redirect_uri"], form["client_id"]) != (
            asked["code_challenge"],
            asked["redirect_uri"],
            asked["client_id"],
        ):
            return _refused("invalid_grant")
        hidden = {} if self.groups_in_id_token else {"groups": None}
        when = {"auth_time": int(self.typed_at)} if self.tells_when else {}
        claims = {"aud": OPENID_CLIENT, "nonce": asked.get("nonce"), **hidden, **when}
        return self._given({"id_token": self._id_token(claims)})

    def _id_token(self, claims: dict[str, Any]) -> str:
        changed = self.changed(claims)
        algorithm = changed.pop("alg", "")
        return self.signed(**changed) if not algorithm else _unsigned(changed, self.url)

    def _given(self, more: dict[str, str]) -> web.Response:
        access, again = secrets.token_urlsafe(12), secrets.token_urlsafe(12)
        self.tokens[access] = self.renewals[again] = self.person["sub"]
        told = {"access_token": access, "refresh_token": again, "token_type": "Bearer", "expires_in": 3600}
        return web.json_response({**told, **more})

    async def userinfo(self, request: web.Request) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        hidden = {"groups"} if self.groups_in_id_token else set()
        told = {name: value for name, value in self.person.items() if name not in hidden}
        return web.json_response(told) if token in self.tokens else web.Response(status=401)

    async def revoke(self, request: web.Request) -> web.Response:
        if self.meanwhile:
            self.found.append(await self.meanwhile())
        self.renewals.pop(str((await request.post()).get("token")), None)
        self.tokens.clear()
        return web.Response()


def _refused(code: str) -> web.Response:
    return web.json_response({"error": code}, status=400)


def _unsigned(claims: dict[str, Any], issuer: str) -> str:
    """With no signature at all."""
    told = {"iss": issuer, "sub": "ada-1", "iat": int(time.time()), "exp": int(time.time()) + 300, **claims}
    pieces = (
        base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in ({"alg": "none"}, told)
    )
    return ".".join([*pieces, ""])


@asynccontextmanager
async def openid(provider: FakeOpenId) -> AsyncIterator[FakeOpenId]:
    app = web.Application(middlewares=[provider.watch])
    app.add_routes(
        [
            web.get("/.well-known/openid-configuration", provider.metadata),
            web.get("/jwks", provider.jwks),
            web.get("/authorize", provider.authorize),
            web.post("/token", provider.token),
            web.get("/userinfo", provider.userinfo),
            web.post("/revoke", provider.revoke),
        ]
    )
    async with serving(app) as url:
        provider.url = url
        yield provider

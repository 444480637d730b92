"""A push service on the wire, with the browsers that it serves: it checks who sends, and opens what only a browser opens.

Source: RFC 8030 (Web Push), RFC 8291 (message encryption), RFC 8292 (VAPID), read 2026-11.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import http_ece
import jwt
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bot.push.vapid import BrowserAddress

PROOF_LIFE_MAX_SECONDS: Final = 24 * 3600
NEEDED: Final = {"TTL", "Content-Encoding", "Authorization"}


def unpadded(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def padded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class FakeBrowser:
    """One subscription: only it has the key that opens its messages."""

    name: str
    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    told: list[dict[str, Any]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    status: int = 201

    @property
    def address(self) -> BrowserAddress:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return BrowserAddress(self.endpoint, unpadded(point), unpadded(self.auth))

    def opened(self, body: bytes) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth))
        return told


class PushService:
    """Takes messages as the services of browsers do. `now` in seconds; `subject` is who must be named as the sender."""

    def __init__(self, *, now: float, subject: str) -> None:
        self.now = now
        self.subject = subject
        self.url = ""
        self.browsers: dict[str, FakeBrowser] = {}
        self.keys: set[str] = set()

    def browser(self, name: str = "phone") -> FakeBrowser:
        self.browsers[name] = FakeBrowser(name, f"{self.url}/push/{name}")
        return self.browsers[name]

    async def take(self, request: web.Request) -> web.Response:
        browser = self.browsers.get(request.match_info["name"])
        if browser is None:
            return web.Response(status=404)
        if not request.headers.keys() >= NEEDED or request.headers["Content-Encoding"] != "aes128gcm":
            return web.Response(status=400)
        if not self._is_known(request.headers["Authorization"]):
            return web.Response(status=403)
        if browser.status == 201:
            browser.told.append({**browser.opened(await request.read()), "ttl": int(request.headers["TTL"])})
            browser.topics.append(request.headers["Topic"])
        return web.Response(status=browser.status)

    def _is_known(self, header: str) -> bool:
        """True if the sender proves who they are, to this service, for the time being."""
        scheme, _, rest = header.partition(" ")
        parts = dict(one.strip().split("=", 1) for one in rest.split(","))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), padded(parts["k"]))
        claims = jwt.decode(parts["t"], key, ["ES256"], audience=self.url, options={"verify_exp": False})
        self.keys.add(parts["k"])
        lives = claims["exp"] - self.now
        return scheme == "vapid" and claims["sub"] == self.subject and 0 < lives <= PROOF_LIFE_MAX_SECONDS


@asynccontextmanager
async def push_service(*, now: float, subject: str) -> AsyncIterator[PushService]:
    service, app = PushService(now=now, subject=subject), web.Application()
    app.router.add_post("/push/{name}", service.take)
    async with TestServer(app) as server:
        service.url = str(server.make_url("")).rstrip("/")
        yield service

"""The page's own files, read once from the package and served with an ETag."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from aiohttp import web

from runtime.http.authentication import Authenticator

TYPES: Final = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    body: bytes
    content_type: str
    etag: str


class Pages:
    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._assets = {
            file.name: _asset(file.name, file.read_bytes())
            for file in files(__package__).joinpath("page").iterdir()
            if file.is_file()
        }

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/link/{token}", self._authenticator.enter, allow_head=False),
            web.post("/link/{token}", self._authenticator.become),
            web.get("/static/{name}", self.static),
        ]

    async def index(self, request: web.Request) -> web.Response:
        await self._authenticator.visitor(request)
        return self._answer(request, "index.html")

    async def static(self, request: web.Request) -> web.Response:
        return self._answer(request, request.match_info["name"])

    def _answer(self, request: web.Request, name: str) -> web.Response:
        asset = self._assets.get(name)
        if asset is None:
            raise web.HTTPNotFound
        headers = {"ETag": f'"{asset.etag}"', "Cache-Control": "no-cache"}
        if any(tag.value == asset.etag for tag in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        return web.Response(body=asset.body, content_type=asset.content_type, charset="utf-8", headers=headers)


def _asset(name: str, body: bytes) -> Asset:
    kind = TYPES.get("." + name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(body, kind, hashlib.sha256(body).hexdigest()[:20])

"""The page's own files, read once from the package and served with an ETag; libraries of others when first wanted."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Final

from aiohttp import web

from adapters.web.translated import translated
from runtime.http.authentication import Authenticator
from runtime.text.words import ENGLISH, language

BADGES: Final = (*map(str, range(1, 10)), "9+")
LIBRARIES: Final = ("highlight.min.js", "markdown-it.min.mjs")
"""In `page/vendor`, where `vendored.toml` says what they are."""
TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    body: bytes
    content_type: str
    etag: str

    @cached_property
    def packed(self) -> bytes:
        """The body for browsers that unpack it, as all do."""
        import gzip  # with the first page that somebody opens

        return gzip.compress(self.body, mtime=0)


class Pages:
    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._assets = {
            file.name: _asset(file.name, file.read_bytes())
            for file in files(__package__).joinpath("page").iterdir()
            if file.is_file()
        }
        self._vendored = files(__package__).joinpath("page", "vendor")
        self._assets |= {f"icon-{number}.svg": _badged(self._assets["icon.svg"], number) for number in BADGES}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/link/{token}", self._authenticator.enter, allow_head=False),
            web.post("/link/{token}", self._authenticator.become),
            web.get("/static/{name}", self.static),
        ]

    async def index(self, request: web.Request) -> web.Response:
        await self._authenticator.visitor(request)
        return self._answer(request, self._index())

    async def static(self, request: web.Request) -> web.Response:
        return self._answer(request, request.match_info["name"])

    def _answer(self, request: web.Request, name: str) -> web.Response:
        asset = self._assets.get(name) or self._library(name)
        if asset is None:
            raise web.HTTPNotFound
        headers = {"ETag": f'"{asset.etag}"', "Cache-Control": "no-cache"}
        if any(tag.value == asset.etag for tag in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=asset.body, content_type=asset.content_type, charset="utf-8", headers=headers)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return web.Response(body=asset.packed, content_type=asset.content_type, charset="utf-8", headers=headers)

    def _index(self) -> str:
        """The page in its reader's language, which is kept from the first one on."""
        if (now := language()) == ENGLISH:
            return "index.html"
        name = f"index.{now}.html"
        if name not in self._assets:
            self._assets[name] = _asset(name, translated(self._assets["index.html"].body.decode(), now).encode())
        return name

    def _library(self, name: str) -> Asset | None:
        """A script of others, kept from now on."""
        if name not in LIBRARIES:
            return None
        self._assets[name] = _asset(name, self._vendored.joinpath(name).read_bytes())
        return self._assets[name]


def _badged(icon: Asset, number: str) -> Asset:
    """The icon with how many questions wait. A file of its own: the page takes pictures from nowhere else."""
    badge = f'<circle cx="46" cy="46" r="18" fill="#f0b429"/>{_digits(number)}</svg>'
    return _asset("icon.svg", icon.body.replace(b"</svg>", badge.encode()))


def _digits(number: str) -> str:
    style = 'font-family="system-ui,sans-serif" font-size="26" font-weight="700" text-anchor="middle" fill="#241800"'
    return f'<text x="46" y="55" {style}>{number}</text>'


def _asset(name: str, body: bytes) -> Asset:
    kind = TYPES.get("." + name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(body, kind, hashlib.sha256(body).hexdigest()[:20])

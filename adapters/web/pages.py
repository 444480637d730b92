"""The page's own files, read once from the package and kept by browsers; libraries of others when first wanted.

The page names them under the version of all of them together, and modules name each other beside themselves: so a browser
keeps each for good, and never mixes those of two versions. Under their plain names they are asked for anew, by their ETag.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from aiohttp import web

from adapters.web.translated import translated
from runtime.http.assets import Asset, answer, asset_of
from runtime.http.authentication import SIGN_OUT_PATH, Authenticator
from runtime.text.words import ENGLISH, language, others

STATIC: Final = "/static"
UNVERSIONED: Final = b"/static/"
VERSION_DIGITS: Final = 12
BADGES: Final = (*map(str, range(1, 10)), "9+")
LIBRARIES: Final = ("highlight.min.js", "markdown-it.min.mjs")
"""In `page/vendor`, where `vendored.toml` says what they are."""
SPOKEN_PAGES: Final = ("index.html", "offline.html")
WORKER: Final = "worker.js"
OF_SYSTEMS: Final = ("icon-512.png", "icon-maskable-192.png", "icon-maskable-512.png", "icon-apple-180.png")
"""Icons that systems show of the installed page: they read them once, and the page never does."""
SHELL: Final = "shell.js"
"""Lists the files that the worker keeps: made here, so that a newer program brings a newer worker."""


class Pages:
    def __init__(self, authenticator: Authenticator, program: str = "") -> None:
        self._authenticator = authenticator
        self._assets = {
            file.name: asset_of(file.name, file.read_bytes())
            for file in files(__package__).joinpath("page").iterdir()
            if file.is_file()
        }
        self._vendored = files(__package__).joinpath("page", "vendor")
        self._assets |= {f"icon-{number}.svg": _badged(self._assets["icon.svg"], number) for number in BADGES}
        self._version = version_of(self._assets)
        page = self._assets["index.html"].body.replace(UNVERSIONED, f"{STATIC}/{self._version}/".encode())
        self._assets["index.html"] = asset_of("index.html", page)
        self._assets[SHELL] = _shell(self._assets, self._version, program)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/", self.index),
            web.get("/link/{token}", self._authenticator.enter, allow_head=False),
            web.post("/link/{token}", self._authenticator.become),
            web.post(SIGN_OUT_PATH, self._authenticator.leave),
            web.get(STATIC + "/{name}", self.static),
            web.get(STATIC + "/{version}/{name}", self.static),
        ]

    async def index(self, request: web.Request) -> web.Response:
        await self._authenticator.visitor(request)
        page = answer(request, self._index())
        await self._authenticator.renew(request, page)
        return page

    async def static(self, request: web.Request) -> web.Response:
        """A file. One of another version, which a page asks for that was open before an update, is the one of now."""
        name = request.match_info["name"]
        asset = self._assets.get(name) or self._in_words(name) or self._library(name)
        if asset is None:
            raise web.HTTPNotFound
        told = answer(request, asset, kept=request.match_info.get("version") == self._version)
        if name == WORKER:
            told.headers["Service-Worker-Allowed"] = "/"  # it stands below the pages for which it keeps files
        return told

    def _index(self) -> Asset:
        """The page in its reader's language, which is kept from the first one on."""
        now = language()
        return self._assets["index.html"] if now == ENGLISH else self._in_language("index.html", now)

    def _in_words(self, name: str) -> Asset | None:
        """A page in another language, as `index.de.html`: the worker keeps those for when we can't be reached."""
        first, _, rest = name.partition(".")
        now, page = rest.partition(".")[0], f"{first}.{rest.partition('.')[2]}"
        return self._in_language(page, now) if page in SPOKEN_PAGES and now in others() else None

    def _in_language(self, page: str, now: str) -> Asset:
        name = page.replace(".html", f".{now}.html")
        if name not in self._assets:
            self._assets[name] = asset_of(page, translated(self._assets[page].body.decode(), now).encode())
        return self._assets[name]

    def _library(self, name: str) -> Asset | None:
        """A script of others, kept from now on."""
        if name not in LIBRARIES:
            return None
        self._assets[name] = asset_of(name, self._vendored.joinpath(name).read_bytes())
        return self._assets[name]


def version_of(assets: Mapping[str, Asset]) -> str:
    """The same for the same files."""
    every = "".join(f"{name} {asset.etag}\n" for name, asset in sorted(assets.items()))
    return hashlib.sha256(every.encode()).hexdigest()[:VERSION_DIGITS]


def _shell(assets: Mapping[str, Asset], version: str, program: str) -> Asset:
    """The files that the worker keeps, each with its tag, and the version under which they stand."""
    files = {name: asset.etag for name, asset in sorted(assets.items()) if name not in (WORKER, *OF_SYSTEMS)}
    told = {"program": program, "version": version, "languages": others(), "pages": SPOKEN_PAGES, "files": files}
    return asset_of(SHELL, f"self.SHELL = {json.dumps(told)};\n".encode())


def _badged(icon: Asset, number: str) -> Asset:
    """The icon with how many questions wait. A file of its own: the page takes pictures from nowhere else."""
    badge = f'<circle cx="46" cy="46" r="18" fill="#f0b429"/>{_digits(number)}</svg>'
    return asset_of("icon.svg", icon.body.replace(b"</svg>", badge.encode()))


def _digits(number: str) -> str:
    style = 'font-family="system-ui,sans-serif" font-size="26" font-weight="700" text-anchor="middle" fill="#241800"'
    return f'<text x="46" y="55" {style}>{number}</text>'

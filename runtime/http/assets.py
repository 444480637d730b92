"""Files of a page, read once and served packed: browsers keep them by their ETag, or for good under the name of their version."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aiohttp import web

TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
ASKED_ANEW: Final = "no-cache"
KEPT: Final = "private, max-age=31536000, immutable"
"""For a year, without asking: under another version stands another file."""
WORTH_PACKING: Final = 2_000
"""Bytes of an answer that are sent packed: less goes in two packets at most."""
ETAG_DIGITS: Final = 20


@dataclass(frozen=True)
class Asset:
    body: bytes
    content_type: str
    etag: str

    @cached_property
    def packed(self) -> bytes:
        """The body for browsers that unpack it, as all do. Pictures are packed already."""
        if self.content_type.startswith("image/") and self.content_type != TYPES[".svg"]:
            return self.body
        import gzip  # with the first page that somebody opens

        return gzip.compress(self.body, mtime=0)


def asset_of(name: str, body: bytes) -> Asset:
    kind = TYPES.get("." + name.rpartition(".")[2]) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(body, kind, hashlib.sha256(body).hexdigest()[:ETAG_DIGITS])


def answer(request: web.Request, asset: Asset, *, kept: bool = False) -> web.Response:
    """The file, or that the browser has it. `kept`: its address changes with what it holds."""
    headers = {"ETag": f'"{asset.etag}"', "Cache-Control": KEPT if kept else ASKED_ANEW}
    if any(tag.value == asset.etag for tag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    body = asset.body
    if takes_gzip(request) and asset.packed is not asset.body:
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        body = asset.packed
    charset = "utf-8" if asset.content_type in TYPES.values() else None
    return web.Response(body=body, content_type=asset.content_type, charset=charset, headers=headers)


def takes_gzip(request: web.Request) -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")


def pack(request: web.Request, answered: web.StreamResponse) -> web.StreamResponse:
    """A page or its data, packed where that saves packets. Streams, files and what carries an ETag go as they are."""
    is_whole = isinstance(answered, web.Response) and isinstance(answered.body, bytes)
    if not is_whole or not takes_gzip(request) or "ETag" in answered.headers or answered.prepared:
        return answered
    length = answered.content_length or 0
    if length >= WORTH_PACKING and answered.content_type in ("application/json", "text/html"):
        answered.headers["Vary"] = "Accept-Encoding"
        answered.enable_compression(web.ContentCoding.gzip)
    return answered

"""Answers in words: an error as JSON for programs, as a small page for people."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from aiohttp import web

from runtime.errors import Trouble

SENTENCES: Final = {
    404: "There is nothing at this address.",
    405: "This address does not take this kind of request.",
    413: "The request is too large.",
}
GARBLED: Final = "The request ended in the middle, or cannot be unpacked."
CUT: Final = "The request ended in the middle."
STORE_AWAY: Final[Mapping[Trouble, str]] = {
    Trouble.FULL: "The disk of this Signalbox is full, so it cannot take this in. Once there is room it goes on by itself: "
    "try again in a while.",
    Trouble.READ_ONLY: "The database of this Signalbox can only be read at the moment, so it cannot take this in. It goes "
    "on by itself once it can be written: try again in a while.",
    Trouble.LOCKED: "Another program holds the database of this Signalbox, so it cannot take this in at the moment: try "
    "again in a few seconds.",
    Trouble.AWAY: "The database of this Signalbox cannot be reached at the moment, so it cannot take this in. It goes on "
    "by itself once the database is back: try again in a few seconds.",
    Trouble.DAMAGED: "The database of this Signalbox is damaged, so it cannot take this in. Its operator has to mend it; "
    "try again after that.",
    Trouble.LOST: "The database of this Signalbox was removed or replaced, so it takes nothing in. Its operator has to "
    "mend it; try again after that.",
    Trouble.OTHER: "The store cannot take this in at the moment: try again in a few seconds.",
}
"""What a person reads when something was not taken in; the operator's words, with paths, are in the log."""


def refused(request: web.Request, status: int, sentence: str) -> web.Response:
    """An error as JSON for the API, as a page otherwise. A StoreError asks to be tried again."""
    headers = {"Retry-After": "2"} if status == 503 else None
    if "/api/" in request.path:
        return web.json_response({"error": sentence}, status=status, headers=headers)
    return web.Response(
        text=notice_page(title=_TITLES.get(status, "That did not work"), sentence=sentence),
        content_type="text/html",
        status=status,
        headers=headers,
    )


_TITLES: Final = {401: "You need your link", 404: "Not found", 503: "Not ready"}


def notice_page(*, title: str, sentence: str, below: str = "") -> str:
    """A small page that says one thing. Words between backticks are shown as code; `below` is markup of ours."""
    pieces = escape(sentence).split("`")
    words = "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Signalbox</title>"
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/colours.css">'
        '<link rel="stylesheet" href="/static/style.css"></head><body class="lone"><main>'
        '<img src="/static/icon.svg" alt="" width="48" height="48">'
        f"<h1>{escape(title)}</h1><p>{words}</p>{below}</main></body></html>"
    )

"""Answers in words: an error as JSON for programs, as a small page for people."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from typing import Final

from aiohttp import web

from runtime.errors import Trouble
from runtime.text.retold import retold
from runtime.text.words import LANGUAGE, language, marked, say

SENTENCES: Final = {
    404: marked("There's nothing at this address."),
    405: marked("This address doesn't accept this kind of request."),
    413: marked("The request is too large."),
}
PROGRAMS: Final = ("/api/v1/", "/mcp", "/a2a", "/.well-known/")
OPENAI: Final = "/v1/"
"""How the paths of the doors for programs begin: each has its own form of an error."""
GARBLED: Final = marked("The request was cut off, or can't be unpacked.")
CUT: Final = marked("The request was cut off.")
STORE_AWAY: Final[Mapping[Trouble, str]] = {
    Trouble.FULL: marked("I can't accept this: the disk is full. Try again once there is space."),
    Trouble.READ_ONLY: marked("I can't accept this: the database is read-only right now. Try again in a while."),
    Trouble.LOCKED: marked("I can't accept this: another program has locked the database. Try again in a few seconds."),
    Trouble.AWAY: marked("I can't accept this: the database can't be reached right now. Try again in a few seconds."),
    Trouble.DAMAGED: marked("I can't accept this: the database is damaged. An operator has to repair it first."),
    Trouble.LOST: marked(
        "I can't accept this: the database was removed or replaced. An operator has to repair it first."
    ),
    Trouble.OTHER: marked("I can't accept this right now. Try again in a few seconds."),
}
"""What a person reads when something was not taken in; the operator's words, with paths, are in the log."""


def refused(
    request: web.Request,
    status: int,
    sentence: str,
    headers: Mapping[str, str] | None = None,
    link: tuple[str, str] | None = None,
    *,
    field: str = "",
) -> web.Response:
    """An error as JSON for the API, with the field that is wrong; as a page otherwise, with a link.

    A StoreError asks to be tried again.
    """
    of_field = {"field": field} if field else {}
    if LANGUAGE.get() or "Authorization" not in request.headers:  # what a program reads stays English
        sentence = retold(sentence)
    headers = {**({"Retry-After": "2"} if status == 503 else {}), **(headers or {})}
    if request.path.startswith(PROGRAMS):
        return _problem(request, status, sentence, headers, of_field)
    if request.path.startswith(OPENAI):
        return web.json_response({"error": openai_error(status, sentence)}, status=status, headers=headers)
    if "/api/" in request.path:
        return web.json_response({"error": sentence, **of_field}, status=status, headers=headers)
    return web.Response(
        text=notice_page(
            title=say(_title(status, link)), sentence=sentence, below=linked(link[0], say(link[1])) if link else ""
        ),
        content_type="text/html",
        status=status,
        headers=headers,
    )


def _problem(
    request: web.Request, status: int, sentence: str, headers: Mapping[str, str], more: Mapping[str, str]
) -> web.Response:
    """As RFC 9457 says it."""
    told = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": sentence, **more}
    told["instance"] = request.path
    return web.json_response(told, status=status, headers=headers, content_type="application/problem+json")


def openai_error(status: int, sentence: str) -> dict[str, object]:
    """As clients of OpenAI read it. Source: platform.openai.com/docs/guides/error-codes, read 2026-11."""
    kind = OPENAI_KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"message": sentence, "type": kind, "param": None, "code": OPENAI_CODES.get(status)}


OPENAI_KINDS: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
OPENAI_CODES: Final = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}
SIGN_IN_TITLE: Final = marked("Sign in")
_TITLES: Final = {
    401: marked("You need your link"),
    403: marked("Not allowed"),
    404: marked("Not found"),
    503: marked("Not ready"),
}


def _title(status: int, link: tuple[str, str] | None) -> str:
    return SIGN_IN_TITLE if link and status == 401 else _TITLES.get(status, marked("That didn't work"))


def linked(path: str, words: str) -> str:
    """A link that looks like a button."""
    return f'<p><a class="choice done" href="{escape(path, quote=True)}" data-testid="onward">{escape(words)}</a></p>'


def notice_page(*, title: str, sentence: str, below: str = "") -> str:
    """A small page that says one thing. Words between backticks are shown as code; `below` is markup of ours."""
    pieces = escape(sentence).split("`")
    words = "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
    return (
        f'<!doctype html><html lang="{language()}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Signalbox</title>"
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/static/colours.css">'
        '<link rel="stylesheet" href="/static/style.css"></head><body class="lone"><main>'
        '<img src="/static/icon.svg" alt="" width="48" height="48">'
        f"<h1>{escape(title)}</h1><p>{words}</p>{below}</main></body></html>"
    )

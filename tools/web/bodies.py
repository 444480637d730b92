"""The body of an answer as text for the model, by what kind of thing it is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate, takewhile
from typing import Final

from tools.web.charsets import decoded
from tools.web.feeds import NoFeed, page_of
from tools.web.pages import readable

MEDIA: Final = re.compile(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}")
CHARSET: Final = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
TEXTS: Final = re.compile(
    r"text/.*|.*\+xml|application/(xml|javascript|x-javascript|ecmascript|yaml|x-yaml|toml|sql|x-sh|graphql|x-ndjson|"
    r"jsonl|x-www-form-urlencoded)"
)
PEEK: Final = 8192  # bytes looked at to tell a binary file, as git and grep do
TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Neither a reader nor PostgreSQL can do anything with them.
CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))


class Form(Enum):
    """Format of a body, which decides its reader."""

    PAGE = auto()
    JSON = auto()
    FEED = auto()
    TEXT = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class Body:
    """Body as it came, with what was said about it: `media` is empty when nothing was, or nothing sensible."""

    data: bytes
    media: str
    charset: str
    url: str

    @classmethod
    def of(cls, data: bytes, content_type: str, url: str) -> Body:
        media = content_type.partition(";")[0].strip().lower()
        charset = CHARSET.search(content_type)
        return cls(data, media if MEDIA.fullmatch(media) else "", charset[1] if charset else "", url)

    @property
    def form(self) -> Form:
        if self.media in ("text/html", "application/xhtml+xml"):
            return Form.PAGE
        if self.media == "application/json" or self.media.endswith("+json"):
            return Form.JSON
        if self.media in ("", "application/octet-stream"):
            return _guessed(self.data)
        if not TEXTS.fullmatch(self.media) or _is_binary(self.data, self.charset):
            return Form.OTHER
        return Form.FEED if self.media.endswith("xml") else Form.TEXT


def _guessed(data: bytes) -> Form:
    """Form of a body that nobody named."""
    if _is_binary(data, ""):
        return Form.OTHER
    start = data[:PEEK].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return Form.PAGE
    if start.startswith(b"<?xml"):
        return Form.FEED
    return Form.JSON if start.startswith((b"{", b"[")) else Form.TEXT


def _is_binary(data: bytes, charset: str) -> bool:
    start = data[:PEEK]
    if "16" in charset or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return b"\0" in start


async def text_of(body: Body, *, most: int) -> str | None:
    """The body as text, at least the first `most` characters; None when it is nothing that can be read.

    Errors: ToolFailed for a page that cannot be read in time.
    """
    form = body.form
    if form is Form.OTHER:
        return None
    # Up to 2 MB: in a thread, so that others are served meanwhile.
    form, text = await asyncio.to_thread(_text, form, body, most)
    text = await readable(text, url=body.url, most=most) if form is Form.PAGE else text
    return text.translate(CONTROLS)


def _text(form: Form, body: Body, most: int) -> tuple[Form, str]:
    """The text of a body, and whether it is still a page."""
    text = decoded(body.data, body.charset)
    match form:
        case Form.JSON:
            return Form.TEXT, laid_out(text, most=most)
        case Form.FEED:
            try:
                return Form.PAGE, page_of(text)
            except NoFeed:
                return Form.TEXT, text
        case Form.PAGE | Form.TEXT | Form.OTHER:
            return form, text


def laid_out(text: str, *, most: int) -> str:
    """JSON with a line for each value, at least `most` characters of it; what is no JSON as it is.

    Only spaces and escapes change: numbers keep their digits, and a name that is there twice stays twice.
    """
    try:
        json.loads(text, parse_int=float)  # float: Python refuses very long whole numbers
    except (ValueError, RecursionError):
        return text
    lengths = accumulate(_pieces(text), lambda seen, piece: (seen[0] + len(piece), piece), initial=(0, ""))
    before = takewhile(lambda seen: seen[0] - len(seen[1]) <= most, lengths)
    return "".join(piece for _, piece in before)


def _pieces(text: str) -> Iterator[str]:
    depth, before = 0, ""
    for found in TOKEN.finditer(text):
        word = found[0]
        closes, is_first = word in ("}", "]"), before in ("{", "[")
        depth -= closes
        if before == "," or closes != is_first:  # nothing stands between the brackets of an empty object
            yield "\n" + "  " * min(depth, 40)
        yield ": " if word == ":" else _plain(word)
        depth += word in ("{", "[")
        before = word


def _plain(word: str) -> str:
    """A JSON string with its letters instead of their numbers; half a pair has no letter. Others as they are."""
    if "\\" not in word:
        return word
    letters = json.dumps(json.loads(word, strict=False), ensure_ascii=False)
    return word if SURROGATE.search(letters) else letters

"""Reads back what a card shows of a call, from whatever a surface draws: lines with a name and a value, titles and blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from runtime.markup import Document, parse, to_plain
from runtime.markup.mentions import NOTHING_WIDE
from runtime.markup.tree import Code, CodeBlock, List, Paragraph, Text
from runtime.text.glyphs import meant

TITLE: Final = re.compile(r"([A-Za-z_][\w.-]*)(?:, \d[\d,]* lines?)?( \(JSON\))?:")
LINES: Final = re.compile(r", \d[\d,]* lines?:")
DISCORD_LINE: Final = re.compile(r"- ([\w.\\-]+): `([^`]*)`")
HTML: Final = re.compile(r"<pre[^>]*><code>(.*?)</code></pre>|<li>(.*?): <code>(.*?)</code>|<p>([^<]*:)</p>", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """A name and a value beside it."""

    name: str
    value: str


@dataclass(frozen=True)
class Block:
    """A text in code, and the title above it."""

    title: str
    text: str


Piece = Line | Block


def arguments_in(pieces: Sequence[Piece]) -> dict[str, Any] | str:
    """The arguments that a card shows; a text where one text is all that it shows."""
    found: dict[str, Any] = {}
    for piece in pieces:
        match piece:
            case Line(name, value):
                found[name] = _json_or_text(value)
            case Block("", text):
                return whole_in(meant(text))
            case Block(title, text):
                named = TITLE.fullmatch(title)
                assert named, title
                ended = meant(text) + "\n" * bool(LINES.search(title))
                found[named[1]] = json.loads(meant(text)) if named[2] else ended
    return found


def same_call(shown: dict[str, Any] | str, runs: Mapping[str, Any]) -> bool:
    """True if that is the call; of one whose only argument is a text the text alone is shown."""
    return [shown] == list(runs.values()) if isinstance(shown, str) else shown == runs


def whole_in(text: str) -> dict[str, Any] | str:
    """All arguments in one block: JSON where that is an object, else the only one, which is a text."""
    try:
        values = json.loads(text)
    except ValueError:
        return text
    return values if isinstance(values, dict) else text


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def as_markdown(text: str) -> list[Piece]:
    """What a text in Markdown shows."""
    return list(_pieces(parse(text)))


def _pieces(document: Document) -> Iterator[Piece]:
    title = ""
    for block in document.blocks:
        match block:
            case List(items):
                for item in items:
                    yield from _line(item.blocks[0])
            case CodeBlock(text):
                yield Block(title, text)
            case _:
                pass
        plain = to_plain(Document((block,))) if isinstance(block, Paragraph) else ""
        title = plain if TITLE.fullmatch(plain) else ""


def _line(block: object) -> Iterator[Line]:
    match block:
        case Paragraph((Text(name), Code(value), *_)):
            yield Line(name.removesuffix(": "), value)
        case _:
            raise AssertionError(f"no line with a name and a value: {block}")


def as_html(html: str) -> list[Piece]:
    """What HTML shows; what is folded is not."""
    pieces: list[Piece] = []
    title = ""
    for found in HTML.finditer(re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)):
        code, name, value, said = (part and unescape(part) for part in found.groups())
        if code is not None:
            pieces.append(Block(title if TITLE.fullmatch(title) else "", code))
        elif name is not None:
            pieces.append(Line(name, value or ""))
        title = said or ""
    return pieces


def as_telegram(body: Mapping[str, Any]) -> list[Piece]:
    """What a message with entities shows."""
    units, pieces, end = body["text"].encode("utf-16-le", "surrogatepass"), list[Piece](), 0
    for entity in body["entities"]:
        if entity["type"] not in ("code", "pre"):
            continue
        start, until = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
        before, code = (units[a:b].decode("utf-16-le", "surrogatepass") for a, b in ((end, start), (start, until)))
        last = before.rstrip("\n").rpartition("\n")[2]
        if entity["type"] == "pre":
            pieces.append(Block(last if TITLE.fullmatch(last) else "", code))
        elif last.startswith("• ") and last.endswith(": "):
            pieces.append(Line(last[2:-2], code))
        end = until
    return pieces


def as_discord(content: str) -> list[Piece]:
    """As Discord reads it: from one fence of three to the next, whatever is between; nothing else is code of several lines."""
    pieces, title = list[Piece](), ""
    for number, part in enumerate(content.split("```")):
        if number % 2:
            inside = part.partition("\n")[2].removesuffix("\n").replace(NOTHING_WIDE, "")
            pieces.append(Block(title, inside))
            continue
        lines = part.replace(NOTHING_WIDE, "").rstrip("\n").split("\n")
        for line in lines:
            if found := DISCORD_LINE.match(line):
                pieces.append(Line(found[1].replace("\\", ""), found[2]))
        last = lines[-1].replace("\\", "")
        title = last if TITLE.fullmatch(last) else ""
    return pieces

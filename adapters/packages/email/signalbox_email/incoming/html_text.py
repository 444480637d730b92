"""HTML of a mail as text, in which quotes begin with ">" as in plain mail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Final

HTML_MOST_CHARS: Final = 400_000
"""Of a mail's HTML: what comes behind is left out, and the reader is told so."""
SILENT: Final = frozenset({"head", "noscript", "script", "style", "template", "title"})
BLOCKS: Final = re.compile(
    "address|article|aside|blockquote|center|d[dlt]|div|fieldset|figure|footer|form|h[1-6]|header|hr|main|nav|ol|p|pre|section"
    "|table|t(?:body|foot|head|r)|ul"
)
SPACED: Final = frozenset({"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"})
QUOTE_DEPTH_MOST: Final = 10
LINE_MOST_CHARS: Final = 10_000
RAW: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style", "title")
}
"""Tags behind which everything is text up to their end."""
TAG: Final = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]{0,30})(?![A-Za-z0-9])(?P<more>[^<>]{0,4000})>")
"""Bounded, since Python's own reader takes an hour for a megabyte of half a tag."""
ATTRIBUTE: Final = re.compile(
    r"""\b(?P<name>href|alt)\s*=\s*(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<c>[^\s"'>]+))""", re.IGNORECASE
)


class _Reader:
    """Walks once over the tags; nothing nests in it, so no mail is too deep."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._line = ""
        self._silent = 0
        self._quotes = 0
        self._pre = 0
        self._links: list[tuple[str, int]] = []

    def read(self, html: str) -> None:
        at = 0
        while at >= 0 and (begin := html.find("<", at)) >= 0:
            self._words(html[at:begin])
            if html.startswith("<!--", begin):
                at = _after("-->", html, begin)
            elif html.startswith(("<!", "<?"), begin):
                at = _after(">", html, begin)
            elif found := TAG.match(html, begin):
                at = self._tag(found, html)
            else:
                self._words("<")
                at = begin + 1
        if at >= 0:
            self._words(html[at:])

    def _tag(self, found: re.Match[str], html: str) -> int:
        """The place to go on from; less than zero for nowhere."""
        name = found["name"].lower()
        if found["end"]:
            self._end(name)
        elif name in RAW:
            end = RAW[name].search(html, found.end())
            return end.end() if end else -1
        else:
            self._begin(name, found["more"])
        return found.end()

    def _begin(self, tag: str, more: str) -> None:
        if tag in SILENT:
            self._silent += 1
        elif tag == "br":
            self._end_line()
        elif tag == "li":
            self._break()
            self._line += "- "
        elif tag in ("td", "th") and self._line.strip():
            self._line += " | "
        elif tag == "a":
            self._links.append((_attribute(more, "href"), len(self._line)))
        elif tag == "img" and (alt := _attribute(more, "alt").strip()):
            self._line += f"[{alt}]"
        elif BLOCKS.fullmatch(tag):
            self._break(space=tag in SPACED)
            self._quotes += tag == "blockquote"
            self._pre += tag == "pre"

    def _end(self, tag: str) -> None:
        if tag in SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif BLOCKS.fullmatch(tag):
            self._break(space=tag in SPACED)
            self._quotes = max(0, self._quotes - (tag == "blockquote"))
            self._pre = max(0, self._pre - (tag == "pre"))

    def _words(self, data: str) -> None:
        if self._silent or not data:
            return
        if len(self._line) > LINE_MOST_CHARS:
            self._end_line()
        data = unescape(data)
        if self._pre:
            first, *more = data.split("\n")
            self._line += first
            for line in more:
                self._end_line()
                self._line = line
            return
        words = re.sub(r"[ \t\r\n\f]+", " ", data)
        self._line += words.lstrip(" ") if not self._line or self._line.endswith(" ") else words

    def _end_link(self, url: str, begin: int) -> None:
        words = self._line[begin:].strip()
        if url.lower().startswith(("http://", "https://")) and url.rstrip("/") not in words:
            self._line += f" ({url})"

    def _break(self, *, space: bool = False) -> None:
        """Begin a new line, unless this one is empty."""
        if self._line.strip():
            self._end_line()
        self._line = ""
        if space and self.lines and self.lines[-1].strip("> "):
            self.lines.append(">" * min(self._quotes, QUOTE_DEPTH_MOST))

    def _end_line(self) -> None:
        mark = ">" * min(self._quotes, QUOTE_DEPTH_MOST)
        line = self._line.rstrip() if self._pre else self._line.strip()
        self.lines.append(f"{mark} {line}".strip() if mark else line)
        self._line = ""

    def text(self) -> str:
        self._break()
        while self.lines and not self.lines[-1].strip("> "):
            self.lines.pop()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines)).strip("\n")


def _after(end: str, html: str, begin: int) -> int:
    """The place behind `end`; less than zero where that never comes."""
    found = html.find(end, begin)
    return found + len(end) if found >= 0 else -1


def _attribute(more: str, name: str) -> str:
    found = next((one for one in ATTRIBUTE.finditer(more) if one["name"].lower() == name), None)
    return unescape(found["a"] or found["b"] or found["c"] or "") if found else ""


def text_of_html(html: str) -> str:
    reader = _Reader()
    reader.read(html[:HTML_MOST_CHARS])
    return reader.text()

"""HTML of a mail as text, in which quotes begin with ">" as in plain mail."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

HTML_MOST_CHARS: Final = 1_000_000
"""Of a mail's HTML: what comes behind is left out, and the reader is told so."""
SILENT: Final = frozenset({"head", "noscript", "script", "style", "template", "title"})
BLOCKS: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    ]
)
SPACED: Final = frozenset({"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"})
QUOTE_DEPTH_MOST: Final = 10


class _Reader(HTMLParser):
    """Walks once over the tags; nothing nests in it, so no mail is too deep."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line = ""
        self._silent = 0
        self._quotes = 0
        self._pre = 0
        self._links: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
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
            self._links.append((dict(attrs).get("href") or "", self._line))
        elif tag == "img" and (alt := (dict(attrs).get("alt") or "").strip()):
            self._line += f"[{alt}]"
        elif tag in BLOCKS or tag == "blockquote":
            self._break(space=tag in SPACED)
            self._quotes += tag == "blockquote"
            self._pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())
        elif tag in BLOCKS or tag == "blockquote":
            self._break(space=tag in SPACED)
            self._quotes = max(0, self._quotes - (tag == "blockquote"))
            self._pre = max(0, self._pre - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._pre:
            first, *more = data.split("\n")
            self._line += first
            for line in more:
                self._end_line()
                self._line = line
            return
        words = re.sub(r"[ \t\r\n\f]+", " ", data)
        self._line += words.lstrip(" ") if not self._line or self._line.endswith(" ") else words

    def _end_link(self, url: str, before: str) -> None:
        words = self._line.removeprefix(before).strip()
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
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines)).strip("\n")


def text_of_html(html: str) -> str:
    reader = _Reader()
    reader.feed(html[:HTML_MOST_CHARS])
    reader.close()
    return reader.text()

"""Turns a page into Markdown. `pages` runs it as a separate program with one JSON argument.

Reading a page of 2 MB takes seconds in which nothing else in its process runs, and a page may be written so that it takes
hours or all memory. A process can be bounded and killed, and gives its memory back. Imports no other module of ours.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Iterator
from typing import Final
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag
from markdownify import ATX, MarkdownConverter

MEMORY_MAX_BYTES: Final = 1 << 30  # bytes
EXIT_BROKEN: Final = 4  # exit code
LONGEST_LINK: Final = 500  # characters; longer ones are made for programs, and would fill the answer

# What a reader does not see, or cannot use here.
UNREAD: Final = (
    *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video"),
    *("nav", "menu", "input", "select", "button", "textarea", "dialog", "link", "meta", "head", "title"),
)
UNREAD_ROLES: Final = frozenset({"navigation", "search", "menu", "menubar"})
# Text that only a machine reads is how a page would speak to the model behind the reader's back.
UNSEEN: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*+0*+(\.0++)?+\s*+(;|!|$)"
    r"|font-size\s*:\s*+0*+(\.0++)?+\s*+(px|pt|em|rem|%)?+\s*+(;|!|$)",
    re.IGNORECASE,
)


def main(request: str) -> int:
    order = json.loads(request)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))
    # Whoever started us kills us in time, unless it was itself killed.
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"] + 1, order["seconds"] + 1))
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    with os.fdopen(order["descriptor"], "rb") as page:
        html = page.read().decode(errors="replace")
    try:
        sys.stdout.write(markdown(html, url=order["url"], most=order["most"]))
    except MemoryError:
        return EXIT_BROKEN
    return 0


def markdown(html: str, *, url: str, most: int) -> str:
    """Text that a person would read on the page at `url`: its title, then its text with absolute links and tables.

    Shape: at least the first `most` characters, where there are so many.
    """
    soup = BeautifulSoup(html, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    base = soup.find("base", href=True)
    start = urljoin(url, str(base["href"])) if isinstance(base, Tag) else url
    _take_out(soup, list(_unread(soup)))
    _mend(soup, start)
    _cut_after(soup, most)
    text = _tidy(_written(soup))
    said = any(line.strip("# ") == title for line in text.splitlines()[:5])
    return text if said or not title else f"# {title}\n\n{text}"


def _unread(soup: BeautifulSoup) -> Iterator[PageElement]:
    # Comments, and what else begins with <! or <?, which a browser takes for comments too.
    yield from soup.find_all(string=lambda text: isinstance(text, PreformattedString))
    yield from (tag for tag in soup.find_all(True) if _is_unread(tag))


def _is_unread(tag: Tag) -> bool:
    if tag.name in UNREAD or tag.has_attr("hidden"):
        return True
    said = {name: str(tag.get(name) or "").lower() for name in ("style", "role", "aria-hidden")}
    return bool(UNSEEN.search(said["style"])) or said["role"] in UNREAD_ROLES or said["aria-hidden"] == "true"


def _take_out(soup: BeautifulSoup, parts: list[PageElement]) -> None:
    for part in parts:
        part.extract()


def _mend(soup: BeautifulSoup, start: str) -> None:
    """Links that work from anywhere; of pictures their words."""
    for link in soup.find_all("a"):
        target = _absolute(start, str(link.get("href") or ""))
        if target and link.get_text(strip=True):
            link.attrs = {"href": target}
        else:
            link.unwrap()
    for picture in soup.find_all("img"):
        words = " ".join(str(picture.get("alt") or "").split())
        picture.replace_with(NavigableString(f"[image: {words}]" if words else ""))


def _absolute(start: str, target: str) -> str:
    """Absolute address of a link; empty for one that goes nowhere, stays on the page, or is for programs."""
    if not target.strip() or target.strip().startswith("#"):
        return ""
    try:
        found = urljoin(start, target.strip())
        fits = urlsplit(found).scheme in ("http", "https", "mailto") and len(found) <= LONGEST_LINK
    except ValueError:  # brackets that are no IPv6 address
        return ""
    return re.sub(r"[\s<>()]", lambda bad: f"%{ord(bad[0]):02X}", found) if fits else ""


def _cut_after(soup: BeautifulSoup, most: int) -> None:
    """Take out what comes after `most` characters of text: making Markdown of it costs more than reading it did."""
    seen = 0
    for text in soup.find_all(string=True):
        if seen > most:
            text.extract()
        seen += len(" ".join(text.split()))
    if seen > most:
        _take_out(soup, [tag for tag in soup.find_all(True) if not tag.contents and tag.name not in ("br", "hr")])


def _written(soup: BeautifulSoup) -> str:
    try:
        made = MarkdownConverter(
            heading_style=ATX,
            bullets="-",
            autolinks=False,
            escape_asterisks=False,
            escape_underscores=False,
            table_infer_header=True,
        ).convert_soup(soup)
    except RecursionError:  # nested deeper than any page that a person wrote
        return soup.get_text("\n", strip=True)
    return str(made)


def _tidy(text: str) -> str:
    lines = (line.rstrip() for line in text.replace("\xa0", " ").splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

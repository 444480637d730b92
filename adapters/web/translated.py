"""The page's HTML in another language: its texts, and the attributes that are read out, by the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import Final

from runtime.text.words import catalogue

PRODUCT: Final = "Signalbox"
"""Its name is the same everywhere."""
TEXT: Final = re.compile(r">([^<>]*[A-Za-z][^<>]*)<(?!/kbd|/style)")
"""Between two tags of our own file, which has no scripts in it. Keys stay as keyboards show them."""
ATTRIBUTE: Final = re.compile(r' (aria-label|placeholder|title|alt)="([^"]*[A-Za-z][^"]*)"')
COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)


def texts_in(html: str) -> Iterator[str]:
    """Every text of a page that people read, without the blanks around it."""
    html = COMMENT.sub("", html)
    for found in TEXT.finditer(html):
        if (text := _bare(found[1])) != PRODUCT:
            yield text
    yield from (_bare(found[2]) for found in ATTRIBUTE.finditer(html))


def translated(html: str, language: str) -> str:
    """The page in a language that isn't that of the sources."""
    of = catalogue(language).gettext
    html = TEXT.sub(lambda found: f">{_around(found[1], of)}<", html)
    html = ATTRIBUTE.sub(lambda found: f' {found[1]}="{_around(found[2], of)}"', html)
    return html.replace('<html lang="en"', f'<html lang="{language}"', 1)


def _around(text: str, of: Callable[[str], str]) -> str:
    """The text in the other language between the same blanks."""
    bare = text.strip()
    before, _, after = text.partition(bare)
    return f"{before}{escape(of(_bare(text)), quote=True) if _bare(text) != PRODUCT else PRODUCT}{after}"


def _bare(text: str) -> str:
    return unescape(" ".join(text.split()))

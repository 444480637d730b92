"""Phrases about web pages in the browser, pictures and recordings that the demo model understands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json

Phrase = tuple[str, str, Mapping[str, Json]]

# As `demo_phrases.PHRASES` has them.
PAGE_PHRASES: Final[Sequence[Phrase]] = (
    (r"open (?:the page )?(?P<url>https?://\S+)", "browser_open", {}),
    (r"read the (?:open )?page", "browser_read", {}),
    (r"take a picture(?: of the page)?", "browser_screenshot", {"path": "screenshots/page.png"}),
    (r"click (?:on )?\[?(?P<target>\w+-\d+)\]?", "browser_click", {}),
    (r"type (?P<text>.+) into \[?(?P<target>\w+-\d+)\]?", "browser_fill", {}),
    (r"close the browser", "browser_close", {}),
    (r"(?:draw|paint|make) (?:me )?a picture of (?P<prompt>.+)", "image_make", {}),
    (r"(?:speak|read out|say aloud)(?: in the voice (?P<voice>[\w-]+))?: ?(?P<text>.+)", "speak", {}),
    (r"look at (?:the picture )?(?P<path>.+)", "see", {}),
    (r"(?:transcribe|write down) (?P<path>.+\.\w+)", "transcribe", {}),
)
WHAT_I_DO_WITH_PAGES: Final = """\
- `open the page https://HOST/PAGE and take a picture`, then `click TARGET` or `type TEXT into TARGET`
- `draw a picture of SUBJECT`, `look at FILE`, `transcribe FILE`, `speak: TEXT` (or `speak in the voice NAME: TEXT`)"""
AND_A_PICTURE: Final = re.compile(r"(?P<first>open .+?) and (?P<then>take a picture)[.!]?", re.IGNORECASE)


def parts_of(line: str) -> Sequence[str]:
    """The two wishes of a line that asks for a page and a picture of it; else the line itself.

    >>> parts_of("Open the page http://a.example and take a picture")
    ['Open the page http://a.example', 'take a picture']
    """
    found = AND_A_PICTURE.fullmatch(line)
    return [found["first"], found["then"]] if found else [line]

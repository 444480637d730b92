"""Markdown as Slack's `markdown` block and Discord read it, near enough to look at."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from markdown_it import MarkdownIt

READER: Final = MarkdownIt("js-default", {"breaks": True, "html": False}).enable(["table", "strikethrough"])
INSTANT: Final = re.compile(r"&lt;t:(\d+)(?::\w)?&gt;")
MENTION: Final = re.compile(r"&lt;(@[!&]?|#)(\w+)&gt;")


def html_of(text: str) -> str:
    return with_tokens(READER.render(text))


def with_tokens(html: str) -> str:
    """Instants and mentions in place of their tokens, in a text that is HTML by now."""
    html = INSTANT.sub(lambda found: f"<span class=token>{in_words(int(found[1]))}</span>", html)
    return MENTION.sub(lambda found: f"<span class=token>{found[1][0]}{found[2]}</span>", html)


def in_words(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y %H:%M}"

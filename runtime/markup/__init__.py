"""The one parse of Markdown that every channel's `render.py` walks.

    parse(text) -> Document -> to_html | to_plain | a channel's own dialect

CommonMark with tables and strike-through. HTML is text, images are links, only http, https and mailto become links.
No words are lost: what other parsers drop (surplus table cells, link definitions, text nested too deep) stays as text.
"""

from runtime.markup.html import to_html
from runtime.markup.plain import to_plain
from runtime.markup.reader import parse
from runtime.markup.tree import Document

__all__ = ["Document", "parse", "to_html", "to_plain"]

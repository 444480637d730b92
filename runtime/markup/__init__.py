"""The one parse of Markdown that every channel's `render.py` walks.

    parse(text) -> Document -> neutralised -> split -> to_html | to_plain | a channel's own dialect

CommonMark with tables and strike-through; and instants, see `moments`. HTML is text, images are links, only http, https and mailto become links.
No words are lost: what other parsers drop (surplus table cells, link definitions, text nested too deep) stays as text.
"""

from runtime.markup.html import to_html
from runtime.markup.mentions import mass_mentions, neutralised, neutralised_text
from runtime.markup.moments import moment
from runtime.markup.plain import table_text, to_plain
from runtime.markup.reader import parse
from runtime.markup.split import once, split, split_made
from runtime.markup.tree import Document

__all__ = [
    "Document",
    "mass_mentions",
    "moment",
    "neutralised",
    "neutralised_text",
    "once",
    "parse",
    "split",
    "split_made",
    "table_text",
    "to_html",
    "to_plain",
]

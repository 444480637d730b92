"""Tree to safe HTML: only the tags written here, every word and attribute escaped, no style and no script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from runtime.markup.tree import (
    Block,
    Break,
    Cell,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Item,
    Link,
    List,
    Moment,
    Paragraph,
    Quote,
    Row,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)
from runtime.text.glyphs import legible

BARE_LINK: Final = re.compile(r"https?://[^\W_][^\s<>\"'`|]*", re.IGNORECASE)
AFTER_A_LINK: Final = ".,:;!?*_~'\""  # more often the sentence's than the link's


def to_html(document: Document) -> str:
    """`document` as HTML: block elements side by side, without a document around them."""
    return "\n".join(map(_block, document.blocks))


def _block(block: Block) -> str:
    match block:
        case Paragraph(children):
            return f"<p>{_inlines(children)}</p>"
        case Heading(level, children):
            return f"<h{level}>{_inlines(children)}</h{level}>"
        case List(items, None, tight):
            return f"<ul>{_items(items, tight=tight)}</ul>"
        case List(items, start, tight):
            number = "" if start == 1 else f' start="{start}"'
            return f"<ol{number}>{_items(items, tight=tight)}</ol>"
        case Quote(blocks):
            return f"<blockquote>{_lines(blocks)}</blockquote>"
        case CodeBlock(text, info):
            label = f' data-info="{_words(info)}"' if info else ""
            return f"<pre{label}><code>{_words(text)}</code></pre>"
        case Table(header, rows):
            body = f"<tbody>{''.join(_row(row, 'td') for row in rows)}</tbody>" if rows else ""
            return f"<table><thead>{_row(header, 'th')}</thead>{body}</table>"
        case Rule():
            return "<hr>"


def _lines(blocks: Iterable[Block]) -> str:
    return "\n".join(map(_block, blocks))


def _items(items: Iterable[Item], *, tight: bool) -> str:
    return "".join("<li>" + "\n".join(_item(item, tight=tight)) + "</li>" for item in items)


def _item(item: Item, *, tight: bool) -> Iterator[str]:
    for block in item.blocks:
        if tight and isinstance(block, Paragraph):
            yield _inlines(block.children)
        else:
            yield _block(block)


def _row(row: Row, tag: str) -> str:
    return f"<tr>{''.join(_cell(cell, tag) for cell in row.cells)}</tr>"


def _cell(cell: Cell, tag: str) -> str:
    align = f' class="{cell.align}"' if cell.align else ""
    return f"<{tag}{align}>{_inlines(cell.children)}</{tag}>"


def _inlines(children: Iterable[Inline], *, linked: bool = False) -> str:
    return "".join(_inline(child, linked=linked) for child in children)


def _inline(inline: Inline, *, linked: bool) -> str:
    match inline:
        case Text(text):
            return (_words(text) if linked else _with_links(text)).replace("\n", "<br>\n")
        case Code(text):
            return f"<code>{_words(text)}</code>"
        case Strong(children):
            return f"<strong>{_inlines(children, linked=linked)}</strong>"
        case Emphasis(children):
            return f"<em>{_inlines(children, linked=linked)}</em>"
        case Strike(children):
            return f"<s>{_inlines(children, linked=linked)}</s>"
        case Link(url, children, title):
            return _anchor(url, _inlines(children, linked=True), title)
        case Break():
            return "<br>\n"
        case Moment(at, text):
            return f'<time datetime="{at:%Y-%m-%dT%H:%M:%SZ}">{_words(text)}</time>'


def _anchor(url: str, inner: str, title: str = "") -> str:
    hint = f' title="{_words(title)}"' if title else ""
    return f'<a href="{escape(url)}"{hint} target="_blank" rel="noopener noreferrer nofollow">{inner}</a>'


def _with_links(text: str) -> str:
    """`text` escaped, its bare web addresses as links."""
    made, end = [], 0
    for found in BARE_LINK.finditer(text):
        url = _without_tail(found.group())
        made += [_words(text[end : found.start()]), _anchor(url, _words(url))]
        end = found.start() + len(url)
    return "".join([*made, _words(text[end:])])


def _words(text: str) -> str:
    """`text` escaped, with codes for what would turn its neighbours round or hide among them."""
    return escape(legible(text))


def _without_tail(url: str) -> str:
    """`url` without closing punctuation, and without a closing bracket that was opened before the address."""
    end, surplus = len(url), url.count(")") - url.count("(")
    while url[end - 1] in AFTER_A_LINK or (url[end - 1] == ")" and surplus > 0):
        end -= 1
        surplus -= url[end] == ")"
    return url[:end]

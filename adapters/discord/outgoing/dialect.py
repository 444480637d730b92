"""Tree to Discord's Markdown. It has no tables and few escapes of its own, so what it cannot show it shows as code.

Rules were read from the client: bold, italic, strike-through, code, quotes of one level, lists, three levels of headings,
links with a label. A backslash before a mark makes it a character; in code nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import Final

from runtime.markup import to_plain
from runtime.markup.tree import (
    Block,
    Break,
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
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

MARKUP: Final = re.compile(r"[\\*_`]|~~|\|\||\[(?=[^\[\]\n]*\]\()")
AT_LINE_START: Final = re.compile(r"^([^\S\n]*)(#{1,6}(?!\S)|-#(?!\S)|[-+](?!\S)|>)", re.MULTILINE)
NUMBER_AT_LINE_START: Final = re.compile(r"^([^\S\n]*\d+)\.(?!\S)", re.MULTILINE)
BARE_LINK: Final = re.compile(r"https?://[^\s<>\"'`|*]+", re.IGNORECASE)
LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+\-.#]+")
FENCES: Final = re.compile("`{3,}")
BESIDE_ANOTHER: Final = re.compile("`(?=`)")
TOUCHY: Final = "*_~`"
NOTHING_WIDE: Final = "\u200b"
RULE_LINE: Final = "\u2500" * 20
LEVELS: Final = 3  # of headings; deeper ones are bold


def to_discord(document: Document) -> str:
    """`document` as the text of a message."""
    return _blocks(document.blocks)


def _blocks(blocks: Iterable[Block], gap: str = "\n\n") -> str:
    made, last = "", None
    for block in blocks:
        if last is not None:
            made += "\n" if isinstance(last, Heading) else gap  # a heading has room below of its own
        made += _block(block)
        last = block
    return made


def _block(block: Block) -> str:
    match block:
        case Paragraph(children):
            return _lines(_inlines(children))
        case Heading(level, children):
            return _heading(level, children)
        case List():
            return _list(block)
        case Quote(blocks):
            return "\n".join(f"> {line}" for line in _blocks(blocks).split("\n"))
        case CodeBlock(text, info):
            return _code_block(text, info)
        case Table():
            return _fenced(to_plain(Document((block,))))
        case Rule():
            return RULE_LINE


def _heading(level: int, children: tuple[Inline, ...]) -> str:
    text = _inlines(children).replace("\n", " ")
    if level <= LEVELS or not text:
        return f"{'#' * level} {text}" if text else ""
    return f"**{_inlines(_without_bold(children))}**"


def _without_bold(children: Iterable[Inline]) -> tuple[Inline, ...]:
    found: list[Inline] = []
    for child in children:
        found += _without_bold(child.children) if isinstance(child, Strong) else (child,)
    return tuple(found)


def _list(block: List) -> str:
    marks = ("- " for _ in count()) if block.start is None else (f"{number}. " for number in count(block.start))
    gap = "\n" if block.tight else "\n\n"
    return gap.join(_item(item, mark, gap) for item, mark in zip(block.items, marks, strict=False))


def _item(item: Item, mark: str, gap: str) -> str:
    """Lines are set in under the mark; those of code are not, since they would show it."""
    made = [_block(block) if _is_code(block) else _set_in(_block(block), len(mark)) for block in item.blocks]
    if made and not _is_code(item.blocks[0]):
        made[0] = made[0].lstrip(" ")
        return mark + gap.join(made)
    return "\n".join([mark.rstrip(), *made])


def _is_code(block: Block) -> bool:
    return isinstance(block, CodeBlock | Table)


def _set_in(text: str, by: int) -> str:
    """Spaces before each line that is not of a code block."""
    made, inside = [], False
    for line in text.split("\n"):
        fence = line.startswith("```")
        made.append(line if inside or fence or not line else " " * by + line)
        inside ^= fence
    return "\n".join(made)


def _code_block(text: str, info: str) -> str:
    if not info or LANGUAGE.fullmatch(info):
        return _fenced(text, info)
    return f"{_escaped(info)}:\n{_fenced(text)}"  # Discord takes one word; others would be lost


def _fenced(text: str, language: str = "") -> str:
    inside = FENCES.sub(lambda found: NOTHING_WIDE.join(found[0]), text)
    return f"```{language}\n{inside if inside.strip() else ' '}\n```"


def _inlines(children: Iterable[Inline], *, within: bool = False) -> str:
    made, before = "", None
    for child in children:
        piece = _inline(child, within=within)
        marks = not (isinstance(before, Text) or isinstance(child, Text))  # those of a text are characters
        apart = made and piece and _run_together(made[-1], piece[0], marks=marks)
        made += NOTHING_WIDE + piece if apart else piece
        before = child
    return made


def _run_together(last: str, first: str, *, marks: bool) -> bool:
    """True if two marks would be read as one, or an underscore as part of a word."""
    if marks:
        return last in TOUCHY and first in TOUCHY
    return (last == "_" and first.isalnum()) or (first == "_" and last.isalnum())


def _inline(inline: Inline, *, within: bool) -> str:
    """`within` bold or italics the other mark is used, so that two of them never stand together."""
    match inline:
        case Text(text):
            return _text(text)
        case Code(text):
            return _code(text)
        case Strong(children):
            return f"**{_inlines(children, within=True)}**"
        case Emphasis(children):
            mark = "_" if within else "*"
            return f"{mark}{_inlines(children, within=True)}{mark}"
        case Strike(children):
            return f"~~{_inlines(children, within=within)}~~"
        case Link(url, children, title):
            return _link(url, children, title)
        case Break():
            return "\n"
        case Moment(at, _):
            return f"<t:{at.timestamp():.0f}:f>"


def _code(text: str) -> str:
    if "`" not in text:
        return f"`{text}`"
    return f"`` {BESIDE_ANOTHER.sub(f'`{NOTHING_WIDE}', text)} ``"


def _link(url: str, children: tuple[Inline, ...], title: str) -> str:
    """With its label, where Discord makes one a link: of the web, and with words that look like no link themselves."""
    plain = to_plain(Document((Paragraph(children),)))
    if plain in ("", url) and not title:
        return url
    hint = f' "{title}"' if title else ""
    if not url.lower().startswith("http") or BARE_LINK.search(plain) or '"' in title:
        shown = url.removeprefix("mailto:")
        return _inlines(children) if plain == shown and not title else f"{_inlines(children)} ({_text(shown + hint)})"
    target = url.replace("(", "%28").replace(")", "%29")
    return f"[{_inlines(children)}]({target}{hint})"


def _text(text: str) -> str:
    """Words as they are; nothing in a web address is touched."""
    made, end = [], 0
    for found in BARE_LINK.finditer(text):
        made += [_escaped(text[end : found.start()]), found.group()]
        end = found.end()
    return "".join([*made, _escaped(text[end:])])


def _escaped(text: str) -> str:
    return MARKUP.sub(lambda found: "".join(f"\\{mark}" for mark in found.group()), text)


def _lines(text: str) -> str:
    """Escape what would begin a heading, a list or a quote at the start of a line."""
    return NUMBER_AT_LINE_START.sub(r"\1\\.", AT_LINE_START.sub(r"\1\\\2", text))

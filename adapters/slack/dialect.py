"""A parsed text as the Markdown of Slack's `markdown` block.

Slack reads CommonMark with strike-through, but no tables: they stand in a block of code, aligned. What is only a sign in
the text is escaped where it would else be markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from runtime.markup import mass_mentions, table_text
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
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

NOBODY: Final = mass_mentions(
    *(f"<!{who}{end}" for who in ("channel", "here", "everyone") for end in (">", "|")),
    "<!subteam^",
    "@channel",
    "@here",
    "@everyone",
)
"""Who calls a whole room; see `runtime.markup.neutralised`."""

JOINT: Final = "\u200b"
"""ZERO WIDTH SPACE: between a mark and a sign, so that the mark counts as one where letters follow (CJK)."""

# Signs that are markup wherever they stand; and those that are at the begin of a line.
SIGNS: Final = re.compile(
    r"[`*]|\\(?=[!-/:-@\[-`{-~])|~(?=~)|(?<=~)~|\](?=[(:\[])|<(?=[A-Za-z/])|&(?=#?\w+;)|(?<!\w)_|_(?!\w)"
)
ADDRESS: Final = re.compile(r"(https?://[^\s<>`*\"]+)", re.IGNORECASE)
STARTS: Final = re.compile(
    r"(?m)^([ \t]*)(?:(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+[ \t]*$|-{2,}[ \t]*$|~~~)|(\d{1,9})([.)])(?=\s|$))"
)
EDGES: Final = re.compile(r"^(\s*)(.*?)(\s*)$", re.DOTALL)


def to_slack(document: Document) -> str:
    """`document` as text for a `markdown` block."""
    return _blocks(document.blocks)


def _blocks(blocks: Sequence[Block], gap: str = "\n\n") -> str:
    return gap.join(_block(block, turn=turn) for block, turn in zip(blocks, _turns(blocks), strict=True))


def _turns(blocks: Sequence[Block]) -> list[bool]:
    """Of two lists side by side the second has other marks, else they would be one."""
    turns = [False] * len(blocks)
    for place, (one, other) in enumerate(pairwise(blocks), 1):
        turns[place] = isinstance(one, List) and isinstance(other, List) and not turns[place - 1]
    return turns


def _block(block: Block, *, turn: bool = False) -> str:
    match block:
        case Paragraph(children):
            return _lines(children)
        case Heading(level, children):
            return f"{'#' * level} {_inlines(children).replace(chr(10), ' ')}"
        case List(items, start, tight):
            return _list(items, start, tight=tight, turn=turn)
        case Quote(blocks):
            return _prefixed(_blocks(blocks), "> ", "> ")
        case CodeBlock(text, info):
            return _fenced(text, info)
        case Table():
            return _fenced(table_text(block), "")
        case Rule():
            return "---"


def _list(items: Sequence[Item], start: int | None, *, tight: bool, turn: bool) -> str:
    gap = "\n" if tight else "\n\n"
    if start is None:
        marks = ["* " if turn else "- "] * len(items)
    else:
        marks = [f"{number}{')' if turn else '.'} " for number in range(start, start + len(items))]
    return gap.join(
        _prefixed(_blocks(i.blocks, gap), mark, " " * len(mark)) for i, mark in zip(items, marks, strict=True)
    )


def _prefixed(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    prefixes = [first, *[rest] * (len(lines) - 1)]
    return "\n".join(prefix + line if line else prefix.rstrip() for prefix, line in zip(prefixes, lines, strict=True))


def _fenced(text: str, info: str) -> str:
    runs = [len(run) for run in re.findall("`+", f"{text}\n{info}")]
    fence = "`" * max(3, max(runs, default=0) + 1)
    return f"{fence}{info.replace('`', '')}\n{text}\n{fence}"


# -------------------------------------------------------------------------------------------------------- inlines


def _lines(children: Sequence[Inline]) -> str:
    """A paragraph: what begins a line in it is no heading, quote or list."""
    return STARTS.sub(_escaped_start, _inlines(children))


def _escaped_start(found: re.Match[str]) -> str:
    space, sign, number, dot = found.groups()
    return f"{space}\\{sign}" if sign else f"{space}{number}\\{dot}"


def _inlines(children: Iterable[Inline]) -> str:
    pieces = [_inline(child) for child in children]
    made = ""
    for place, (mark, inner) in enumerate(pieces):
        following = next((m or text for m, text in pieces[place + 1 :] if m or text), "")
        made += _marked(mark, inner, made[-1:], following[:1]) if mark else inner
    return made


def _inline(inline: Inline) -> tuple[str, str]:
    """A mark around it, if any, and what is inside."""
    match inline:
        case Text(text):
            return "", _words(text)
        case Code(text):
            return "", _code(text)
        case Strong(children):
            return "**", _inlines(children)
        case Emphasis(children):
            return "*", _inlines(children)
        case Strike(children):
            return "~~", _inlines(children)
        case Link(url, children, title):
            return "", _link(url, _inlines(children), title)
        case Break():
            return "", "  \n"


def _words(text: str) -> str:
    """Signs escaped, but not inside of bare addresses: Slack makes links of those."""
    pieces = ADDRESS.split(text)
    pieces[::2] = [SIGNS.sub(lambda found: f"\\{found.group()}", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _marked(mark: str, inner: str, before: str, after: str) -> str:
    """Marks hug words: white space stands outside, and a sign at an edge gets a joint where a letter is beyond it."""
    found = EDGES.match(inner)
    left, words, right = found.groups() if found else ("", inner, "")
    if not words:
        return inner
    first = JOINT if _needs_joint(words[0], before if not left else " ") or before == mark[0] else ""
    last = JOINT if _needs_joint(words[-1], after if not right else " ") else ""
    return f"{left}{mark}{first}{words}{last}{mark}{right}"


def _needs_joint(edge: str, beyond: str) -> bool:
    return _is_sign(edge) and bool(beyond) and not beyond.isspace() and not _is_sign(beyond)


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _code(text: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _link(url: str, label: str, title: str) -> str:
    words = label or _words(url)
    if not _balanced(words, "[", "]"):
        words = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", words)
    safe = url if _balanced(url, "(", ")") else url.replace("(", "%28").replace(")", "%29")
    hint = f' ("{_words(title)}")' if title else ""
    return f"[{words}]({safe}){hint}"


def _balanced(text: str, opening: str, closing: str) -> bool:
    """Whether each bracket has its other half, so that none of them ends what is around."""
    depth = 0
    for character in text:
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return depth == 0

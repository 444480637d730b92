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
    Moment,
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
    r"[`*]|\\(?=[!-/:-@\[-`{-~\n]|$)|~(?=~)|(?<=~)~|\](?=[(:\[])|<(?=[A-Za-z/]|$)|&(?=#?\w+;)|(?<!\w)_|_(?!\w)"
)
ENTITY: Final = re.compile(r"&(?=#?\w+;)")
CLOSING: Final = re.compile(r"(^|\s)(#+\s*)$")  # at the end of a heading
ADDRESS: Final = re.compile(r"(https?://[^\s<>`*\"\\]+)", re.IGNORECASE)
STARTS: Final = re.compile(
    r"(?m)^([ \t]*)(?:(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|=+[ \t]*$|-{2,}[ \t]*$|~~~)|(\d{1,9})([.)])(?=\s|$))"
)
BREAK: Final = "  \n"


def to_slack(document: Document) -> str:
    """`document` as text for a `markdown` block."""
    return _blocks(document.blocks)


def _blocks(blocks: Sequence[Block], gap: str = "\n\n", *, turn: bool = False) -> str:
    """`turn`: lists have the other marks, since next to the usual ones they would be one with what is around."""
    turns = _turns(blocks, turn)
    return gap.join(_block(block, turn=turn) for block, turn in zip(blocks, turns, strict=True))


def _turns(blocks: Sequence[Block], turn: bool) -> list[bool]:
    """Of two lists side by side the second has other marks than the first."""
    turns = [turn] * len(blocks)
    for place, (one, other) in enumerate(pairwise(blocks), 1):
        turns[place] = turn ^ (_run_together(one, other) and turns[place - 1] == turn)
    return turns


def _run_together(one: Block, other: Block) -> bool:
    return isinstance(one, List) and isinstance(other, List) and (one.start is None) == (other.start is None)


def _block(block: Block, *, turn: bool) -> str:
    match block:
        case Paragraph(children):
            return _lines(children)
        case Heading(level, children):
            words = CLOSING.sub(r"\1\\\2", _inlines(children).replace("\n", " "))
            return f"{'#' * level} {words}"
        case List(items, start, tight):
            return _list(items, start, tight=tight, turn=turn)
        case Quote(blocks):
            return _prefixed(_blocks(blocks), "> ", "> ")
        case CodeBlock(text, info):
            return _fenced(text, info)
        case Table():
            return _fenced(table_text(block), "")
        case Rule():
            return "***" if turn else "---"


def _list(items: Sequence[Item], start: int | None, *, tight: bool, turn: bool) -> str:
    gap = "\n" if tight else "\n\n"
    if start is None:
        marks = ["* " if turn else "- "] * len(items)
    else:
        marks = [f"{number}{')' if turn else '.'} " for number in range(start, start + len(items))]
    return gap.join(_item(item, mark, gap, turn=turn) for item, mark in zip(items, marks, strict=True))


def _item(item: Item, mark: str, gap: str, *, turn: bool) -> str:
    return _prefixed(_blocks(item.blocks, gap, turn=not turn), mark, " " * len(mark))


def _prefixed(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    prefixes = [first, *[rest] * (len(lines) - 1)]
    return "\n".join(prefix + line if line else prefix.rstrip() for prefix, line in zip(prefixes, lines, strict=True))


def _fenced(text: str, info: str) -> str:
    sign = "~" if "`" in info else "`"
    fence = sign * max(3, max((len(run) for run in re.findall(f"{sign}+", text)), default=0) + 1)
    return f"{fence}{info}\n{text}\n{fence}"


# -------------------------------------------------------------------------------------------------------- inlines


def _lines(children: Sequence[Inline]) -> str:
    """A paragraph: what begins a line in it is no heading, quote or list."""
    words = STARTS.sub(_escaped_start, _inlines(children))
    return f"\\{words.lstrip(' ')}" if words.startswith(BREAK) else words


def _escaped_start(found: re.Match[str]) -> str:
    space, sign, number, dot = found.groups()
    return f"{space}\\{sign}" if sign else f"{space}{number}\\{dot}"


def _inlines(children: Iterable[Inline], within: str = "") -> str:
    """`within` are the marks around them: what is strong twice is no stronger."""
    pieces = [piece for child in children if any(piece := _inline(child, within))]
    made = ""
    for (mark, inner), (next_mark, following) in zip(pieces, [*pieces[1:], ("", "")], strict=False):
        made += _marked(mark, inner, made[-1:], (next_mark or following)[:1]) if mark else inner
    return made


def _inline(inline: Inline, within: str) -> tuple[str, str]:
    """A mark around it, if any, and what is inside."""
    match inline:
        case Text(text):
            return "", _words(text)
        case Code(text):
            return "", _code(text)
        case Strong(children):
            return _span("**", "s", children, within)
        case Emphasis(children):
            return _span("*", "e", children, within)
        case Strike(children):
            return "~~", _inlines(children, within)
        case Link(url, children, title):
            return "", _link(url, _inlines(children), title)
        case Break():
            return "", BREAK
        case Moment(_, text):
            return "", _words(text)  # this block reads none of Slack's own signs: see `mrkdwn`


def _span(mark: str, kind: str, children: Iterable[Inline], within: str) -> tuple[str, str]:
    return "" if kind in within else mark, _inlines(children, within + kind)


def _words(text: str) -> str:
    """Signs escaped, but not inside of bare addresses: Slack makes links of those."""
    pieces = ADDRESS.split(text)
    pieces[::2] = [SIGNS.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    pieces[1::2] = [ENTITY.sub(r"\\\g<0>", piece) for piece in pieces[1::2]]
    return "".join(pieces)


def _marked(mark: str, inner: str, before: str, after: str) -> str:
    """Marks hug words: white space stands outside, a joint where a sign would keep a mark from being one, or two marks
    of one sign would run together."""
    if not (words := inner.strip()):
        return inner
    left, _, right = inner.partition(words)
    sign = mark[0]
    apart = JOINT if before == sign and not left else ""
    uneven = (words[0] == sign) != (words[-1] == sign)
    begins = _needs_joint(words[0], " " if left else apart or before) or (uneven and words[0] == sign)
    ends = _needs_joint(words[-1], " " if right else _beyond(after, sign)) or (uneven and words[-1] == sign)
    return f"{left}{apart}{mark}{JOINT * begins}{words}{JOINT * ends}{mark}{right}"


def _beyond(after: str, sign: str) -> str:
    """Text after a mark: where the next one has the same sign, that gets a joint before it."""
    return JOINT if after == sign else after


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
    whole = url if _balanced(url, "(", ")") else url.replace("(", "%28").replace(")", "%29")
    safe = ENTITY.sub(r"\\\g<0>", whole)
    hint = f' ("{_words(title)}")' if title else ""
    return f"[{words}]({safe}){hint}"


def _balanced(text: str, opening: str, closing: str) -> bool:
    """True if each bracket has its other half, so that none of them ends what is around."""
    depth = 0
    for character in text:
        depth += (character == opening) - (character == closing)
        if depth < 0:
            return False
    return depth == 0

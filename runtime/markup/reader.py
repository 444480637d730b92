"""Markdown text to tree, by markdown-it-py. Its import costs some 80 ms and waits for the first text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from runtime.markup.moments import FORM, instant_of
from runtime.markup.tree import (
    Align,
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

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

BLOCK_DEPTH: Final = 40  # levels of quotes and lists (a list and its item are two); deeper text is a paragraph
INLINE_DEPTH: Final = 20  # levels of emphasis; deeper words stay, without their marks
PARSER_DEPTH: Final = 60  # above ours: at its own bound the parser drops the rest, so it must never get there
PLAIN_SIGNS: Final = r"\x00-\x1f\x7f\\`*_<>&!~"
"""Letters by which something else begins inside a paragraph."""
PLAIN_LINE: Final = re.compile(
    rf"(?:- )?[^\W\d_](?:[^{PLAIN_SIGNS}]*[^{PLAIN_SIGNS}\s])?|\[(?:[^{PLAIN_SIGNS}]*[^{PLAIN_SIGNS}\s])?"
)
"""A line of a paragraph, or of a list by its mark, that begins with a letter or a bracket and holds no such sign."""
BULLET: Final = "- "
LINK_INSIDE: Final = "]("
"""Stands in each link: without it a bracket is a letter like others."""
PLAIN_MAX_CHARS: Final = 4_000
"""Of a longer text nobody asks: few are of words alone."""
MARKED_MAX_CHARS: Final = 100_000
"""Of a longer text, such as a program may print, the rest is shown as it was written, but for code: to read a million signs
takes many seconds."""
LAST_END: Final = "last end of a link"
IN_VAIN: Final = "read in vain"
IN_VAIN_MAX_CHARS: Final = 20_000_000
"""Of a text, that may be read behind brackets that turn out to be no links; further ones are brackets."""
SAFE_LINK: Final = re.compile(r"(https?://|mailto:)[^\s]", re.IGNORECASE)


def parse(text: str) -> Document:
    """The tree of `text`. Any text is valid Markdown: this never fails."""
    if len(text) <= PLAIN_MAX_CHARS and (blocks := plain_blocks(text)):
        return Document(blocks)
    if len(text) <= MARKED_MAX_CHARS:
        return Document(_blocks(_parser().parse(text)))
    return Document(tuple(_of_long(text)))


def _of_long(text: str) -> Iterator[Block]:
    """Blocks of a text that is too long to be read whole: code counts for nothing, since a call on a card may be as long as it likes."""
    room = MARKED_MAX_CHARS
    while text and room > 0:
        end = len(text) if len(text) <= room else text.rfind("\n", 0, room) + 1 or room
        part, text = text[:end], text[end:]
        room -= end
        tokens = _parser().parse(part)
        if text and (fence := _open_fence(tokens, part)):
            room += len(fence.content)
            code, text = _code_until(fence.markup, text, is_new_line=part.endswith("\n"))
            fence.content += code
        yield from _blocks(tokens)
    yield from _as_written(text)


def _open_fence(tokens: Sequence[Token], part: str) -> Token | None:
    """The fence at the end of a part whose code goes on behind it."""
    last = tokens[-1] if tokens else None
    if last is None or last.type != "fence" or last.map is None:
        return None
    lines = part.removesuffix("\n").split("\n")
    is_closed = last.map[1] - last.map[0] > 1 and _closing(last.markup).fullmatch(lines[-1]) is not None
    return None if is_closed or last.map[1] < len(lines) else last


def _code_until(markup: str, text: str, *, is_new_line: bool) -> tuple[str, str]:
    """Code up to the line that closes it, and what is behind that; all of it where none does."""
    start = 0 if is_new_line else text.find("\n") + 1 or len(text)
    found = _closing(markup).search(text, start)
    return (text[: found.start()], text[found.end() :].removeprefix("\n")) if found else (text, "")


def _closing(markup: str) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{re.escape(markup[0])}{{{len(markup)},}}[ \t]*$", re.MULTILINE)


def _as_written(rest: str) -> Iterator[Block]:
    for part in rest.split("\n\n"):
        if said := part.strip("\n"):
            yield Paragraph((Text(said),))


def plain_blocks(text: str) -> tuple[Block, ...]:
    """Blocks of paragraphs and lists of words alone, as most short answers are, in a tenth of the time; () for another text."""
    if LINK_INSIDE in text:
        return ()
    blocks: list[Block] = []
    for part in text.split("\n\n"):
        lines = part.split("\n")
        if not all(map(PLAIN_LINE.fullmatch, lines)):
            return ()
        said = [line for line in lines if not line.startswith(BULLET)]
        items = [Item((Paragraph((Text(line[len(BULLET) :]),)),)) for line in lines[len(said) :]]
        goes_on = items and not said and blocks and isinstance(blocks[-1], List)  # the list before, with gaps
        if goes_on or any(line.startswith(BULLET) for line in lines[: len(said)]):  # a line behind an item is its own
            return ()
        blocks += [Paragraph((Text("\n".join(said)),))] if said else []
        blocks += [List(tuple(items))] if items else []
    return tuple(blocks)


def is_safe(url: str) -> bool:
    """True if `url` may become a link: http, https or mailto, and nothing else but an instant."""
    return SAFE_LINK.match(url) is not None or instant_of(url) is not None


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": PARSER_DEPTH})
    parser.enable(["table", "strikethrough"])
    # Definitions show nothing by themselves and would be lost; without `image` an image is "!" and a link;
    # without `text_join` an escaped "!" can be told from that one.
    parser.disable(["html_block", "html_inline", "reference", "image", "text_join"])
    parser.block.ruler.before("table", "too_deep", _too_deep)
    parser.block.ruler.at("table", _table_that_keeps_all_cells, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.at("link", _link_with_an_end)
    parser.validateLink = is_safe  # type: ignore[method-assign]
    return parser


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A block rule: beyond BLOCK_DEPTH all lines up to an empty one are one paragraph."""
    if state.level < BLOCK_DEPTH:
        return False
    if silent:
        return True
    line = start + 1
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, line, state.blkIndent, False).strip()
    inline.children = []
    state.push("paragraph_close", "p", -1)
    state.line = line
    return True


def _link_with_an_end(state: StateInline, silent: bool) -> bool:
    """The parser's link rule, not tried where no link can end, nor once too much was read in vain: each of 50,000 open brackets
    has it read all that follows."""
    from markdown_it.rules_inline.link import link

    if state.src[state.pos] != "[":
        return False
    text, end = state.env.get(LAST_END, ("", -1))
    if text is not state.src:
        state.env[LAST_END] = state.src, (end := state.src.rfind("]("))
    if end < state.pos or state.env.setdefault(IN_VAIN, IN_VAIN_MAX_CHARS) < 0:
        return False
    if link(state, silent):
        return True
    state.env[IN_VAIN] -= state.posMax - state.pos
    return False


def _table_that_keeps_all_cells(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's table rule, which drops cells beyond the header's width; here the last cell takes them."""
    from markdown_it.rules_block.table import escapedSplit, table

    before = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    if silent:
        return True
    width = sum(token.type == "th_open" for token in state.tokens[before:])
    last: Token | None = None
    for token in state.tokens[before:]:
        if token.type == "inline":
            last = token
        elif token.type == "tr_close" and last is not None and last.map:
            line = last.map[0]
            source = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
            cells = escapedSplit(source)
            surplus = [cell.strip() for cell in cells[width + (cells[0] == "") :]]
            last.content = " | ".join([last.content, *filter(None, surplus)])
    return True


@dataclass(slots=True)
class _Open:
    """An open token and what was read inside it so far."""

    token: Token | None
    children: list[Any] = field(default_factory=list)


def _blocks(tokens: Sequence[Token]) -> tuple[Block, ...]:
    stack = [_Open(None)]
    for token in tokens:
        if token.nesting == 1:
            stack.append(_Open(token))
        elif token.nesting == -1:
            closed = stack.pop()
            stack[-1].children.extend(_container(closed))
        elif token.type == "inline":
            stack[-1].children.extend(_inlines(token.children or []))
        elif token.type == "hr":
            stack[-1].children.append(Rule())
        else:  # fence, code_block
            stack[-1].children.append(CodeBlock(token.content.removesuffix("\n"), token.info.strip()))
    return tuple(stack[0].children)


def _container(closed: _Open) -> list[Any]:
    """The node or nodes that a closed block token stands for. Table sections stand for their rows."""
    token, children = closed.token, tuple(closed.children)
    assert token is not None  # noqa: S101 - only the document itself has none
    match token.type:
        case "paragraph_open":
            return [_TightParagraph(children) if token.hidden else Paragraph(children)]
        case "heading_open":
            return [Heading(int(token.tag[1:]), children)]
        case "blockquote_open":
            return [Quote(children)]
        case "bullet_list_open":
            return [_list(children, None)]
        case "ordered_list_open":
            return [_list(children, int(token.attrs.get("start", 1)))]
        case "list_item_open":
            return [_RawItem(children)]
        case "th_open" | "td_open":
            return [Cell(children, Align(str(token.attrs.get("style", "")).removeprefix("text-align:")))]
        case "tr_open":
            return [Row(children)]
        case "table_open":
            return [Table(children[0], children[1:])]
        case _:  # thead, tbody
            return closed.children


@dataclass(frozen=True, slots=True)
class _TightParagraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class _RawItem:
    blocks: tuple[Any, ...]


def _list(items: tuple[_RawItem, ...], start: int | None) -> List:
    """A list is tight when a paragraph in it says so; one without paragraphs is tight too."""
    inside = [block for item in items for block in item.blocks]
    tight = not any(isinstance(block, Paragraph) for block in inside)
    made = (
        Item(tuple(Paragraph(b.children) if isinstance(b, _TightParagraph) else b for b in item.blocks))
        for item in items
    )
    return List(tuple(made), start, tight)


def _inlines(tokens: Sequence[Token]) -> tuple[Inline, ...]:
    stack = [_Open(None)]
    for before, token in zip([None, *tokens], tokens, strict=False):
        children = stack[-1].children
        if token.nesting == 1:
            if token.type == "link_open" and before is not None and before.type == "text":
                _drop_image_mark(children)
            stack.append(_Open(token))
        elif token.nesting == -1:
            closed = stack.pop()
            _extend(stack[-1].children, _span(closed, depth=len(stack)))
        elif token.type == "code_inline":
            children.append(Code(token.content))
        elif token.type == "hardbreak":
            children.append(Break())
        else:
            _append_text(children, "\n" if token.type == "softbreak" else token.content)
    return tuple(stack[0].children)


def _span(closed: _Open, *, depth: int) -> list[Inline]:
    token, children = closed.token, tuple(closed.children)
    if token is None or (depth > INLINE_DEPTH and token.type != "link_open"):
        return closed.children
    match token.type:
        case "strong_open":
            return [Strong(children)]
        case "em_open":
            return [Emphasis(children)]
        case "s_open":
            return [Strike(children)]
        case _ if not token.attrs["href"]:  # the parser asks about every address but none
            return [*children, *([Text(f" ({token.attrs['title']})")] if token.attrs.get("title") else [])]
        case _:  # link_open
            return [_link(str(token.attrs["href"]), children, str(token.attrs.get("title", "")))]


def _link(url: str, children: tuple[Inline, ...], title: str) -> Inline:
    at = instant_of(url)
    if at is None:
        return Link(url, children, title)
    words = "".join(child.text for child in children if isinstance(child, Text | Code))
    return Moment(at, words or f"{at:{FORM}} UTC")


def _extend(children: list[Any], more: Sequence[Inline]) -> None:
    """Words that meet are one text."""
    for child in more:
        if isinstance(child, Text):
            _append_text(children, child.text)
        else:
            children.append(child)


def _append_text(children: list[Any], text: str) -> None:
    if children and isinstance(children[-1], Text):
        children[-1] = Text(children[-1].text + text)
    elif text:
        children.append(Text(text))


def _drop_image_mark(children: list[Any]) -> None:
    last = children[-1] if children else None
    if isinstance(last, Text) and last.text.endswith("!"):
        children[-1:] = [Text(last.text[:-1])] if len(last.text) > 1 else []

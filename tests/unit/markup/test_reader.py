"""What the parse promises to every renderer."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, strategies

from runtime.markup import parse
from runtime.markup.reader import BLOCK_DEPTH, _blocks, _parser, plain_blocks
from runtime.markup.tree import (
    Align,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
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
from tests.unit.markup.shapes import markdown

LONG = 30_000  # characters
QUICK = 5.0  # seconds of the processor; the slowest below takes about one


def words(text: str) -> Paragraph:
    return Paragraph((Text(text),))


@pytest.mark.parametrize(
    ("source", "block"),
    [
        ("two\nlines", words("two\nlines")),
        ("## Head", Heading(2, (Text("Head"),))),
        ("- a\n- b", List((Item((words("a"),)), Item((words("b"),))))),
        ("4. a\n\n5. b", List((Item((words("a"),)), Item((words("b"),))), start=4, tight=False)),
        ("> q", Quote((words("q"),))),
        ("```py title\nx = 1\n```", CodeBlock("x = 1", "py title")),
        ("    x = 1", CodeBlock("x = 1")),
        ("***", Rule()),
        ("**b** *e* ~~s~~ `c`", Paragraph((Strong((Text("b"),)), Text(" "), Emphasis((Text("e"),)), Text(" "),
                                           Strike((Text("s"),)), Text(" "), Code("c")))),
        ('[l](https://x.io "t")', Paragraph((Link("https://x.io", (Text("l"),), "t"),))),
        ("a  \nb", Paragraph((Text("a"), Break(), Text("b")))),
        ("![alt](https://x.io/i.png)", Paragraph((Link("https://x.io/i.png", (Text("alt"),)),))),
    ],
)  # fmt: skip
def test_every_construct_has_its_node(source: str, block: object) -> None:
    assert parse(source).blocks == (block,)


def test_a_table_keeps_alignment_and_has_even_rows() -> None:
    (table,) = parse("|a|b|c|\n|:-|-:|:-:|\n|1|\n").blocks
    assert isinstance(table, Table)
    assert [cell.align for cell in table.header.cells] == [Align.LEFT, Align.RIGHT, Align.CENTER]
    assert [cell.children for cell in table.rows[0].cells] == [(Text("1"),), (), ()]


def test_surplus_table_cells_join_the_last_one() -> None:
    (quote,) = parse("> |a|b|\n> |-|-|\n> |1|2|3|4|\n> |5|6|\n").blocks
    assert isinstance(quote, Quote)
    (table,) = quote.blocks
    assert isinstance(table, Table)
    assert [row.cells[-1].children for row in table.rows] == [(Text("2 | 3 | 4"),), (Text("6"),)]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//x.io", "JaVaScRiPt:x"]
)
def test_an_unsafe_link_stays_text(url: str) -> None:
    assert parse(f"[go]({url})").blocks == (words(f"[go]({url})"),)


def test_html_is_text() -> None:
    assert parse("<script>x</script>").blocks == (words("<script>x</script>"),)


def test_a_fence_holds_a_shorter_fence() -> None:
    assert parse("````md\n```py\nx\n```\n````").blocks == (CodeBlock("```py\nx\n```", "md"),)


def test_text_nested_too_deep_is_a_paragraph_and_not_lost() -> None:
    block = parse("> " * (BLOCK_DEPTH + 60) + "bottom").blocks[0]
    depth = 0
    while isinstance(block, Quote):
        block, depth = block.blocks[0], depth + 1
    assert depth == BLOCK_DEPTH
    assert isinstance(block, Paragraph)
    assert block.children[-1] == Text("> " * 60 + "bottom")


@given(markdown)
def test_any_text_parses(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "unit",
    ["word **bold** `code` [l](http://x.io) ", ">", "- ", "*a ", "*a**b", "[", "![", "[a](", "_a__b", "~~a~~b", "<", "`a``", "|a",
     "|a|b|\n|-|-|\n", "漢字かな ", "👩‍🚀 **x** ", "https://", "```\n", "```a\n> ", "#", "&", "\\"],
)  # fmt: skip
def test_thirty_thousand_characters_are_quick(unit: str) -> None:
    text = (unit * LONG)[:LONG]
    began = time.process_time()
    parse(text)
    assert time.process_time() - began < QUICK


def test_importing_the_package_does_not_load_the_parser() -> None:
    check = "import sys, runtime.markup; sys.exit('markdown_it' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@given(strategies.text("ab Z:.,;-=+#|()'\"1 \u00a0é中$^{}@?!\u2028\ufeff\n\n\t[]", max_size=12))
def test_plain_lines_read_as_the_parser_reads_them(text: str) -> None:
    assert parse(text) == Document(_blocks(_parser().parse(text)))


LINES = strategies.sampled_from(
    ["a b", "- a", "- [ ] a", "- b: c", "[a] b", "[a]: b", "", "", " a", "-", "- 1", "| a", "a | b", "1. a"]
)


@given(strategies.lists(LINES, max_size=7))
def test_plain_blocks_read_as_the_parser_reads_them(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert parse(text) == Document(_blocks(_parser().parse(text)))


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ('Yes, at 3 pm ("or so").\nÉcoute: 中', True),
        ("One.\n\nOther, as [1] says:\n- a\n- b\n\nDone.", True),
        ("a  \nb", False),
        ("1. a", False),
        ("a *b*", False),
        ("a ", False),
        ("- a\nb", False),
        ("- a\n\n- b", False),
        ("a [b](https://example.org)", False),
        ("", False),
    ],
)
def test_words_without_a_sign_need_no_parser(text: str, is_plain: bool) -> None:
    assert bool(plain_blocks(text)) is is_plain


@pytest.mark.parametrize("fence", ["```", "~~~~"])
@pytest.mark.parametrize("line", ["line\n" * 60_000, "x" * 300_000 + "\n"], ids=["lines", "one line"])
def test_code_is_read_whole_however_long_it_is_and_what_stands_behind_it_too(fence: str, line: str) -> None:
    """A call on a card may be as long as it likes."""
    before, code, behind = parse(f"**Run** this?\n\n{fence}\n{line}{fence}\n\nin *this* room").blocks
    assert code == CodeBlock(line.removesuffix("\n"))
    assert (before, behind) == (*parse("**Run** this?").blocks, *parse("in *this* room").blocks)

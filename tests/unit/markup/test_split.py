"""Long text in pieces: nothing lost, every piece small enough, cuts where a reader would make them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.markup import Document, parse, split, split_made, to_html, to_plain
from runtime.markup.cuts import Cuts
from runtime.markup.spans import Node, inside, span, text_of
from runtime.markup.split import Measure, beginning
from runtime.markup.tree import CodeBlock, List, Quote, Table, Text
from runtime.text.lengths import characters, utf8, utf16
from tests.unit.markup.shapes import markdown

UNITS = {"characters": characters, "UTF-16": utf16, "bytes": utf8}


def plain(document: Document) -> int:
    return len(to_plain(document))


def html(document: Document) -> int:
    return len(to_html(document))


def words(*documents: Document) -> str:
    """All that the leaves of the trees say, without white space: what a cut must not change."""
    return "".join("".join(said(document)).replace("\n", "") for document in documents)


def said(node: Node) -> Iterator[str]:
    yield "".join(text_of(node).split())
    for child in inside(node):
        yield from said(child)


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in inside(node):
        yield from nodes(child)


def pieces(text: str, limit: int, measure: Measure = plain) -> list[str]:
    made = split(parse(text), measure, limit)
    assert all(measure(piece) <= limit for piece in made)
    return [to_plain(piece) for piece in made]


@given(markdown, st.integers(60, 200), st.sampled_from(sorted(UNITS)))
def test_no_word_is_lost_and_every_piece_fits(text: str, limit: int, unit: str) -> None:
    document = parse(text)
    made = split(document, lambda part: UNITS[unit](to_plain(part)), limit)
    assert all(UNITS[unit](to_plain(piece)) <= limit for piece in made)
    letters = re.sub(r"\W", "", to_plain(document))
    shown = re.sub(r"\W", "", "".join(map(to_plain, made)))
    assert in_order(letters, shown)


def in_order(letters: str, shown: str) -> bool:
    """Whether `shown` has all of `letters` in their order: between them it repeats headers and numbers."""
    rest = iter(shown)
    return all(letter in rest for letter in letters)


@given(markdown, st.integers(1, 60))
def test_a_limit_too_small_for_the_form_drops_the_form_and_keeps_the_words(text: str, limit: int) -> None:
    """Or it says that not even a character fits: never an endless list, never a piece too long."""
    document = parse(text)
    try:
        made = split(document, html, limit)
    except ValueError as error:
        assert str(limit) in str(error)  # noqa: PT017 - both endings are right
        assert limit < len("<h1>&quot;</h1>") + len('<pre data-info=""><code></code></pre>')
    else:
        assert all(html(piece) <= limit for piece in made) or made == [document]


@given(markdown)
def test_what_fits_stays_as_it_is(text: str) -> None:
    document = parse(text)
    assert split(document, plain, plain(document)) == [document]


@given(markdown, st.integers(60, 200))
def test_the_same_text_is_cut_the_same_way(text: str, limit: int) -> None:
    assert split(parse(text), plain, limit) == split(parse(text), plain, limit)


@given(markdown, st.integers(80, 200))
def test_each_piece_is_one_piece(text: str, limit: int) -> None:
    for piece in split(parse(text), plain, limit):
        assert split(piece, plain, limit) == [piece]


SENTENCES = "The quick brown fox jumps over the lazy dog. "
BIG = {
    "prose": SENTENCES * 700,
    "paragraphs": f"{SENTENCES}\n\n" * 700,
    "one word": "x" * 30_000,
    "Chinese": "漢字は意味を持つ文字です。" * 2_300,
    "families": "👩‍👩‍👧‍👦" * 4_300,
    "flags": "🇩🇪🇫🇷" * 7_500,
    "marks on one letter": "e" + "\u0301" * 30_000,
    "code": "```py\n" + "".join(f"    line_{n} = {n * n}\n" for n in range(1_500)) + "```",
    "one line of code": "```\n" + "x" * 30_000 + "\n```",
    "a list": "".join(f"{n}. item {n}, of a long list\n" for n in range(1, 1_300)),
    "a table": "|n|square|words|\n|-|-:|-|\n" + "".join(f"|{n}|{n * n}|{'w' * (n % 40)}|\n" for n in range(1_100)),
    "deep quotes": "\n".join("> " * (n % 15) + SENTENCES for n in range(700)),
    "a list in quotes": "".join(f"> - {SENTENCES}\n>   - {SENTENCES}\n" for _ in range(350)),
    "open brackets": "[" * 30_000,
    "stars": "*a **b " * 4_200,
    "empty items": "- \n" * 10_000,
    "long addresses": "[a label](http://x.io/" + "y" * 2_500 + ") then " + "words " * 4_500,
    "dense marks": "*a* **b** `c` " * 2_200,
    "dense lists": ("- `a` *b* `c`\n" * 60 + "\n---\n\n") * 35,
    "lists and tables": (
        "- **alpha**: [b](https://x.io/c)\n  - `d`\n" * 20 + "\n|e|f|\n|-|-|\n" + "|g|h *i*|\n" * 20 + "\n"
    )
    * 25,
    "a wide header": "|" + "h" * 1_500 + "|b|\n|-|-|\n" + f"|{'w' * 90}|b|\n" * 300,
}


@pytest.mark.parametrize("name", BIG)
@pytest.mark.parametrize("measure", [plain, html], ids=["plain", "html"])
def test_thirty_thousand_characters_take_few_looks(name: str, measure: Measure) -> None:
    looked = 0

    def counted(document: Document) -> int:
        nonlocal looked
        size = measure(document)
        looked += size
        return size

    document = parse(BIG[name])
    made = split(document, counted, 2_000)
    assert all(measure(piece) <= 2_000 for piece in made)
    assert looked <= 12 * measure(document)
    assert in_order(words(document), words(*made))


@given(markdown, st.integers(60, 200))
def test_what_is_made_of_the_pieces_is_what_would_be_made_of_them_afterwards(text: str, limit: int) -> None:
    document = parse(text)
    assert split_made(document, to_plain, len, limit) == [to_plain(piece) for piece in split(document, plain, limit)]


@pytest.mark.parametrize("name", ["prose", "code", "a table", "a list in quotes"])
def test_what_was_made_to_measure_a_piece_is_not_made_again(name: str) -> None:
    seen: list[Document] = []

    def made(document: Document) -> str:
        seen.append(document)
        return to_plain(document)

    split_made(parse(BIG[name]), made, len, 2_000)
    assert len(seen) == len(set(map(id, seen)))


@given(markdown, st.data())
def test_a_cut_that_is_decided_early_is_the_cut_of_every_reach(text: str, data: st.DataObject) -> None:
    """So a search may end before it knows how much fits."""
    root = span(parse(text))
    cuts = Cuts(root)
    start, fits, reach, most = sorted(data.draw(st.lists(st.integers(0, root.end), min_size=4, max_size=4)))
    early = cuts.best(start, fits, most) if start < fits else None
    if early is not None:
        assert early == cuts.best(start, reach, reach)


@given(markdown, st.integers(60, 200))
def test_the_beginning_is_the_first_piece(text: str, limit: int) -> None:
    document = parse(f"{text}\n\n" * 12)
    assert beginning(document, plain, limit) == split(document, plain, limit)[0]


@pytest.mark.parametrize("text", ["👩‍👩‍👧‍👦", "🇩🇪", "é́", "한", "각", "👍🏽", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "क्ष", "\r\n"])
def test_what_reads_as_one_character_is_never_cut(text: str) -> None:
    made = split(Document((CodeBlock(text * 300),)), lambda part: utf16(to_plain(part)), 100)
    for piece in made:
        (code,) = piece.blocks
        assert isinstance(code, CodeBlock)
        assert code.text == text * (len(code.text) // len(text))


def test_a_cut_falls_between_paragraphs() -> None:
    assert pieces("aaaa aaaa.\n\nbbbb bbbb.\n\ncccc cccc.", 24) == ["aaaa aaaa.\n\nbbbb bbbb.", "cccc cccc."]


def test_a_heading_stays_with_what_follows() -> None:
    assert pieces("aaaa aaaa aaaa\n\n# Head\n\nbbbb bbbb bbbb", 24) == ["aaaa aaaa aaaa", "Head\n\nbbbb bbbb bbbb"]


def test_a_long_paragraph_is_cut_after_a_sentence_else_after_a_word() -> None:
    assert pieces("One is here. Two is there. Three", 28) == ["One is here. Two is there.", "Three"]
    assert pieces("alpha beta gamma delta", 12) == ["alpha beta", "gamma delta"]


def test_chinese_is_cut_after_a_sentence_and_no_line_begins_with_a_full_stop() -> None:
    assert pieces("今日は晴れ。明日は雨です。明後日も雨。", 15) == ["今日は晴れ。明日は雨です。", "明後日も雨。"]
    assert pieces("今日は晴れ。", 5)[1][0] != "。"


def test_a_list_counts_on() -> None:
    assert pieces("7. aaaa\n8. bbbb\n9. cccc", 16) == ["7. aaaa\n8. bbbb", "9. cccc"]


def test_a_table_repeats_its_header() -> None:
    text = "|name|size|\n|-|-|\n" + "".join(f"|n{n}|{n}|\n" for n in range(30))
    first, *others = (piece.blocks[0] for piece in split(parse(text), plain, 100))
    assert isinstance(first, Table)
    assert all(isinstance(other, Table) and other.header == first.header and other.rows for other in others)
    assert len(others) > 1


def test_code_repeats_its_fence_and_is_cut_between_lines() -> None:
    text = "```py\n" + "".join(f"line({n})\n" for n in range(60)) + "```"
    made = [piece.blocks[0] for piece in split(parse(text), plain, 200)]
    assert {code.info for code in made if isinstance(code, CodeBlock)} == {"py"}
    assert "\n".join(code.text for code in made if isinstance(code, CodeBlock)) == f"{text[6:-4]}"


def test_indentation_after_a_cut_stays() -> None:
    code = "if x:\n" + "".join(f"    step({n})\n" for n in range(20))
    made = pieces(f"```\n{code}```", 80)
    assert all(line.startswith(" " * 8) for piece in made[1:] for line in piece.split("\n"))


def test_code_that_fits_whole_is_not_cut() -> None:
    text = "Twenty characters, then:\n\n```\n" + "\n".join(["x" * 20] * 6) + "\n```"
    assert pieces(text, 150) == ["Twenty characters, then:", "\n".join(["    " + "x" * 20] * 6)]


def test_what_is_in_a_quote_or_a_list_stays_in_it() -> None:
    made = split(parse("\n".join(f"> 1. > {SENTENCES}" for _ in range(20))), plain, 200)
    for piece in made:
        (quote,) = piece.blocks
        assert isinstance(quote, Quote)
        assert all(isinstance(block, List) for block in quote.blocks)


def test_marks_open_again_in_the_next_piece() -> None:
    first, second = split(parse("**alpha beta gamma delta**"), html, 45)
    assert [to_html(first), to_html(second)] == [
        "<p><strong>alpha beta gamma</strong></p>",
        "<p><strong>delta</strong></p>",
    ]


def test_an_address_too_long_to_repeat_is_text() -> None:
    url = "https://x.io/" + "y" * 300
    made = pieces(f"before [label]({url}) after", 200, html)
    assert "".join(made).replace(" ", "") == f"beforelabel({url})after"


def test_code_never_becomes_text() -> None:
    """Mass mentions in code are left as they are, since code calls nobody."""
    made = split(parse("# h\n\n> - ```py\n>   @everyone " + "x" * 400 + "\n>   ```"), html, 90)
    found = [node for piece in made for node in nodes(piece)]
    assert "@everyone" in next(node.text for node in found if isinstance(node, CodeBlock))
    assert all("@" not in node.text for node in found if isinstance(node, Text))


def test_a_limit_below_one_character_is_told() -> None:
    with pytest.raises(ValueError, match="limit of 3 is too small"):
        split(parse("hello"), html, 3)


def test_blank_text_is_one_piece() -> None:
    assert len(split(parse("\u00a0" * 50), lambda part: 9 + plain(part), 10)) == 1


def test_no_piece_begins_or_ends_a_paragraph_with_blanks() -> None:
    made = pieces(SENTENCES * 40, 100)
    assert made == [piece.strip() for piece in made]
    assert unicodedata.normalize("NFC", " ".join(made)) == (SENTENCES * 40).strip()


@example("|a|b|\n|-|-|\n|" + "w" * 90 + "|b|\n|a|" + "v" * 90 + "|")
@given(markdown)
def test_a_measure_with_steps_is_kept_too(text: str) -> None:
    """Such as a platform that rounds up, or counts each link as a fixed number."""
    made = split(parse(text), lambda part: -(-plain(part) // 16) * 16, 128)
    assert all(-(-plain(piece) // 16) * 16 <= 128 for piece in made)

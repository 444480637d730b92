"""What stands beside a long reply that goes as a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Whole
from runtime.markup import Document, parse, to_plain
from runtime.markup.attachment import BRIEF, READ_FILE, Abridged, abridged, both_ends, opening
from tests.unit.markup.shapes import markdown

LONG = "# Report\n\nAll is well.\n\n" + "".join(f"## Chapter {n}\n\n{'words ' * 300}\n\n" for n in range(1, 12))


def plain(document: Document) -> int:
    return len(to_plain(document))


def test_it_begins_as_the_text_does_and_names_the_file_and_what_follows() -> None:
    first, second, *_, chapters, last = to_plain(opening(parse(LONG), "reply.md", plain, 2_000)).split("\n\n")
    assert [first, second] == ["Report", "All is well."]
    assert chapters.startswith("It goes on with: Chapter 2 · Chapter 3 · ")
    assert chapters.endswith("Chapter 9 · …")
    assert last == f"The whole text ({plain(parse(LONG)):,} characters) is in reply.md."


def test_it_is_short_where_the_limit_is_not() -> None:
    assert plain(opening(parse("words " * 5_000), "reply.md", plain, 40_000)) <= BRIEF


@given(st.lists(markdown, min_size=1, max_size=5).map("\n\n# Head\n\n".join), st.integers(120, 400))
def test_it_fits(text: str, limit: int) -> None:
    assert plain(opening(parse(text), "reply.md", plain, limit)) <= limit


def test_headings_that_do_not_fit_are_left_out() -> None:
    text = to_plain(opening(parse(LONG), "reply.md", plain, 150))
    assert "It goes on" not in text
    assert text.endswith("reply.md.")


def test_a_limit_too_small_for_the_last_word_is_told() -> None:
    with pytest.raises(ValueError, match="limit of 40"):
        opening(parse(LONG), "reply.md", plain, 40)


# --------------------------------------------------------------------------------------------------------- long calls

WHOLE = Whole("1a2b3c4d")


def card(text: str, *, asks: bool = True, limit: int = 1_000, whole: Whole = WHOLE) -> Abridged:
    return abridged(parse(f"**May I?**\n\n```\n{text}\n```\n\nI've asked Alice."), whole, plain, limit, asks=asks)


def test_a_call_that_fits_is_shown_as_it_is() -> None:
    made = card("ls")
    assert (to_plain(made.document), made.file) == ("May I?\n\n    ls\n\nI've asked Alice.", "")


def test_of_a_long_call_both_ends_are_shown_with_what_is_between_and_the_hash() -> None:
    made = card("first " + "x" * 9_000 + " last")
    block, *others = to_plain(made.document).split("\n\n")[1:]
    first, cut, last = block.split("\n")
    count = int(cut.strip().split(" ")[1].replace(",", ""))
    assert (first[:10], last[-6:]) == ("    first ", "x last")
    assert len(first.strip()) + count + len(last.strip()) == 9_011
    assert others == ["I've asked Alice.", "sha256 1a2b3c4d · Read the attached file before you approve."]
    assert made.file == "first " + "x" * 9_000 + " last"
    assert 900 < plain(made.document) <= 1_000


@pytest.mark.parametrize(("length", "asks"), [(3_000, True), (9_000, False)])
def test_only_who_is_to_decide_about_a_very_long_call_is_told_to_read_it(length: int, asks: bool) -> None:
    assert to_plain(card("x" * length, asks=asks).document).endswith("\n\nsha256 1a2b3c4d")


def test_a_call_that_leaves_something_out_has_its_file_also_where_it_fits() -> None:
    made = card("-a\n+b", whole=Whole("1a2b3c4d", "x" * 5_000))
    assert (to_plain(made.document).split("\n\n")[-1], made.file) == (READ_FILE, "x" * 5_000)
    assert card("-a\n+b", whole=Whole("1a2b3c4d", "short")).file == "short"


def test_the_longest_block_is_cut_first() -> None:
    text = f"a:\n\n```\n{'a' * 300}\n```\n\nb:\n\n```\n{'b' * 3_000}\n```"
    made = abridged(parse(text), WHOLE, plain, 1_000, asks=True)
    assert to_plain(made.document).count("a" * 300) == 1
    assert to_plain(abridged(parse(text), WHOLE, plain, 300, asks=True).document).count("characters …") == 2


@given(
    st.lists(st.sampled_from(["⟨U+202E⟩", "⟨120 spaces⟩", "👨\u200d👩\u200d👧", "x", "y ", "\n"]), min_size=40),
    st.integers(80, 200),
)
def test_no_code_and_no_character_is_cut_in_two(pieces: list[str], most: int) -> None:
    text = "x" + "".join(pieces) + "x"
    first, _, last = both_ends(text, most).partition(" characters …\n")
    if last:
        first = first.rpartition("\n… ")[0]
        assert text.startswith(first)
        assert text.endswith(last)
        assert first.count("⟨") == first.count("⟩")
        assert last.count("⟨") == last.count("⟩")
        assert not first.endswith((" ", "\n", "\u200d"))
        assert not last.startswith((" ", "\n", "\u200d"))

"""What stands beside a long reply that goes as a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.markup import Document, parse, to_plain
from runtime.markup.attachment import BRIEF, opening
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

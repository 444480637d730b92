"""Globs compared with each other, held against what they really fit."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.domain.agents.globs import holds, literal_length, meet, outside, pieces

LETTERS = "ab[]"
TEXTS = ["".join(letters) for length in range(5) for letters in product(LETTERS, repeat=length)]
GLOBS = st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[", "]", "[]]", "[!]a]"]), max_size=4).map(
    "".join
)


@given(GLOBS, GLOBS)
@example("[*", "[a*")
@example("*?", "?*")
def test_a_glob_that_is_held_fits_nothing_that_its_holder_does_not(outer: str, inner: str) -> None:
    if holds(outer, inner):
        assert [text for text in TEXTS if fnmatchcase(text, inner) and not fnmatchcase(text, outer)] == []


@given(GLOBS, GLOBS)
def test_two_globs_that_fit_a_text_meet(one: str, other: str) -> None:
    if any(fnmatchcase(text, one) and fnmatchcase(text, other) for text in TEXTS):
        assert meet(one, other)
        assert meet(other, one)


@given(GLOBS, st.text(LETTERS, max_size=4))
def test_whatever_a_glob_fits_begins_with_its_letters(glob: str, text: str) -> None:
    if fnmatchcase(text, glob):
        start = pieces(glob)[: literal_length(glob)]
        assert text.startswith("".join("[" if piece == "[[]" else piece for piece in start))


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("*", "slack:work/C1"), ("slack:*", "slack:work/*"), ("a*c", "a*bc"), ("?", "a"), ("*a*", "*ba*"), ("a?", "a[b]")],
)
def test_a_narrower_glob_is_held(outer: str, inner: str) -> None:
    assert holds(outer, inner)


@pytest.mark.parametrize(("outer", "inner"), [("a", "a*"), ("a*", "*"), ("ab", "a?"), ("slack:work/*", "slack:*")])
def test_a_wider_glob_is_not_held(outer: str, inner: str) -> None:
    assert outside([inner], [outer]) == inner


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("a*", "b*"), ("*a", "*b"), ("a?", "a")])
def test_globs_without_a_common_text_do_not_meet(one: str, other: str) -> None:
    assert not meet(one, other)

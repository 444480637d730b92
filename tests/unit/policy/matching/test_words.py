"""Matchers of texts, numbers and words of a list, with values that try to pass them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.policy.matchers import Matcher
from runtime.policy.matching.words import All, Glob, OneOf, Prefix, Range

PREFIX, GLOB = Prefix(("DROP", "DELETE")), Glob(("*@example.org",))
SET, RANGE = OneOf(("eu", 1, True)), Range(1, 100)


@pytest.mark.parametrize(
    ("matcher", "value", "surely", "perhaps"),
    [
        (PREFIX, "DROP TABLE x", True, True),
        (PREFIX, " DROP TABLE x", False, True),
        (PREFIX, "\u200bDROP TABLE x", False, True),
        (PREFIX, "\uff24ROP", False, True),
        (PREFIX, "drop table", False, False),
        (PREFIX, "SELECT", False, False),
        (PREFIX, None, False, False),
        (PREFIX, 5, False, True),
        (PREFIX, ["DROP", "DELETE"], True, True),
        (PREFIX, ["SELECT", "DROP"], False, True),
        (GLOB, "ann@example.org", True, True),
        (GLOB, "ann@example.org\u00ad", False, True),
        (GLOB, "ann@example.org.evil", False, False),
        (GLOB, {"to": "x"}, False, True),
        (GLOB, [], False, False),
        (SET, "eu", True, True),
        (SET, " EU", False, True),
        (SET, "us", False, False),
        (SET, 1, True, True),
        (SET, 1.0, True, True),
        (SET, "1", False, True),
        (SET, True, True, True),
        (SET, "true", False, True),
        (SET, 0, False, False),
        (SET, False, False, False),
        (SET, ["eu", 1], True, True),
        (SET, {"eu": 1}, False, True),
        (SET, None, False, False),
        (OneOf((1,)), True, False, False),
        (RANGE, 1, True, True),
        (RANGE, 100.0, True, True),
        (RANGE, 100.5, False, False),
        (RANGE, 10**400, False, False),
        (RANGE, math.nan, False, True),
        (RANGE, math.inf, False, False),
        (RANGE, "50", False, True),
        (RANGE, "5000", False, False),
        (RANGE, "1e2", False, True),
        (RANGE, "0x10", False, True),
        (RANGE, "many", False, True),
        (RANGE, True, False, True),
        (RANGE, [5, 6], True, True),
        (RANGE, [5, 600], False, True),
        (RANGE, None, False, False),
        (Range(most=10), -5, True, True),
        (Range(least=10), 5, False, False),
        (All((Prefix(("a",)), Glob(("*b",)))), "a b", True, True),
        (All((Prefix(("a",)), Glob(("*b",)))), "a c", False, False),
    ],
)
def test_a_matcher_tells_what_is_surely_so_and_what_perhaps(
    matcher: Matcher, value: object, surely: bool, perhaps: bool
) -> None:
    assert (matcher.surely(value), matcher.perhaps(value)) == (surely, perhaps)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats()
    | st.text(alphabet="euDROP1 @example.org", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from([PREFIX, GLOB, SET, RANGE]), values)
def test_whatever_is_surely_so_is_perhaps_so_too(matcher: Matcher, value: object) -> None:
    assert not matcher.surely(value) or matcher.perhaps(value)


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        (PREFIX, "begins with DROP or DELETE"),
        (GLOB, "*@example.org"),
        (SET, "eu or 1 or true"),
        (RANGE, "from 1 to 100"),
        (Range(most=1_000_000.0), "at most 1000000"),
        (Range(least=0.5), "at least 0.5"),
        (All((Prefix(("a",)), Range(1, 2))), "begins with a, and from 1 to 2"),
    ],
)
def test_a_matcher_reads_as_words(matcher: Matcher, words: str) -> None:
    assert str(matcher) == words

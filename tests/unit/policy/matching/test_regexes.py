"""Regular expressions: they find what `re` finds, and no pattern or text makes them hang."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from runtime.policy.matching.regex_programs import GROUPS_MAX, STEPS_MAX, program_of
from runtime.policy.matching.regexes import Regex, found

ATOMS = [
    "a",
    "b",
    ".",
    r"\d",
    r"\W",
    r"\s",
    "[ab]",
    "[^a]",
    "[a-c1]",
    r"[\d-]",
    "[]a]",
    r"\.",
    r"\x61",
    "^",
    "$",
    r"\b",
    r"\A",
    r"\Z",
]
atoms = st.sampled_from(ATOMS)


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "{,2}", "*?", "+?"])
    return (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map("|".join)
        | st.tuples(inner, counts).map(lambda of: f"(?:{of[0]}){of[1]}")
        | inner.map(lambda one: f"({one})")
    )


patterns = st.tuples(
    st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?im)"]), st.recursive(atoms, _wider, max_leaves=8)
).map("".join)
texts = st.text(alphabet="abcAB1 .-\n_", max_size=12)


@given(patterns, texts)
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    try:
        program = program_of(pattern)
    except ValueError:
        reject()  # its repeats are too many when written out
    assert found(program, text) is bool(re.search(pattern, text)), pattern


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?i)^drop\s+table", "DROP  table x"),
        (r"^(?P<what>push|pull)$", "push"),
        ("{", "a{b"),
        ("a{,}", "a{,}"),
        ("x{a}", "x{a}"),
        ("[[]", "["),
        ("[-a]", "-"),
        (r"[\b]", "\b"),
        (r"\/", "/"),
        ("ä|ß", "groß"),
        ("(?i)É", "é"),
        ("a||b", ""),
    ],
)
def test_the_usual_syntax_is_read(pattern: str, text: str) -> None:
    assert Regex((pattern,)).surely(text)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*)*(.*)*x", "a{0,60}a{0,60}b", "(?i)(a|aa)+$"])
def test_no_pattern_hangs(pattern: str) -> None:
    """`re` would need longer than the world is old for the first of these."""
    assert not Regex((pattern,)).surely("a" * 300 + "!")


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("(", "unterminated subpattern"),
        ("a**", "multiple repeat"),
        ("[z-a]", "bad character range"),
        (r"(a)\1", "references to groups"),
        ("(?=a)", "looking around"),
        ("(?<!a)b", "looking around"),
        ("a*+", "possessive"),
        ("(?>a)", "looking around"),
        ("(?i:a)", "flags inside"),
        ("(?x) a", "flags inside"),
        ("a{400}", f"over {STEPS_MAX} steps"),
        ("((a{40}){40}){40}", f"over {STEPS_MAX} steps"),
        ("a{0,99999999}", f"over {STEPS_MAX} steps"),
        ("(" * (GROUPS_MAX + 1) + "a" + ")" * (GROUPS_MAX + 1), "groups within groups"),
        ("a" * 501, "at most 500 characters"),
        (r"\N{DIGIT ONE}", "names of characters"),
    ],
)
def test_a_pattern_that_is_none_or_may_take_forever_is_refused_by_name(pattern: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        program_of(pattern)


def test_nested_repeats_are_written_at_once() -> None:
    program_of("(" * 40 + "a" + ")?" * 40)


@pytest.mark.parametrize(
    ("value", "surely", "perhaps"),
    [
        ("rm x", True, True),
        ("r\u200bm x", False, True),
        ("\uff52\uff4d x", False, True),
        ("  rm x", False, True),
        ("ls", False, False),
        (None, False, False),
        (3, False, True),
        ({"a": 1}, False, True),
        (["rm a", "rm b"], True, True),
        (["rm a", "ls"], False, True),
        ([], False, False),
        ([["ls"]], False, True),
    ],
)
def test_what_it_cannot_tell_is_no_reason_to_allow_and_one_to_ask(value: object, surely: bool, perhaps: bool) -> None:
    matcher = Regex((r"^rm\b",))
    assert (matcher.surely(value), matcher.perhaps(value)) == (surely, perhaps)

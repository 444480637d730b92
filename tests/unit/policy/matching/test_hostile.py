"""Whatever a model sends as an argument: each matcher answers, and what is surely so is perhaps so too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import Json
from runtime.policy.matchers import Commands, Matcher
from runtime.policy.matching.hosts import Host
from runtime.policy.matching.paths import Inside
from runtime.policy.matching.regexes import Regex
from runtime.policy.matching.values import TEXT_MAX_CHARS
from runtime.policy.matching.words import All, Glob, OneOf, Prefix, Range

MATCHERS: dict[str, Matcher] = {
    "commands": Commands((("ls",),)),
    "prefix": Prefix(("a", "https://")),
    "glob": Glob(("*a*", "[!x]?")),
    "regex": Regex((r"(?i)a|\bx\d+$",)),
    "range": Range(-1, 5),
    "in": OneOf(("a", 1, False)),
    "host": Host(("example.org", "*.example.org", "127.0.0.1")),
    "inside": Inside((".", "a", "/srv")),
    "several": All((Prefix(("a",)), Inside(("a",)))),
}
characters = st.characters() | st.characters(categories=["Cs", "Cf", "Cc", "Zs"]) | st.sampled_from("a/.\\:@[]%#?0x")
texts = st.text(characters, max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | texts.map(lambda one: f"https://{one}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)


@pytest.mark.parametrize("kind", MATCHERS)
@given(value=values)
def test_a_matcher_answers_whatever_it_is_given(kind: str, value: Json) -> None:
    matcher = MATCHERS[kind]
    assert matcher.perhaps(value) or not matcher.surely(value)


@pytest.mark.parametrize("kind", MATCHERS)
def test_an_argument_that_is_not_given_is_neither(kind: str) -> None:
    assert not MATCHERS[kind].surely(None)
    assert not MATCHERS[kind].perhaps(None)


@pytest.mark.parametrize("kind", ["regex", "host", "inside"])
@pytest.mark.parametrize("long", ["a" * (TEXT_MAX_CHARS + 1), ["a"] * (TEXT_MAX_CHARS + 1), ["a" * 2001] * 2])
def test_of_more_text_than_is_read_nobody_can_tell(kind: str, long: Json) -> None:
    assert not MATCHERS[kind].surely(long)
    assert MATCHERS[kind].perhaps(long)

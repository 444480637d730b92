"""The check of docstrings, which `make check` runs on all that is ours, finds what it should, and nothing else."""

from __future__ import annotations

import pytest

from tests.docstrings import clauses

BEGINS = (
    "What it does.",
    "Who asks.",
    "Whom it tells.",
    "Whose turn it is.",
    "Which comes first.",
    "Where it is.",
    "When it ends.",
    "Why it waits.",
    "How many wait.",
    "Whether it holds.",
    "Whatever comes.",
    "Whoever asks.",
    "Whichever is first.",
    "Wherever it is.",
    "Whenever it ends.",
    "However long it is.",
    "That piece.",
    "Those that wait.",
)


@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize("head", ["", "def f():", "async def f():", "class C:"])
def test_a_docstring_that_begins_with_a_clause_is_found(head: str, begin: str) -> None:
    body = f'"""{begin}"""\n'
    text = f"{head}\n    {body}" if head else body
    assert list(clauses(text)) == [(2 if head else 1, begin.split()[0])]


@pytest.mark.parametrize(
    "text", ["True if it holds.", "Place where it is.", "Whatnot.", "The one that waits.", "Howling."]
)
def test_any_other_passes(text: str) -> None:
    assert not list(clauses(f'def f():\n    """{text}"""\n'))

"""The check of docstrings finds what it should, and nothing else; the product passes it."""

from __future__ import annotations

import pytest

from tests.docstrings import clauses, faults


@pytest.mark.parametrize(
    "begin", ["What it does.", "Whether it holds.", "Who asks.", "Where it is.", "Those that wait."]
)
@pytest.mark.parametrize("head", ["", "def f():", "async def f():", "class C:"])
def test_a_docstring_that_begins_with_a_clause_is_found(head: str, begin: str) -> None:
    body = f'"""{begin}"""\n'
    text = f"{head}\n    {body}" if head else body
    assert list(clauses(text)) == [(2 if head else 1, begin.split()[0])]


@pytest.mark.parametrize(
    "text", ["True if it holds.", "Place where it is.", "Whatnot.", "The one that waits.", "Wherever"]
)
def test_any_other_passes(text: str) -> None:
    assert not list(clauses(f'def f():\n    """{text}"""\n'))


def test_the_product_passes() -> None:
    assert not list(faults())

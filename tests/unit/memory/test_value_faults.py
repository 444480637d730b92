"""Faults of values that programs keep: each names the thing, its shape and the fix."""

from __future__ import annotations

import pytest

from runtime.domain.memory.values import fault_of_value


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("", "1", "The key is empty. Name one"),
        ("  ", "1", "The key is empty. Name one"),
        (" deploy/last ", "1", "The key ' deploy/last ' has a blank at its beginning or end. Write 'deploy/last'."),
        ("a\nb", "1", r"The key 'a\nb' has signs that can't be read"),
        ("k" * 201, "1", "at most 200 characters, and this one has 201"),
        ("k", '"' + "x" * 10_000_000 + '"', "at most 64 KiB, and this one has 10,000,002 bytes"),
        ("k", "{", "is written as JSON"),
    ],
)
def test_a_fault_is_told_with_its_fix(key: str, value: str, words: str) -> None:
    assert words in fault_of_value(key, value)


def test_a_usual_value_has_none() -> None:
    assert fault_of_value("deploy/last", '{"at": 1}') == ""

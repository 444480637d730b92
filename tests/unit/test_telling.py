"""What is wrong is told of every step of a test; of what is right how the test itself ended is enough."""

from __future__ import annotations

from typing import Any

import pytest

from tests.telling import worth_telling


@pytest.mark.parametrize(
    ("when", "outcome", "is_told"),
    [
        ("setup", "passed", False),
        ("setup", "failed", True),
        ("setup", "skipped", True),
        ("call", "passed", True),
        ("call", "failed", True),
        ("teardown", "passed", False),
        ("teardown", "failed", True),
    ],
)
def test_a_report_is_told_unless_it_says_nothing(when: str, outcome: str, is_told: bool) -> None:
    told: list[Any] = []
    worth_telling(lambda name, **_: told.append(name))("testreport", data={"when": when, "outcome": outcome})
    assert told == ["testreport"] * is_told


def test_all_else_is_told_but_that_a_test_begins_and_is_over() -> None:
    told: list[str] = []
    send = worth_telling(lambda name, **_: told.append(name))
    for name in ("collectionfinish", "logstart", "logfinish", "runtest_protocol_complete", "warning_recorded"):
        send(name)
    assert told == ["collectionfinish", "runtest_protocol_complete", "warning_recorded"]

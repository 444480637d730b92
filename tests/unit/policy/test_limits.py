"""Limits as people write and read them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.policy.limits import Limit, soon


@pytest.mark.parametrize(
    ("text", "span", "words"),
    [
        ("60/minute", timedelta(minutes=1), "60 calls a minute"),
        ("1/hour", timedelta(hours=1), "1 call an hour"),
        ("5 / second", timedelta(seconds=1), "5 calls a second"),
        ("1500/day", timedelta(days=1), "1,500 calls a day"),
    ],
)
def test_a_limit_is_read(text: str, span: timedelta, words: str) -> None:
    limit = Limit.parse(text)
    assert (limit.span, limit.words, str(limit)) == (span, words, text.replace(" ", ""))


@pytest.mark.parametrize(
    "text",
    ["", "60", "60/week", "0/minute", "-1/minute", "1.5/minute", "100001/day", "٦/minute", "60/minutes", "a/day"],
)
def test_what_is_no_limit_is_told_with_what_is_expected(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"a number of calls .* such as \"60/minute\"; units are second, minute, hour, day"
    ):
        Limit.parse(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.001, "1 second"),
        (20, "20 seconds"),
        (60, "60 seconds"),
        (61, "2 minutes"),
        (3601, "2 hours"),
        (86400, "24 hours"),
    ],
)
def test_a_wait_is_told_in_its_largest_unit_and_never_too_short(seconds: float, words: str) -> None:
    assert soon(timedelta(seconds=seconds)) == words

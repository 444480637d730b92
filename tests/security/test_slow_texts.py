"""Texts that were made to be slow: whoever may say something can't hold up the process for all others by it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Final

import pytest

from adapters.slack.bot_user import BotUser
from adapters.slack.outgoing.dialect import to_slack
from adapters.slack.text import without_me
from runtime.context.digest import identifiers
from runtime.context.prompt.proposals import parted
from runtime.contract import UserTurn
from runtime.markup import parse
from runtime.policy.grant_patterns import Pattern
from runtime.policy.shell_line import read_line
from runtime.text.outside import stripped
from runtime.text.retold import Template

BOT: Final = BotUser("T1", "U0BOT", "B0BOT", "signalbox")
GRANTED: Final = Pattern.from_json(json.dumps({"path": {"like": "*a*a*a*b"}}))
PIECES: Final = ("From ", " to ", ". Written by ", ", made ", ": ", " to ", ".")
TEMPLATE: Final = Template("", PIECES, ("a", "b", "c", "d", "e", "f"))
CASES: Final[Sequence[tuple[str, Callable[[], object]]]] = (
    ("what people named: one word", lambda: identifiers([UserTurn("a" * 100_000)])),
    ("what people named: dashes", lambda: identifiers([UserTurn("-" * 100_000)])),
    ("what people named: letters and dashes", lambda: identifiers([UserTurn("a-" * 50_000)])),
    ("a summary of line ends", lambda: parted("\n" * 100_000 + "x", [])),
    ("a summary that begins its list with stars", lambda: parted("\nKeep" + "*" * 50_000 + "x", [])),
    ("a fence that nothing ends", lambda: stripped("<\n" + "`" * 30_000 + "\n" + "x" * 30_000)),
    ("brackets before a link", lambda: parse("[" * 50_000 + "](x)")),
    ("brackets behind a link", lambda: parse("[a](https://example.org)" + "[" * 50_000)),
    ("a million signs of emphasis", lambda: parse("*a_" * 400_000)),
    ("blanks between marks, for Slack", lambda: to_slack(parse("**a" + " " * 40_000 + "b**"))),
    ("blanks in a message of Slack", lambda: without_me("a" + " " * 40_000 + "x", BOT)),
    ("a command of braces", lambda: read_line("{" * 50_000)),
    (
        "a sentence of ours, said by somebody else",
        lambda: TEMPLATE.values("From " + " to . Written by , made : " * 60 + "x"),
    ),
    ("a path that a grant may fit", lambda: GRANTED.fits({"path": "a" * 5_000})),
)


@pytest.mark.parametrize("read", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_a_text_is_read_in_its_time(read: Callable[[], object]) -> None:
    parse("*")  # its library is loaded
    began = time.process_time()
    read()
    assert time.process_time() - began < 1.5

"""Verdicts of a judge, as its words say them. One that nobody can read is a fail: in doubt nothing is accepted. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class Reading(StrEnum):
    """Way in which a verdict was read."""

    JSON = "json"
    LINE = "line"  # its first line says PASS or FAIL, and nothing else
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict. `critique` is what to do better, `unmet` the criteria that do not hold, `score` how good it is, 0 to 10.

    `stop`: the reason why going on makes no sense; empty where it does.
    """

    passed: bool
    critique: str = ""
    unmet: tuple[str, ...] = ()
    score: float | None = None
    stop: str = ""
    reading: Reading = Reading.LINE


PASS: Final = "PASS"  # noqa: S105 - a word of a verdict
FAIL: Final = "FAIL"
SCORE_MAX: Final = 10.0
UNMET_MAX: Final = 10
CRITIQUE_MAX_CHARS: Final = 2_000
MARKUP: Final = re.compile(r"[*_`~#>]+|^[-+] |^\s*(?:verdict|result)\s*:\s*", re.IGNORECASE)
"""What a model puts around a word."""
BLOCK: Final = re.compile(r"\A\s*```[\w-]*\s*\n(?P<body>.*?)\n?```\s*\Z", re.DOTALL)
EMPTY: Final = "The judge said nothing, which counts as a fail."
UNREADABLE_VERDICT: Final = "Nobody can read the judge's verdict, which counts as a fail. It said: {said}"
CONTRADICTS: Final = "The judge passed it and named what is missing, which counts as a fail."
SAID_CHARS: Final = 200


def verdict_of(text: str) -> Verdict:
    """The verdict in a judge's words: JSON where it is that, else the first line that says something.

    >>> [verdict_of(one).passed for one in ("PASSABLE", "**PASS**", "", '{"verdict": "PASS"}', '{"verdict": "FAIL"}')]
    [False, True, False, True, False]
    """
    body = found["body"] if (found := BLOCK.match(text)) else text.strip()
    if not body.strip():
        return Verdict(False, EMPTY, reading=Reading.UNREADABLE)
    if body.lstrip().startswith(("{", "[")):
        return _of_json(body)
    first, _, rest = body.lstrip().partition("\n")
    word = MARKUP.sub("", MARKUP.sub("", first.strip()).strip()).strip()
    if word not in (PASS, FAIL):
        return unreadable(text)
    return Verdict(word == PASS, rest.strip()[:CRITIQUE_MAX_CHARS])


def unreadable(text: str) -> Verdict:
    """A fail, with what was said instead of a verdict."""
    said = " ".join(text.split())[:SAID_CHARS] or "nothing"
    return Verdict(False, UNREADABLE_VERDICT.format(said=said), reading=Reading.UNREADABLE)


def _of_json(text: str) -> Verdict:
    try:
        told = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return unreadable(text)
    if not isinstance(told, dict) or told.get("verdict") not in (PASS, FAIL):
        return unreadable(text)
    passed, unmet = told["verdict"] == PASS, _texts(told.get("unmet"))
    critique, stop = (_text(told.get(name)) for name in ("critique", "stop"))
    if passed and unmet:
        return Verdict(False, critique or CONTRADICTS, unmet, _score(told.get("score")), stop, Reading.JSON)
    return Verdict(passed, critique, unmet, _score(told.get("score")), stop, Reading.JSON)


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Errors: ValueError for a name that stands there twice: it says one thing and another."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands there twice")
    return dict(pairs)


def _text(value: Any) -> str:
    return value.strip()[:CRITIQUE_MAX_CHARS] if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return tuple(text for one in found[:UNMET_MAX] if (text := _text(one)))


def _score(value: Any) -> float | None:
    """None for what is no number of that range, such as a switch."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= SCORE_MAX:
        return None
    return float(value)

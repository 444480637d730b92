"""Answers of a stub: the file, and which of them fits a message. Pure but for reading it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.executors.files import FileFault, read_tables, unknown_in

ANSWER_KEYS: Final = ("phrase", "pattern", "text", "calls", "replies")
REPLY_KEYS: Final = ("text", "calls")
CALL_KEYS: Final = ("tool", "arguments")
OTHERWISE: Final = "otherwise"
SEARCHED_MAX_CHARS: Final = 10_000
"""Of a message, in which a phrase or a pattern is looked for."""


@dataclass(frozen=True, slots=True)
class StubReply:
    """One reply: words, and calls as (tool, arguments)."""

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class StubAnswer:
    """An answer, given in one reply after another as results of its calls come. Without a condition it stands for its turn."""

    phrase: str
    pattern: re.Pattern[str] | None
    replies: tuple[StubReply, ...]

    @property
    def is_next(self) -> bool:
        """True if it's for whichever message comes next."""
        return not self.phrase and self.pattern is None

    def fits(self, said: str) -> Mapping[str, str] | None:
        """The parts that its pattern names; None where it doesn't fit."""
        said = said[:SEARCHED_MAX_CHARS]
        if self.pattern is not None:
            found = self.pattern.search(said)
            return None if found is None else {name: part or "" for name, part in found.groupdict().items()}
        words = " ".join(said.casefold().split())
        return {} if self.phrase and " ".join(self.phrase.casefold().split()) in words else None


@dataclass(frozen=True, slots=True)
class StubAnswers:
    answers: tuple[StubAnswer, ...]
    otherwise: str = ""

    def chosen(self, said: Sequence[str]) -> tuple[StubAnswer, Mapping[str, str]] | None:
        """The answer for the last of the messages `said`, and parts of it.

        One with a condition goes first; of the others the first is for the first message that none of those fits, and so on.
        """
        if not said:
            return None
        if found := self._fitting(said[-1]):
            return found
        earlier = sum(self._fitting(one) is None for one in said[:-1])
        following = [answer for answer in self.answers if answer.is_next]
        if earlier < len(following):
            return following[earlier], {}
        return (StubAnswer("", None, (StubReply(self.otherwise),)), {}) if self.otherwise else None

    def _fitting(self, said: str) -> tuple[StubAnswer, Mapping[str, str]] | None:
        for answer in self.answers:
            parts = None if answer.is_next else answer.fits(said)
            if parts is not None:
                return answer, parts
        return None


def read_answers(file: Path) -> StubAnswers:
    """Errors: FileFault with all faults, one a line."""
    tables, top = read_tables(file, "answers", (OTHERWISE,))
    otherwise = top.get(OTHERWISE, "")
    faults = [f"answers[{number}]: {why}" for number, table in enumerate(tables, 1) for why in _faults(table)]
    if not isinstance(otherwise, str):
        faults.append(f"{OTHERWISE} is a text")
    if faults:
        raise FileFault(f"{file}: " + "\n".join(faults))
    return StubAnswers(tuple(_answer(table) for table in tables), otherwise)


def _answer(table: Mapping[str, Any]) -> StubAnswer:
    pattern = table.get("pattern")
    replies = table.get("replies") or [{key: table[key] for key in REPLY_KEYS if key in table}]
    return StubAnswer(
        table.get("phrase", ""),
        re.compile(pattern) if pattern else None,
        tuple(_reply(reply) for reply in replies),
    )


def _reply(table: Mapping[str, Any]) -> StubReply:
    calls = tuple((call["tool"], call.get("arguments", {})) for call in table.get("calls", []))
    return StubReply(table.get("text", ""), calls)


def _faults(table: Mapping[str, Any]) -> Iterator[str]:
    yield from unknown_in(table, ANSWER_KEYS)
    if table.get("phrase") and table.get("pattern"):
        yield "has a phrase and a pattern; keep one"
    for name in ("phrase", "pattern"):
        if name in table and not (isinstance(table[name], str) and table[name].strip()):
            yield f"{name} is a text that isn't empty"
    if isinstance(table.get("pattern"), str):
        try:
            re.compile(table["pattern"])
        except re.error as error:
            yield f"pattern is no regular expression ({error})"
    replies = table.get("replies")
    if replies is None:
        yield from _reply_faults(table, "")
    elif "text" in table or "calls" in table:
        yield "has replies beside text or calls; keep one"
    elif not isinstance(replies, list) or not replies or not all(isinstance(reply, dict) for reply in replies):
        yield "replies is a list of tables with text or calls"
    else:
        for number, reply in enumerate(replies, 1):
            yield from (f"replies[{number}]: {why}" for why in unknown_in(reply, REPLY_KEYS))
            yield from _reply_faults(reply, f"replies[{number}]: ")


def _reply_faults(table: Mapping[str, Any], place: str) -> Iterator[str]:
    text, calls = table.get("text", ""), table.get("calls", [])
    if not isinstance(text, str):
        yield f"{place}text is a text"
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        yield f'{place}calls is a list of tables such as {{ tool = "shell", arguments = {{ command = "date" }} }}'
        return
    if not text and not calls:
        yield f"{place}has neither text nor calls"
    for number, call in enumerate(calls, 1):
        where = f"{place}calls[{number}]: "
        yield from (f"{where}{why}" for why in unknown_in(call, CALL_KEYS))
        if not isinstance(call.get("tool"), str) or not call["tool"]:
            yield f"{where}tool is missing; it names a tool"
        if not isinstance(call.get("arguments", {}), dict):
            yield f"{where}arguments is a table"

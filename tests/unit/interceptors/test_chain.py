"""The chain: its order, what is recorded, and what becomes of that where the store is away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from runtime.contract import Json
from runtime.contract.agents.interceptors import Answer, AnswerKind, InterceptorFailed, Occasion, Point
from runtime.errors import StoreError
from runtime.guard.door import OPEN_DOOR
from runtime.interceptors import chain as module
from runtime.interceptors.chain import Interceptors, Placed
from tests.unit.guard.secrets import SECRETS


@dataclass
class Says:
    answer: Answer
    told: list[Occasion] = field(default_factory=list)

    async def ask(self, occasion: Occasion) -> Answer:
        self.told.append(occasion)
        return self.answer


@dataclass
class Book:
    """An audit that is away for so many writes."""

    away: int = 0
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)

    async def note(self, kind: str, by: str, subject: str, detail: str) -> None:
        if self.away:
            self.away -= 1
            raise StoreError("the store is away")
        self.rows.append((kind, by, subject, detail))


async def take(before: Occasion, values: Mapping[str, Json]) -> Occasion:
    return replace(before, values={**before.values, **values})


def occasion(at: Point) -> Occasion:
    return Occasion(
        at, "main", "web:main/a", "r", "r/2", "Ada", "shell", {"arguments": {"command": "ls"}, "result": "x"}
    )


DENIES = Answer(AnswerKind.DENY, "No")


async def test_each_sees_what_those_before_it_replaced() -> None:
    first = Says(Answer(AnswerKind.REPLACE, "Shorter", {"arguments": {"command": "l"}}))
    second, book = Says(Answer(AnswerKind.ASK, "Why l?")), Book()
    placed = [Placed("first", Point.BEFORE_TOOL, first), Placed("second", Point.BEFORE_TOOL, second)]
    outcome = await Interceptors(placed, note=book.note, door=OPEN_DOOR).judged(occasion(Point.BEFORE_TOOL), take)
    assert second.told[0].values["arguments"] == {"command": "l"}
    assert outcome.kind is AnswerKind.ASK
    assert outcome.words == ['Interceptor "second" asks: Why l?']
    assert outcome.changes == ['"first" (Shorter)']
    assert book.rows == [
        ("interceptor replaced", "first", "r/2", "before_tool shell"),
        ("interceptor asked", "second", "r/2", "before_tool shell"),
    ]


async def test_a_denial_that_cannot_be_recorded_is_not_acted_on() -> None:
    chain = Interceptors([Placed("one", Point.BEFORE_TOOL, Says(DENIES))], note=Book(away=1).note, door=OPEN_DOOR)
    with pytest.raises(StoreError):
        await chain.judged(occasion(Point.BEFORE_TOOL), take)


async def test_a_result_is_not_lost_where_its_row_has_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call was made: the run must not end over the audit."""
    monkeypatch.setattr(module, "AUDIT_RETRY_DELAY", timedelta())
    book = Book(away=2)
    chain = Interceptors([Placed("one", Point.AFTER_TOOL, Says(DENIES))], note=book.note, door=OPEN_DOOR)
    outcome = await chain.judged(occasion(Point.AFTER_TOOL), take)
    assert outcome.kind is AnswerKind.DENY
    assert book.rows == [("interceptor denied", "one", "r/2", "after_tool shell")]


@dataclass
class Breaks:
    async def ask(self, occasion: Occasion) -> Answer:
        raise InterceptorFailed("it ended with code 3", f"its last words: token {SECRETS['github'][1]} in /srv/x")


async def test_last_words_of_one_that_fails_are_for_operators_alone() -> None:
    chain = Interceptors([Placed("one", Point.BEFORE_TOOL, Breaks())], note=Book().note, door=OPEN_DOOR)
    outcome = await chain.judged(occasion(Point.BEFORE_TOOL), take)
    assert outcome.words == [
        'the interceptor "one" does not allow it. It failed: it ended with code 3. Operators see more in the log.'
    ]
    assert chain.tally.last_failure.startswith("one: it ended with code 3; its last words: token [redacted")


async def test_a_reason_is_one_short_line_without_secrets() -> None:
    told = f"Line one\n\n{SECRETS['github'][1]} \u202e\ud800 " + "x" * 1000
    chain = Interceptors(
        [Placed("one", Point.BEFORE_TOOL, Says(Answer(AnswerKind.ASK, told)))], note=Book().note, door=OPEN_DOOR
    )
    [words] = (await chain.judged(occasion(Point.BEFORE_TOOL), take)).words
    assert len(words) < 350
    assert "\n" not in words
    assert SECRETS["github"][1] not in words
    assert "\u202e" not in words


async def test_progress_that_nobody_takes_is_left_out_and_never_waited_for() -> None:
    chain = Interceptors([Placed("one", Point.ON_PROGRESS, Says(Answer()))], note=Book().note, door=OPEN_DOOR)
    for _ in range(module.PROGRESS_MAX + 1):
        chain.hear(occasion(Point.ON_PROGRESS))
    assert chain.tally.progress.full()

"""Asks the interceptors of a point in their order, until one denies; each answer that changes something is recorded."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Final

import structlog

from runtime.contract.agents.interceptors import (
    REASON_MAX_CHARS,
    Answer,
    AnswerKind,
    InterceptorFailed,
    Judge,
    Occasion,
    Point,
    fault_of,
)
from runtime.contract.people import Json
from runtime.errors import StoreError
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.text.glyphs import clip, legible

log = structlog.get_logger("interceptors")

Note = Callable[[str, str, str, str], Awaitable[None]]
"""Records a fact in the audit: its kind, by whom, about what, and a detail. Errors: StoreError."""
Take = Callable[[Occasion, Mapping[str, Json]], Awaitable[Occasion | None]]
"""Puts values in the place of others: the occasion from then on, or None where nobody need be asked any more.

Errors: InterceptorFailed for values of no use."""

AUDIT_KINDS: Final[Mapping[AnswerKind, str]] = {
    AnswerKind.ASK: "interceptor asked",
    AnswerKind.DENY: "interceptor denied",
    AnswerKind.REPLACE: "interceptor replaced",
}
AUDIT_RETRY_DELAY: Final = timedelta(seconds=0.5)
PROGRESS_MAX: Final = 100
"""Progress that waits to be told; more of it is left out, since late it says little."""
FAILED_KIND: Final = "interceptor failed"
"""Kind of the audit's row where an answer was wanted and none came."""


@dataclass(frozen=True, slots=True)
class Where:
    """Globs that bound an interceptor. A room's glob fits its threads too; nothing without a tool fits one of `tools`."""

    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()

    def fits(self, occasion: Occasion) -> bool:
        room = occasion.room
        return (
            (not self.tools or (bool(occasion.tool) and _any(self.tools, occasion.tool)))
            and self.fits_agent(occasion.agent)
            and (not self.rooms or _any(self.rooms, room) or _any([f"{glob}/*" for glob in self.rooms], room))
        )

    def fits_agent(self, agent: str) -> bool:
        return not self.agents or _any(self.agents, agent)


def _any(globs: Iterable[str], text: str) -> bool:
    return any(fnmatchcase(text, glob) for glob in globs)


EVERYWHERE: Final = Where()


@dataclass(frozen=True, slots=True)
class Placed:
    """An interceptor at its point. `is_closed`: where it fails, that is as if it denied."""

    name: str
    at: Point
    judge: Judge
    where: Where = EVERYWHERE
    is_closed: bool = True


@dataclass(slots=True)
class Outcome:
    """Answers of all. `words` name whoever denied or asked, with their reasons; `changes` whoever replaced something."""

    occasion: Occasion
    kind: AnswerKind = AnswerKind.ALLOW
    words: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Answers of this process by name and kind, its newest failure, and progress that waits to be told."""

    figures: Counter[tuple[str, str]] = field(default_factory=Counter)
    last_failure: str = ""
    progress: asyncio.Queue[Occasion] = field(default_factory=lambda: asyncio.Queue(PROGRESS_MAX))


class Interceptors:
    """The chain of one process, or what of it is about one agent; they share a `tally`."""

    def __init__(self, placed: Sequence[Placed], *, note: Note, door: Door, tally: Tally | None = None) -> None:
        self.placed = tuple(placed)
        self.door = door
        self.tally = tally or Tally()
        self._note = note
        self._at: dict[Point, list[Placed]] = defaultdict(list)
        for one in placed:
            self._at[one.at].append(one)

    def of_agent(self, agent: str) -> Interceptors | None:
        """The chain for one agent; None where nobody looks at it."""
        own = [one for one in self.placed if one.where.fits_agent(agent)]
        return Interceptors(own, note=self._note, door=self.door, tally=self.tally) if own else None

    def has(self, *points: Point) -> bool:
        return any(point in self._at for point in points)

    def fitting(self, occasion: Occasion) -> list[Placed]:
        return [one for one in self._at.get(occasion.at, ()) if one.where.fits(occasion)]

    async def judged(self, occasion: Occasion, take: Take) -> Outcome:
        """Ask all that fit; the first that denies ends it. Errors: StoreError where an answer can't be recorded."""
        outcome = Outcome(occasion)
        for one in self.fitting(occasion):
            try:
                answer, is_over = await self._answered(one, outcome, take)
            except InterceptorFailed as error:
                await self._failed(one, outcome, error)
                answer, is_over = Answer(), outcome.kind is AnswerKind.DENY
            if answer.kind is not AnswerKind.ALLOW:
                await self._record(AUDIT_KINDS[answer.kind], one, occasion)
            if is_over:
                break
        return outcome

    async def tell(self, occasion: Occasion) -> None:
        """Have those know that change nothing. One that fails is told in the log."""
        for one in self.fitting(occasion):
            try:
                await _answer(one, occasion)
            except InterceptorFailed as error:
                self._count_failure(one, occasion.room, error)

    def hear(self, occasion: Occasion) -> None:
        """Note progress for those who want to know. Never waits: what is too much is left out."""
        if not self.tally.progress.full():
            self.tally.progress.put_nowait(occasion)

    async def run(self) -> None:
        """Tell progress until cancelled."""
        while True:
            await self.tell(await self.tally.progress.get())

    async def _answered(self, one: Placed, outcome: Outcome, take: Take) -> tuple[Answer, bool]:
        """Its answer, put into `outcome`; and whether nobody is asked after it. Errors: InterceptorFailed."""
        answer = await _answer(one, outcome.occasion)
        self.tally.figures[one.name, answer.kind.value] += 1
        reason = self._reason(answer.reason, outcome.occasion.room)
        match answer.kind:
            case AnswerKind.DENY:
                outcome.kind, outcome.words = answer.kind, [denied_words(one.name, reason)]
                return answer, True
            case AnswerKind.ASK:
                outcome.kind = answer.kind
                outcome.words.append(asks_words(one.name, reason))
            case AnswerKind.REPLACE:
                taken = await take(outcome.occasion, answer.values)
                outcome.changes.append(f'"{one.name}"{f" ({reason})" if reason else ""}')
                outcome.occasion = taken or outcome.occasion
                return answer, taken is None
            case AnswerKind.ALLOW:
                pass
        return answer, False

    def _count_failure(self, one: Placed, room: str, error: InterceptorFailed) -> None:
        """All of why is for the log and for operators: a program's own words may say anything."""
        self.tally.figures[one.name, "failed"] += 1
        self.tally.last_failure = f"{one.name}: {self._reason(error.whole, room)}"
        log.warning(
            "an interceptor failed", interceptor=one.name, at=one.at.value, reason=error.whole, denies=one.is_closed
        )

    async def _failed(self, one: Placed, outcome: Outcome, error: InterceptorFailed) -> None:
        """It counts as one that denies, unless the settings leave it open."""
        self._count_failure(one, outcome.occasion.room, error)
        if one.is_closed:
            more = ". Operators see more in the log" if error.aside else ""
            reason = self._reason(f"It failed: {error}{more}", outcome.occasion.room)
            outcome.kind, outcome.words = AnswerKind.DENY, [denied_words(one.name, reason)]
        await self._record(FAILED_KIND, one, outcome.occasion)

    async def _record(self, kind: str, one: Placed, occasion: Occasion) -> None:
        """The name, the point and the tool: never a value, and no reason, which may hold one."""
        about = " ".join(filter(None, [one.at.value, occasion.tool]))
        subject = occasion.step or occasion.run or occasion.room
        while True:
            try:
                return await self._note(kind, one.name, subject, about)
            except StoreError as error:
                if one.at is not Point.AFTER_TOOL:
                    raise
                # The call was made, and its result is known to us alone: it must not be lost for the sake of this row.
                log.debug("an answer of an interceptor is not recorded yet", reason=str(error))
                await asyncio.sleep(AUDIT_RETRY_DELAY.total_seconds())

    def _reason(self, reason: str, room: str) -> str:
        """One line for people, clean and short."""
        line = legible(" ".join(reason.split()))
        return clip(str(self.door.clean(line, Gate.DELIVERY, room)), REASON_MAX_CHARS)


async def _answer(one: Placed, occasion: Occasion) -> Answer:
    """Errors: InterceptorFailed also for an answer that means nothing there."""
    answer = await one.judge.ask(occasion)
    if fault := fault_of(one.at, answer):
        raise InterceptorFailed(fault)
    return answer


def denied_words(name: str, reason: str) -> str:
    """For the model and for people, behind what says that it was denied."""
    return f'the interceptor "{name}" does not allow it.{_because(reason)}'


def asks_words(name: str, reason: str) -> str:
    """For a card. Its beginning tells such a question from others: `runtime.agent.tool_calls`."""
    return f'Interceptor "{name}" asks:{_because(reason) or " It gave no reason."}'


def _because(reason: str) -> str:
    return f" {reason}" if reason.endswith((".", "!", "?", "…")) else f" {reason}." if reason else ""

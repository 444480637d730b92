"""The loop guard: a model that makes the same calls again and again is warned, refused and stopped. Pure.

A verdict depends on the calls of the run so far and their results alone, so that a kill changes none.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from runtime.contract import Call
from runtime.domain.ids import digest
from runtime.domain.transcript import ERROR, OURS
from runtime.text.words import marked

CYCLE_LENGTHS: Final = (2, 3)
CYCLE_ROUNDS: Final = 3
"""A, B, A, B, A, B: the call that completes the last round is refused."""

POLLING_ROOM: Final = 3
"""How much more room a tool has that is meant to be asked again."""

REFUSALS_MAX: Final = 5


class Verdict(StrEnum):
    SILENT = "silent"
    WARNED = "warned"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """From which repetition on a call is warned about or refused, from which one with the same result each time, and after
    how many warned or refused calls a run ends. The call that completes `cycle` rounds of two or three is refused."""

    warn: int = 3
    refuse: int = 5
    outcome: int = 4
    breaker: int = 30
    cycle: int = CYCLE_ROUNDS


UNGUARDED: Final = GuardLimits(*[sys.maxsize // 16] * 5)
"""For what goes round by rules, and comes to an end by them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`words` are for the model: behind the result of a call that is warned about, or in place of one that is refused."""

    verdict: Verdict
    words: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """A call of the run so far, and its result; None while there is none."""

    call: Call
    result: str | None
    polls: bool = False


SILENT: Final = Judgement(Verdict.SILENT)


class LoopGuard:
    """Judges the calls of one run, in their order."""

    def __init__(self, limits: GuardLimits, made: Sequence[Made] = ()) -> None:
        self._limits = limits
        self._keys: list[str] = []
        self._results: dict[str, list[str]] = defaultdict(list)
        self._key_of: dict[str, str] = {}
        self._warned = self._refused = 0
        for one in made:
            verdict = self.judge(one.call, polls=one.polls).verdict
            if one.result is not None and verdict is not Verdict.REFUSED:
                self.ended(one.call, one.result)

    @property
    def is_tripped(self) -> bool:
        """True if the run should end."""
        return self._refused >= REFUSALS_MAX or self._warned + self._refused >= self._limits.breaker

    def judge(self, call: Call, *, polls: bool) -> Judgement:
        """The verdict on the next call of the run."""
        key = key_of(call)
        before = self._keys.count(key)
        self._keys.append(key)
        self._key_of[call.id] = key
        judgement = self._judged(key, before + 1, POLLING_ROOM if polls else 1)
        self._warned += judgement.verdict is Verdict.WARNED
        self._refused += judgement.verdict is Verdict.REFUSED
        return judgement

    def judge_instead(self, call: Call, before: Verdict, *, polls: bool) -> Judgement:
        """The verdict on the call in place of the last one, on which it was `before`: only this one is kept in rows."""
        self._keys.pop()
        self._warned -= before is Verdict.WARNED
        return self.judge(call, polls=polls)

    def ended(self, call: Call, result: str) -> None:
        """A call came to its result, with or without our words behind it."""
        self._results[self._key_of.get(call.id) or key_of(call)].append(digest(result.partition(f"\n\n{OURS}")[0]))

    def _judged(self, key: str, count: int, room: int) -> Judgement:
        limits, results = self._limits, self._results[key]
        same = limits.outcome * room - 1
        if len(results) >= same and len(set(results[-same:])) == 1:
            return Judgement(
                Verdict.REFUSED, f"{ERROR}this call had the same result {same} times, so it was not made again."
            )
        if self._completes_cycle(room):
            return Judgement(Verdict.REFUSED, f"{ERROR}these calls go round in a circle, so this one was not made.")
        if count >= limits.refuse * room:
            return Judgement(
                Verdict.REFUSED, f"{ERROR}this same call was made {count - 1} times, so it was not made again."
            )
        if count >= limits.warn * room:
            return Judgement(
                Verdict.WARNED, f"{OURS}You made this same call {count} times. Use what you have, or try another way."
            )
        return SILENT

    def _completes_cycle(self, room: int) -> bool:
        rounds = self._limits.cycle * room
        for length in CYCLE_LENGTHS:
            last = self._keys[-length * rounds :]
            if len(last) == length * rounds and len(set(last)) > 1 and last == last[:length] * rounds:
                return True
        return False


def key_of(call: Call) -> str:
    """Key of a call: its tool and its arguments, however these are ordered."""
    try:
        arguments = json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return digest(f"{call.tool}\0{arguments}")


def tripped() -> str:
    """Last words of a run that goes round in circles."""
    return marked(
        "I stopped: I was making the same calls again and again without getting anywhere. What I've done so far is above. "
        "Tell me what to try instead."
    )

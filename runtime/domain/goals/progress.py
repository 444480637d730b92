"""Progress of a goal: its turns so far, and what comes next. All of it follows from its contract and from what its calls
gave, so that a kill, a repeat and another node come to the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from runtime.domain.goals.contract import Contract, GoalKind, with_criteria
from runtime.domain.quality.gate import given, made
from runtime.domain.quality.verdicts import SCORE_MAX, Reading, Verdict
from runtime.domain.workflows.progress import Result
from runtime.text.words import marked

BEGIN_GOAL: Final = "goal_begin"
BEGIN_GOAL_ID: Final = "goal-begin"
CRITERIA_ID: Final = "goal-criteria"
AGREE_ID: Final = "goal-agree"
CLOCK_ID: Final = "goal-clock"
STEPS_ID: Final = "goal-steps"
BOOTSTRAP_ID: Final = "goal-save-0"
"""Calls of long work by a plan before its first turn: the steps are thought out, and its files are written."""
AGREED: Final = "Begin"
NOT_AGREED: Final = "Don't begin"
FAILURES_IN_A_ROW: Final = 3
"""Turns that fail one after another and end a goal: something is broken."""


class Piece(StrEnum):
    """Calls of a turn, in their order."""

    SPENT = "spent"
    PLAN = "plan"
    WORK = "work"
    JUDGE = "judge"
    SAVE = "save"


class End(StrEnum):
    MET = "met"
    DECLINED = "declined"  # whoever set it did not agree
    TURNS = "turns"
    DEADLINE = "deadline"
    BUDGET = "budget"
    SENSELESS = "senseless"  # the judge found what it was to stop for
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class GoalTurn:
    """A turn as it stands. `failure`: the work itself came to nothing. `verdict` is None as long as nobody judged. `saved` tells of
    its checkpoint, where it has one."""

    number: int
    plan: str = ""
    candidate: str = ""
    failure: str = ""
    verdict: Verdict | None = None
    saved: str = ""

    @property
    def critique(self) -> str:
        if self.failure:
            return f"The turn failed: {self.failure}"
        if self.verdict is None:
            return ""
        lines = [self.verdict.critique, *(f"- not met: {one}" for one in self.verdict.unmet)]
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class Next:
    """The call that comes next. `piece` is None for those before the first turn, which `id` names; else `number` is that of its turn."""

    id: str
    piece: Piece | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class GoalStanding:
    """A goal as it stands. `next` is None once it is over, and `end` says why. `until` is its deadline, `spent` what it cost
    when that was looked at last; `why` are words of whoever ended it. `bootstrap` tells of the checkpoint before the first turn."""

    contract: Contract
    turns: tuple[GoalTurn, ...] = ()
    next: Next | None = None
    end: End | None = None
    until: datetime | None = None
    spent: int = 0
    why: str = ""
    bootstrap: str = ""

    @property
    def best(self) -> GoalTurn | None:
        """The turn with the best candidate; of equal ones the last."""
        there = [turn for turn in self.turns if turn.candidate.strip() and not turn.failure]
        return max(there, key=lambda turn: (rank(turn, len(self.contract.criteria)), turn.number), default=None)

    @property
    def unread(self) -> int:
        """Verdicts that nobody can read."""
        return sum(bool(turn.verdict and turn.verdict.reading is Reading.UNREADABLE) for turn in self.turns)


NOT_MET: Final = marked("not met")
"""The state of a goal whose run came to its end, and that no judge accepted."""


def word_met(state: str, at: GoalStanding | None) -> str:
    """`state`, a word for how its run stands; another for one that is done and was not met."""
    return NOT_MET if state == "done" and at and at.end not in (None, End.MET) else state


def rank(turn: GoalTurn, criteria: int) -> float:
    """Rank of a candidate: that of its verdict, by its score, else by the criteria that hold; unreadable ones come last."""
    verdict = turn.verdict
    if verdict is None or verdict.reading is Reading.UNREADABLE:
        return -1.0
    if verdict.passed:
        return SCORE_MAX + 1
    if verdict.score is not None:
        return verdict.score
    return SCORE_MAX * max(0.0, 1 - len(verdict.unmet) / criteria) if verdict.unmet and criteria else 0.0


def goal_standing(contract: Contract, results: Mapping[str, Result], now: datetime) -> GoalStanding:
    """The goal as it stands at `now`, after the calls that gave `results`, by their ids."""
    if not contract.criteria and CRITERIA_ID not in results:
        return GoalStanding(contract, next=Next(CRITERIA_ID))
    if CRITERIA_ID in results:
        told = results[CRITERIA_ID]
        contract = with_criteria(contract, made("" if told.failed else told.text))
    if contract.kind is GoalKind.GOAL:
        if AGREE_ID not in results:
            return GoalStanding(contract, next=Next(AGREE_ID))
        answer = results[AGREE_ID]
        if answer.failed or answer.text.strip() != AGREED:
            return GoalStanding(contract, end=End.DECLINED, why=answer.text.strip())
    if CLOCK_ID not in results:
        return GoalStanding(contract, next=Next(CLOCK_ID))
    clock = results[CLOCK_ID]
    if clock.failed:
        return GoalStanding(contract, end=End.FAILING, why=clock.text)
    at = GoalStanding(contract, until=datetime.fromisoformat(clock.text))
    if contract.kind is GoalKind.HARNESS:
        at = _planned(at, results)
    return at if at.next else _turned(at, results, now)


def _planned(at: GoalStanding, results: Mapping[str, Result]) -> GoalStanding:
    """Long work with its steps, and with what is done before its first turn."""
    if not at.contract.steps and STEPS_ID not in results:
        return replace(at, next=Next(STEPS_ID))
    if STEPS_ID in results:
        told = results[STEPS_ID]
        at = replace(at, contract=replace(at.contract, steps=() if told.failed else given(told.text)))
    if BOOTSTRAP_ID not in results:
        return replace(at, next=Next(BOOTSTRAP_ID))
    return replace(at, bootstrap=results[BOOTSTRAP_ID].text)


def _turned(at: GoalStanding, results: Mapping[str, Result], now: datetime) -> GoalStanding:
    """The standing after all turns that there are, with what comes next."""
    for number in range(1, at.contract.turns + 1):
        turn, spent, wanted = _turn(at, number, results)
        if wanted is _first(at.contract) and at.until and now >= at.until:
            return replace(at, end=End.DEADLINE)
        at = replace(at, spent=spent)
        if wanted in (Piece.PLAN, Piece.WORK) and 0 < at.contract.budget_micros <= spent:
            return replace(at, end=End.BUDGET)
        if wanted:
            begun = (turn,) if wanted is not _first(at.contract) else ()
            return replace(at, turns=(*at.turns, *begun), next=Next(call_id(wanted, number), wanted, number))
        at = replace(at, turns=(*at.turns, turn))
        if end := _end_after(at):
            return replace(at, end=end[0], why=end[1])
    return replace(at, end=End.TURNS)


def _first(contract: Contract) -> Piece:
    """The call with which a turn begins."""
    return Piece.SPENT if contract.budget_micros else Piece.PLAN if contract.kind is GoalKind.SPRINTS else Piece.WORK


def _turn(at: GoalStanding, number: int, results: Mapping[str, Result]) -> tuple[GoalTurn, int, Piece | None]:
    """A turn by its results, what was spent before it, and the call that it needs next."""
    turn, spent = GoalTurn(number), at.spent
    for piece in _pieces(at.contract):
        if piece is Piece.JUDGE and turn.failure:
            continue  # there is nothing to judge
        result = results.get(call_id(piece, number))
        if result is None:
            return turn, spent, piece
        match piece:
            case Piece.SPENT:
                spent = int(result.text) if result.text.isdecimal() else spent
            case Piece.PLAN:
                turn = replace(turn, plan="" if result.failed else result.text)
            case Piece.WORK if result.failed:
                turn = replace(turn, failure=result.text)
            case Piece.WORK:
                turn = replace(turn, candidate=result.text)
            case Piece.JUDGE:
                turn = replace(turn, verdict=_judged(at.contract, result))
            case Piece.SAVE:
                turn = replace(turn, saved=result.text)
    return turn, spent, None


def _pieces(contract: Contract) -> Iterator[Piece]:
    if contract.budget_micros:
        yield Piece.SPENT
    if contract.kind is GoalKind.SPRINTS:
        yield Piece.PLAN
    yield Piece.WORK
    yield Piece.JUDGE
    if contract.kind is GoalKind.HARNESS:
        yield Piece.SAVE


def _judged(contract: Contract, result: Result) -> Verdict:
    if result.failed:
        return Verdict(
            False, f"The judge gave no verdict, which counts as a fail: {result.text}", reading=Reading.UNREADABLE
        )
    return contract.gate.verdict(result.text)


def _end_after(at: GoalStanding) -> tuple[End, str] | None:
    last = at.turns[-1]
    if last.verdict and last.verdict.passed:
        return End.MET, ""
    if last.verdict and last.verdict.stop:
        return End.SENSELESS, last.verdict.stop
    newest = at.turns[-FAILURES_IN_A_ROW:]
    if len(newest) == FAILURES_IN_A_ROW and all(turn.failure for turn in newest):
        return End.FAILING, last.failure
    return None


def is_just_judged(at: GoalStanding) -> bool:
    """True where the last thing that came of the goal is a verdict."""
    begun = at.next.number if at.next else 0
    last = at.turns[-1] if at.turns else None
    return last is not None and last.verdict is not None and (at.next is None or begun > last.number)


def call_id(piece: Piece, number: int) -> str:
    """
    >>> call_id(Piece.JUDGE, 2)
    'goal-judge-2'
    """
    return f"goal-{piece}-{number}"


def goal_lines(at: GoalStanding) -> Iterator[str]:
    """A line for each turn, as people read it."""
    for turn in at.turns:
        name = f"{at.contract.turn_word} {turn.number}"
        if turn.failure:
            yield f"✗ {name}: failed. {_short(turn.failure)}"
        elif turn.verdict is None:
            yield f"▶ {name}: {'being judged' if turn.candidate else 'at work'}"
        elif turn.verdict.passed:
            yield f"☑ {name}: accepted"
        else:
            yield f"✗ {name}: not accepted. {_short(_why(turn.verdict))}"
    if at.next and at.next.number > len(at.turns):
        yield f"▶ {at.contract.turn_word} {at.next.number}: at work"


def _why(verdict: Verdict) -> str:
    unmet = f"Not met: {'; '.join(verdict.unmet)}." if verdict.unmet else ""
    critique = verdict.critique.rstrip(". ")
    return " ".join(filter(None, [f"{critique}." if critique else "", unmet]))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 200 else f"{words[:199]}…"


def turns_begun(at: GoalStanding) -> int:
    return max(len(at.turns), at.next.number if at.next else 0)

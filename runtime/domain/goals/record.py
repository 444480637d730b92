"""A goal as the calls of its run tell it: its frozen contract, the calls that come next, and what came of each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from runtime.contract import Call, Json
from runtime.domain.change_digest import has_failed
from runtime.domain.goals.contract import MICROS_OF_A_DOLLAR, Contract, limit_of
from runtime.domain.goals.harness import carried, carried_on, saving
from runtime.domain.goals.progress import (
    AGREE_ID,
    AGREED,
    BEGIN_GOAL,
    BEGIN_GOAL_ID,
    BOOTSTRAP_ID,
    CLOCK_ID,
    CRITERIA_ID,
    NOT_AGREED,
    STEPS_ID,
    GoalStanding,
    Piece,
    goal_standing,
)
from runtime.domain.goals.words import agreement, criteria_words, steps_words, words_for
from runtime.domain.quality.gate import bullets
from runtime.domain.transcript import NO_ANSWER, STILL_AT_WORK
from runtime.domain.workflows.calls import ASK, answer_in
from runtime.domain.workflows.progress import Result
from runtime.domain.workflows.record import DONE_BEFORE, SOURCES, Recorded
from runtime.text.outside import sources_in, unfenced

GOAL_PIECE: Final = "goal_piece"
GOAL_CLOCK: Final = "goal_clock"
GOAL_SPENT: Final = "goal_spent"
GOAL_SAVE: Final = "goal_save"
CONTRACT: Final = "contract"
PIECE_MINUTES_MAX: Final = 24 * 60
THOUGHT_MINUTES: Final = 30
"""Time for a plan, criteria or a verdict."""


def freezing_goal(contract: Contract, before: Mapping[str, Json] | None = None) -> Call:
    """The call by which a run begins with a goal. `before` is what `to_go_on` told of an earlier run."""
    frozen: dict[str, Json] = {CONTRACT: contract.to_json()}
    frozen |= {name: one for name, one in (before or {}).items() if name in (DONE_BEFORE, SOURCES)}
    return Call(BEGIN_GOAL_ID, BEGIN_GOAL, json.dumps(frozen, ensure_ascii=False))


def contract_in(calls: Iterable[Recorded]) -> Contract | None:
    """The contract that a run froze as it began; None where it has not yet."""
    for call, _ in calls:
        if call.tool == BEGIN_GOAL:
            return Contract.from_json(json.loads(call.arguments)[CONTRACT])
    return None


def goal_in(calls: Sequence[Recorded], now: datetime) -> GoalStanding | None:
    """The goal of a run as it stands; None where it has not begun."""
    contract = contract_in(calls)
    return None if contract is None else goal_standing(contract, goal_results(calls), now)


def goal_results(calls: Sequence[Recorded]) -> dict[str, Result]:
    """Results of a goal's calls by their ids, with those of an earlier run that it goes on with."""
    now = {
        call.id: _result_of(call, result)
        for call, result in calls
        if result is not None and not result.startswith(STILL_AT_WORK)
    }
    return _carried_in(calls) | now


def _carried_in(calls: Sequence[Recorded]) -> dict[str, Result]:
    begun = next((call for call, _ in calls if call.tool == BEGIN_GOAL), None)
    return carried(json.loads(begun.arguments).get(DONE_BEFORE)) if begun else {}


def to_go_on(calls: Sequence[Recorded], now: datetime) -> tuple[Contract, dict[str, Json]] | None:
    """The contract of another run, and what it goes on with; None for a run that froze none."""
    first, at = contract_in(calls), goal_in(calls, now)
    if first is None or at is None:
        return None
    before = _carried_in(calls)
    own_turns = first.turns - sum(key.startswith(f"goal-{Piece.SAVE}-") and key != BOOTSTRAP_ID for key in before)
    contract, done = carried_on(at, goal_results(calls), max(1, own_turns))
    sources: list[Json] = list(dict.fromkeys(name for _, told in calls if told for name in sources_in(told)))
    return contract, {DONE_BEFORE: done, SOURCES: sources}


def _result_of(call: Call, text: str) -> Result:
    """The result of a call without the fence, and without the name of who answered."""
    failed = has_failed(text) or text.startswith(NO_ANSWER)
    plain = unfenced(text)
    if call.tool == GOAL_PIECE and not failed:
        plain = unfenced(text.partition("\n")[2])
    if call.tool == ASK and not failed:
        plain = answer_in(plain)
    return Result(plain, failed)


def next_call(at: GoalStanding, now: datetime) -> Call | None:
    """The call that comes next; None where the goal is over."""
    if at.next is None:
        return None
    tool, arguments = _made(at, now)
    return Call(at.next.id, tool, json.dumps(arguments, ensure_ascii=False))


def _made(at: GoalStanding, now: datetime) -> tuple[str, dict[str, Json]]:
    contract, wanted = at.contract, at.next
    if wanted is None or wanted.id == CRITERIA_ID:
        return GOAL_PIECE, _piece(at, criteria_words(contract), now, reads_only=True)
    if wanted.id == STEPS_ID:
        return GOAL_PIECE, _piece(at, steps_words(at), now, reads_only=True)
    if wanted.id == BOOTSTRAP_ID or wanted.piece is Piece.SAVE:
        return GOAL_SAVE, saving(at)
    if wanted.id == AGREE_ID:
        return ASK, {"question": agreement(contract), "options": [AGREED, NOT_AGREED], "to": ""}
    if wanted.id == CLOCK_ID:
        return GOAL_CLOCK, {"until": (now + limit_of(contract.minutes)).isoformat()}
    match wanted.piece:
        case Piece.SPENT | None:
            return GOAL_SPENT, {}
        case Piece.WORK:
            return GOAL_PIECE, _piece(at, words_for(at, Piece.WORK), now) | {"criteria": bullets(contract.criteria)}
        case Piece.PLAN:
            return GOAL_PIECE, _piece(at, words_for(at, Piece.PLAN), now, reads_only=True)
        case Piece.JUDGE:
            judged = _piece(at, words_for(at, Piece.JUDGE), now, reads_only=True)
            return GOAL_PIECE, judged | {"model": contract.judge}


def _piece(at: GoalStanding, words: str, now: datetime, *, reads_only: bool = False) -> dict[str, Json]:
    """Arguments of a call that hands a piece on, within the time and money that are left."""
    left = (at.until - now) / timedelta(minutes=1) if at.until else at.contract.minutes
    most = THOUGHT_MINUTES if reads_only else PIECE_MINUTES_MAX
    made: dict[str, Json] = {"goal": words, "minutes": min(max(1, math.ceil(left)), most), "reads_only": reads_only}
    if at.contract.budget_micros:
        made["budget"] = max(0.0001, (at.contract.budget_micros - at.spent) / MICROS_OF_A_DOLLAR)
    return made

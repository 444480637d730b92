"""Rests: what a conversation begins with when somebody comes back to it after hours. Pure over the rows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final

from runtime.context.condensing import edge
from runtime.context.summaries import facts_of
from runtime.contract import RunId, UserTurn
from runtime.domain.transcript import OURS
from runtime.store.protocol import History, Summary, SummaryKind

WINDOW_TURNS: Final = 10
"""The newest before the rest, which `window` leaves."""

MICROSECOND: Final = timedelta(microseconds=1)


class Restore(StrEnum):
    """Part of a conversation before its rest that is sent. Facts stay in each: what was done, what waits, exact names."""

    TRANSCRIPT = "transcript"  # all of it, as without a rest
    WINDOW = "window"  # the newest turns
    SUMMARY = "summary"  # a summary
    NONE = "none"  # nothing else


SHORTENED_BY_RESTS: Final = (Restore.WINDOW, Restore.NONE)
"""Those that leave turns out; a summary is written elsewhere."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Silence that counts as a rest, and what is sent of the conversation before it."""

    after: timedelta = timedelta(hours=24)
    restore: Restore = Restore.TRANSCRIPT


def rested_at(history: History, rest: Rest, run: RunId) -> int | None:
    """Index of the first turn after the newest rest; None without one. A run's own turns are never behind it."""
    first, least = history.carried, rest.after // MICROSECOND
    own = history.runs.index(run) if run in history.runs else len(history.turns) - 1
    for index in range(own, first - 1, -1):
        before = history.at[index - 1] if index > first else history.before_at
        if before and history.at[index] - before >= least and _begins(history, index):
            return index
    return None


def _begins(history: History, index: int) -> bool:
    """True if a person's words begin a run there. One that waited for an answer goes on after hours: that is no rest."""
    turn = history.turns[index]
    is_theirs = isinstance(turn, UserTurn) and not turn.text.startswith(OURS)
    return is_theirs and history.runs[index] not in history.runs[:index]


def restored(history: History, rest: Rest, run: RunId, reads: Collection[str]) -> History:
    """`history` as `run` is to know it, where its rests shorten it. `reads` are the tools that change nothing."""
    at = rested_at(history, rest, run)
    if at is None:
        return history
    is_none = rest.restore is Restore.NONE
    first = at if is_none else edge(history.turns, max(history.carried, at - WINDOW_TURNS), back=True)
    return _from(history, first, reads) if first > history.carried or is_none else history


def _from(history: History, first: int, reads: Collection[str]) -> History:
    """The turns from index `first` on, what waits of those before, and their facts."""
    facts = facts_of(history, first, reads)
    waits = {number for pair in facts.open for number in pair}
    kept = [at for at, number in enumerate(history.numbers) if at >= first or number in waits]
    upto = max(history.numbers[first - 1] if first else 0, history.summary.upto if history.summary else 0)
    return replace(
        history,
        turns=[history.turns[at] for at in kept],
        numbers=[history.numbers[at] for at in kept],
        runs=[history.runs[at] for at in kept],
        at=[history.at[at] for at in kept],
        before_at=history.at[first - 1] if first > history.carried else history.before_at,
        summary=Summary(history.since, upto, SummaryKind.EXTRACT, "", "", facts.to_json()),
        carried=sum(at < first for at in kept),
    )

"""All that led to an answer: the calls of its run that are over, and what the model thought on its way there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import and_, bindparam, literal_column, or_, select

from runtime.contract import NOTHING_RAN, Address, RanTool, Reasoning, WorkBehind
from runtime.store.schema import deliveries, runs, steps, turns
from runtime.store.sql.driver import Op, Query, Rows, is_word
from runtime.text.glyphs import clip

WORK_TEXT_CHARS: Final = 20_000
"""Of a call's arguments, its result, or a thought: the console has more."""
WORK_CHARS: Final = 2_000_000
"""Of all of them together, a page that unfolds an answer stays quick: of very many each is cut shorter."""
WORK_TEXT_LEAST_CHARS: Final = 200
MICROS_PER_SECOND: Final = 1_000_000
ANSWERS: Final = (is_word(deliveries.c.kind, "final"), deliveries.c.edits.is_(None))
CALLS_OVER: Final = (
    is_word(steps.c.kind, "tool"),
    steps.c.started_at.is_not(None),
    steps.c.ended_at.is_not(None),
)
"""A call that was denied never began."""
THOUGHTS: Final = (is_word(steps.c.kind, "model"), turns.c.reasoning != literal_column("''"))
RAN_IN = (
    select(deliveries.c.id, steps.c.kind, steps.c.tool, steps.c.started_at, steps.c.ended_at)
    .join(steps, steps.c.run_id == deliveries.c.run_id)
    .join(runs, runs.c.id == steps.c.run_id)
    .outerjoin(turns, and_(turns.c.session == runs.c.session, turns.c.number == steps.c.turn))
    .where(
        deliveries.c.address == bindparam("room"),
        *ANSWERS,
        deliveries.c.created_at >= bindparam("since"),
        deliveries.c.created_at < bindparam("before"),
        or_(and_(*CALLS_OVER), and_(*THOUGHTS)),
    )
    .order_by(deliveries.c.created_at, steps.c.number)
)
BEHIND_ENTRY = deliveries.c.id == bindparam("d"), deliveries.c.address == bindparam("room"), *ANSWERS
RAN = (
    select(steps.c.tool, steps.c.started_at, steps.c.ended_at, steps.c.arguments, steps.c.result)
    .join(deliveries, steps.c.run_id == deliveries.c.run_id)
    .where(*BEHIND_ENTRY, *CALLS_OVER)
    .order_by(steps.c.number)
)
THOUGHT = (
    select(turns.c.reasoning)
    .join(runs, runs.c.session == turns.c.session)
    .join(steps, and_(steps.c.run_id == runs.c.id, steps.c.turn == turns.c.number))
    .join(deliveries, deliveries.c.run_id == runs.c.id)
    .where(*BEHIND_ENTRY, *THOUGHTS)
    .order_by(turns.c.number)
)


def ran_in(room: Address, since: int, before: int) -> Query:
    """The query of what worked behind the answers of a time in a room, whose rows are for `work_of`."""
    return RAN_IN, {"room": str(room), "since": since, "before": before}


def work_of(rows: Rows) -> Mapping[str, WorkBehind]:
    """Work behind answers, by delivery, without its texts: an empty thought stands for all."""
    found: dict[str, WorkBehind] = {}
    for delivery, kind, tool, began, ended in rows:
        known = found.get(delivery, NOTHING_RAN)
        if kind == "model":
            found[delivery] = WorkBehind(known.ran, ("",))
        else:
            found[delivery] = WorkBehind((*known.ran, RanTool(tool, _seconds(began, ended))), known.thoughts)
    return found


def work_behind(room: Address, entry_id: str) -> Op[WorkBehind]:
    about = {"room": str(room), "d": entry_id.partition(".")[0]}
    calls = yield RAN, about
    thoughts = yield THOUGHT, about
    told = (Reasoning.from_json(kept).text for (kept,) in thoughts)
    most = chars_each(2 * len(calls) + len(thoughts))
    return WorkBehind(
        tuple(
            RanTool(tool, _seconds(began, ended), *(clip(text, most) for text in texts))
            for tool, began, ended, *texts in calls
        ),
        tuple(clip(text, most) for text in told if text.strip()),
    )


def chars_each(texts: int) -> int:
    """Characters to which each of so many texts is cut."""
    return max(WORK_TEXT_LEAST_CHARS, min(WORK_TEXT_CHARS, WORK_CHARS // max(1, texts)))


def _seconds(began: int, ended: int) -> float:
    """Clocks of two processes may differ by a little."""
    return max(0, ended - began) / MICROS_PER_SECOND

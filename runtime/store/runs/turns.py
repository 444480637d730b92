"""The transcript: a row a message, in the order in which a model reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, bindparam, case, delete, func, literal_column, or_, select, union_all, update

from runtime.contract import (
    AssistantTurn,
    Call,
    FileRef,
    Reasoning,
    RunId,
    SessionKey,
    ToolTurn,
    Turn,
    UserTurn,
    files_of,
)
from runtime.domain.runs import NOT_DONE
from runtime.domain.schedules import NO_MODEL
from runtime.store.common import add
from runtime.store.protocol import Counted, Heard, History, Summary, SummaryKind
from runtime.store.schema import approvals, runs, sessions, signals, steps, summaries, turns, usage
from runtime.store.sql.driver import Op, is_like, is_word, micros
from runtime.text.outside import OPENS

NO_FILES = "[]"
NO_CALLS = "[]"
ADD_TURN = add(turns, without=("left_out",))
SET_TURN = (
    update(turns)
    .where(turns.c.session == bindparam("s"), turns.c.number == bindparam("n"))
    .values(text=bindparam("new_text"))
)
SET_FILES = (
    update(turns)
    .where(turns.c.session == bindparam("s"), turns.c.number == bindparam("n"))
    .values(files=bindparam("new_files"))
)
_SPOKEN = (
    select(turns.c.number)
    .where(turns.c.session == bindparam("s"), is_word(turns.c.role, "assistant"))
    .order_by(turns.c.number.desc())
    .limit(1)
    .scalar_subquery()
)
SENDERS = select(signals.c.files, signals.c.person_id).where(
    signals.c.person_id.is_not(None),
    signals.c.run_id.in_(
        select(turns.c.run_id).where(
            turns.c.session == bindparam("s"),
            turns.c.number > func.coalesce(_SPOKEN, -1),
            is_word(turns.c.role, "user"),
            turns.c.files != literal_column("'[]'"),
        )
    ),
)
ATTACHED = (
    select(turns.c.files)
    .where(turns.c.session == bindparam("s"), turns.c.run_id == bindparam("run"), is_word(turns.c.role, "tool"))
    .order_by(turns.c.number)
)
LABEL_MAX_CHARS: Final = 20_000
"""Characters of a turn in which the lines are looked for that name its sources: a hook's own words come before."""
BLANK_TURN: Mapping[str, object] = {
    "author": "",
    "calls": "[]",
    "call_id": "",
    "tool": "",
    "run_id": "",
    "files": "[]",
    "reasoning": "",
}


def add_turn(session: str, number: int, run: RunId, role: str, text: str, now: datetime, **more: str) -> Op[None]:
    yield (
        ADD_TURN,
        {
            **BLANK_TURN,
            "session": session,
            "number": number,
            "run_id": run,
            "role": role,
            "text": text,
            "at": micros(now),
            **more,
        },
    )


ALL_TURNS = (
    select(
        turns.c.role,
        turns.c.text,
        turns.c.author,
        turns.c.calls,
        turns.c.call_id,
        turns.c.tool,
        turns.c.files,
        turns.c.run_id,
        turns.c.reasoning,
    )
    .where(turns.c.session == bindparam("s"))
    .order_by(turns.c.number)
)
is_read = turns.c.left_out == literal_column("0")
TURNS = ALL_TURNS.where(is_read)
TURNS_SINCE = TURNS.where(turns.c.number >= bindparam("since"))
TURNS_BETWEEN = ALL_TURNS.where(turns.c.number >= bindparam("since"), turns.c.number <= bindparam("last"))
# Where a person last asked to begin anew.
TURNS_NOW = TURNS.where(
    turns.c.number >= select(sessions.c.since_turn).where(sessions.c.key == bindparam("s")).scalar_subquery()
)


def transcript(session: SessionKey, since: int | None = None) -> Op[list[Turn]]:
    """The turns from number `since` on; without it, those of the conversation as it is now."""
    rows = yield (TURNS_NOW, {"s": session}) if since is None else (TURNS_SINCE, {"s": session, "since": since})
    return [turn_of(row) for row in rows]


NEWEST = (
    select(
        summaries.c.since_turn,
        summaries.c.upto_turn,
        summaries.c.kind,
        summaries.c.text,
        summaries.c.request,
        summaries.c.facts,
        summaries.c.model,
        summaries.c.tokens_before,
        summaries.c.tokens_after,
    )
    .where(summaries.c.session == bindparam("s"), summaries.c.since_turn == bindparam("since"))
    .order_by(summaries.c.upto_turn.desc())
    .limit(1)
)
NUMBERED = TURNS_SINCE.add_columns(turns.c.number, turns.c.run_id, turns.c.at)
ONE_CALL = TURNS.add_columns(turns.c.number, turns.c.run_id, turns.c.at).where(
    or_(turns.c.number == bindparam("call"), turns.c.number == bindparam("result"))
)
_LIVE = (runs.c.session == bindparam("s"), is_word(runs.c.state, "running", "parked", "ready"))
_OPEN = (
    select(steps.c.turn, literal_column("1"))
    .join(runs, runs.c.id == steps.c.run_id)
    .where(*_LIVE, is_word(steps.c.state, *NOT_DONE))
)
# Where its model spoke last. A call that we made in its place was not read by it, and a summary tells in `result` what it is.
_spoke = (
    select(func.coalesce(func.max(steps.c.turn), literal_column("-1")))
    .where(
        steps.c.run_id == runs.c.id,
        is_word(steps.c.kind, "model"),
        steps.c.tool != literal_column(f"'{NO_MODEL}'"),
        steps.c.result == literal_column("''"),
    )
    .scalar_subquery()
)
_UNREAD = (
    select(turns.c.number, literal_column("0"))
    .join(runs, runs.c.id == turns.c.run_id)
    .where(*_LIVE, turns.c.session == bindparam("s"), turns.c.number > _spoke, is_read)
)
AHEAD = union_all(_OPEN, _UNREAD)
"""Turns that runs have yet to read: with 1 where a call waits there, with 0 where all behind their model's last words stands."""


def history(session: SessionKey, since: int) -> Op[History]:
    """The newest summary of the conversation that began with turn `since`, and the turns after it.

    What waits is read first: a click may come in between, and what it decided is then told as well as waited for.
    """
    ahead = yield AHEAD, {"s": session}
    found = yield NEWEST, {"s": session, "since": since}
    summary = next((Summary(since, upto, SummaryKind(kind), *rest) for _, upto, kind, *rest in found), None)
    carried = (yield from _carried(session, summary)) if summary else []
    rows = yield NUMBERED, {"s": session, "since": summary.upto if summary else since}
    behind = [row[-1] for row in rows[:1] if summary and row[-3] <= summary.upto]  # the last turn that is condensed
    told = [*carried, *((turn_of(row[:-3]), *row[-3:]) for row in rows[len(behind) :])]
    known, numbers, of_runs, at = ([one[place] for one in told] for place in range(4))
    waits, unread = (frozenset(number for number, is_open in ahead if is_open == one) for one in (1, 0))
    before = behind[0] if behind else 0
    return History(known, since, numbers, summary, waits, of_runs, at, before, len(carried), unread)


def _carried(session: SessionKey, summary: Summary) -> Op[list[tuple[Turn, int, str, int]]]:
    """Calls behind a summary that waited when it was made, with what came of them; their number, run and time."""
    found = []
    for call, result in summary.open:
        rows = yield ONE_CALL, {"s": session, "call": call, "result": result}
        asked, answered = [(turn_of(row[:-3]), *row[-3:]) for row in rows] if len(rows) == 2 else (None, None)
        if asked and answered and isinstance(asked[0], AssistantTurn) and isinstance(answered[0], ToolTurn):
            calls = tuple(one for one in asked[0].calls if one.id == answered[0].call_id)
            found += [(AssistantTurn("", calls), *asked[1:]), answered]
    return found


_ANSWERED = (
    select(turns.c.run_id, turns.c.number)
    .where(
        turns.c.session == bindparam("s"),
        turns.c.number >= bindparam("since"),
        is_word(turns.c.role, "assistant"),
        is_read,
    )
    .order_by(turns.c.number.desc())
    .limit(1)
    .subquery()
)
# What a model was asked for besides, such as a summary, is told in `result`.
LAST_COUNTED = (
    select(usage.c.input_tokens, _ANSWERED.c.number)
    .join(steps, and_(steps.c.run_id == _ANSWERED.c.run_id, steps.c.turn == _ANSWERED.c.number))
    .join(usage, and_(usage.c.run_id == steps.c.run_id, usage.c.step == steps.c.number))
    .where(steps.c.result == "")
    .limit(1)
)


def counted(session: SessionKey, since: int) -> Op[Counted | None]:
    """Tokens of the request that the newest answer was given to; None where no vendor told them."""
    rows = yield LAST_COUNTED, {"s": session, "since": since}
    return Counted(*rows[0]) if rows and rows[0][0] else None


# ------------------------------------------------------------------------------------------- what no model reads any more

# What was merged into another stands for that one.
_before = case(
    (signals.c.replaces != literal_column("''"), signals.c.replaces),
    else_=func.coalesce(signals.c.merged_into, literal_column("''")),
)
REPLACED = select(signals.c.session, signals.c.run_id, _before).where(signals.c.id == bindparam("signal"))
# It was the newest message when it was replaced, so the last words of a person in its run are its own.
_own_words = (
    select(func.max(turns.c.number))
    .where(
        turns.c.session == bindparam("s"),
        turns.c.run_id == bindparam("run"),
        is_word(turns.c.role, "user"),
        turns.c.author != literal_column("''"),  # without an author it was said by us
    )
    .scalar_subquery()
)
LEAVE_OUT = (
    update(turns)
    .where(turns.c.session == bindparam("s"), turns.c.run_id == bindparam("run"), turns.c.number >= _own_words)
    .values(left_out=1)
    .returning(turns.c.number)
)
DROP_ITS_SUMMARIES = delete(summaries).where(
    summaries.c.session == bindparam("s"), summaries.c.upto_turn >= bindparam("first")
)


def leave_out(replaced: str) -> Op[None]:
    """No model reads a replaced message and its answer from now on; a summary of them is made anew. Their turns stay."""
    while replaced:  # one that waited has no turns: what it replaced has
        rows = yield REPLACED, {"signal": replaced}
        if not rows:
            return
        session, run, replaced = rows[0]
        if run is None:
            continue
        gone = yield LEAVE_OUT, {"s": session, "run": run}
        if gone:
            yield DROP_ITS_SUMMARIES, {"s": session, "first": min(number for (number,) in gone)}
        return


OUTSIDE = (
    select(func.substr(turns.c.text, 1, LABEL_MAX_CHARS))
    .where(
        turns.c.session == bindparam("s"),
        turns.c.number >= bindparam("since"),
        turns.c.role != "assistant",
        is_read,
        is_like(turns.c.text, f"%{OPENS}From %"),
    )
    .order_by(turns.c.number)
)
APPROVED = (
    select(approvals.c.arguments)
    .where(
        approvals.c.run_id.in_(
            select(turns.c.run_id).where(
                turns.c.session == bindparam("s"), turns.c.number >= bindparam("since"), is_read
            )
        ),
        is_word(approvals.c.state, "approved"),
    )
    .order_by(approvals.c.id)
)


def heard(session: SessionKey, since: int) -> Op[Heard]:
    """Texts from outside of a conversation, and the calls that people approved in it."""
    at = {"s": session, "since": since}
    outside = yield OUTSIDE, at
    approved = yield APPROVED, at
    return Heard([text for (text,) in outside], [arguments for (arguments,) in approved])


def frozen(session: SessionKey, since: int, last: int) -> Op[list[Turn]]:
    """The turns from number `since` to `last`: what a run knew when it was parked, whatever others said after."""
    rows = yield TURNS_BETWEEN, {"s": session, "since": since, "last": last}
    return [turn_of(row) for row in rows]


def attached(session: SessionKey, run: RunId) -> Op[tuple[FileRef, ...]]:
    """Files that the tools of a run put onto its reply."""
    rows = yield ATTACHED, {"s": session, "run": run}
    return tuple(file for (files,) in rows if files != NO_FILES for file in files_of(files))


def senders(session: SessionKey) -> Op[dict[str, str]]:
    """The senders of files that came since the model spoke last; a sender whom nobody knows is left out."""
    rows = yield SENDERS, {"s": session}
    return {file.path: person for files, person in rows for file in files_of(files)}


def turn_of(row: tuple[Any, ...]) -> Turn:
    role, text, author, calls, call_id, tool, files, run, thought = row
    match role:
        case "user":
            return UserTurn(text, author, files_of(files) if files != NO_FILES else (), overheard=not run)
        case "assistant":
            thinking = Reasoning.from_json(thought) if thought else None
            called = tuple(Call(*call) for call in json.loads(calls)) if calls != NO_CALLS else ()
            return AssistantTurn(text, called, thinking)
        case _:
            return ToolTurn(call_id, tool, text)

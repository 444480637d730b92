"""The transcript: a row a message, in the order in which a model reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, literal_column, select, update

from runtime.contract import AssistantTurn, Call, FileRef, RunId, SessionKey, ToolTurn, Turn, UserTurn, files_of
from runtime.store.common import add
from runtime.store.protocol import History, Summary, SummaryKind
from runtime.store.schema import runs, sessions, signals, steps, summaries, turns
from runtime.store.sql.driver import Op, is_word, micros

NO_FILES = "[]"
ADD_TURN = add(turns)
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
BLANK_TURN: Mapping[str, object] = {"author": "", "calls": "[]", "call_id": "", "tool": "", "run_id": "", "files": "[]"}


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


TURNS = (
    select(
        turns.c.role,
        turns.c.text,
        turns.c.author,
        turns.c.calls,
        turns.c.call_id,
        turns.c.tool,
        turns.c.files,
        turns.c.run_id,
    )
    .where(turns.c.session == bindparam("s"))
    .order_by(turns.c.number)
)
TURNS_SINCE = TURNS.where(turns.c.number >= bindparam("since"))
TURNS_BETWEEN = TURNS_SINCE.where(turns.c.number <= bindparam("last"))
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
NUMBERED = TURNS.add_columns(turns.c.number).where(turns.c.number >= bindparam("since"))
OPEN_FROM = (
    select(func.min(steps.c.turn))
    .join(runs, runs.c.id == steps.c.run_id)
    .where(
        runs.c.session == bindparam("s"),
        is_word(runs.c.state, "running", "parked", "ready"),
        is_word(steps.c.state, "open", "asked", "marked"),
    )
)


def history(session: SessionKey, since: int) -> Op[History]:
    """The newest summary of the conversation that began with turn `since`, and the turns after it."""
    found = yield NEWEST, {"s": session, "since": since}
    summary = next((Summary(since, upto, SummaryKind(kind), *rest) for _, upto, kind, *rest in found), None)
    rows = yield NUMBERED, {"s": session, "since": summary.upto + 1 if summary else since}
    waits = yield OPEN_FROM, {"s": session}
    known, numbers = [turn_of(row[:-1]) for row in rows], [row[-1] for row in rows]
    return History(known, since, numbers, summary, waits[0][0])


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
    role, text, author, calls, call_id, tool, files, run = row
    match role:
        case "user":
            return UserTurn(text, author, files_of(files) if files != NO_FILES else (), overheard=not run)
        case "assistant":
            return AssistantTurn(text, tuple(Call(*call) for call in json.loads(calls)))
        case _:
            return ToolTurn(call_id, tool, text)

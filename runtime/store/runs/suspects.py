"""Runs that processes died under, kept apart so that one deadly run cannot stop all others.

`runs.crashes` counts the deaths since the last recorded step. Nobody can tell which of the runs of a dead process
killed it, so the first two deaths count against all of them. A run with two is a suspect: its lane is kept apart from
the ready ones and is claimed only while no other suspect is at work, so that the next death beside it is its own, and
the innocent clear themselves by getting on. Ordinary work goes on meanwhile. How many deaths are enough is up to
whoever claims.

A lane whose rows cannot be read is kept with them: it too must not stop others, and is tried again each time that
suspects are. So it goes on once they were mended, or once a node claims it whose program can read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, exists, literal_column, select, update

from runtime.contract import NodeId, SessionKey
from runtime.store.common import fact, moved
from runtime.store.schema import runs, sessions
from runtime.store.sql.driver import Op, is_word, micros

SUSPECT_AT: Final = 2
"""Deaths after which a run is a suspect; the partial index on `runs.crashes` repeats the number."""
AT_WORK: Final = (is_word(runs.c.state, "running"), runs.c.crashes >= literal_column(str(SUSPECT_AT)))

RUN_IN = select(runs.c.id, runs.c.crashes).where(runs.c.session == bindparam("s"), is_word(runs.c.state, "running"))
COUNT_DEATH = update(runs).where(runs.c.id == bindparam("run")).values(crashes=runs.c.crashes + 1)
KEEP_APART = (
    update(sessions)
    .where(
        sessions.c.key == bindparam("k"),
        is_word(sessions.c.state, "ready"),
        exists().where(runs.c.session == sessions.c.key, *AT_WORK),
    )
    .values(state="suspect")
)
# Whoever looks takes the same one and waits for its lock, so that two nodes never take two.
SUSPECT_LANE = (
    select(sessions.c.key)
    .where(is_word(sessions.c.state, "suspect"))
    .order_by(sessions.c.ready_at)
    .limit(1)
    .with_for_update()
)
WATCHED = (
    select(runs.c.id)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(*AT_WORK, is_word(sessions.c.state, "running"))
    .limit(1)
)

UNREAD_LANE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"), is_word(sessions.c.state, "ready"))
    .values(state="suspect", ready_at=bindparam("now"))
    .returning(sessions.c.key)
)
LAST_IN_LINE = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"), is_word(sessions.c.state, "suspect"))
    .values(ready_at=bindparam("now"))
)


def died(node: NodeId, lanes: Sequence[str], now: datetime) -> Op[None]:
    """Count the death of `node` against the runs it worked on; its `lanes` are free already."""
    found: list[tuple[str, int]] = []
    for key in lanes:
        found += [(run, crashes) for run, crashes in (yield RUN_IN, {"s": key})]
    for run, crashes in blamed(found):
        yield COUNT_DEATH, {"run": run}
        yield from moved(now, run, node, "process ended", f"{crashes + 1}")
    yield from keep_apart(lanes)


def blamed(found: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Of the runs of a dead process, with their deaths so far, those the death counts against."""
    suspects = [(run, crashes) for run, crashes in found if crashes >= SUSPECT_AT]
    return suspects or list(found)


def keep_apart(lanes: Sequence[str]) -> Op[None]:
    """Of lanes that were made ready, take out those whose run is a suspect."""
    for key in lanes:
        yield KEEP_APART, {"k": key}


def next_suspect() -> Op[str | None]:
    """The lane of the suspect to watch next; None while one is at work."""
    rows = yield SUSPECT_LANE, {}
    if not rows or (yield WATCHED, {}):
        return None
    return str(rows[0][0])


def keep_unread(session: SessionKey, node: NodeId, reason: str, now: datetime) -> Op[bool]:
    """Keep a lane apart whose rows cannot be read, behind all that are. True where it was among the ready ones."""
    if (yield UNREAD_LANE, {"k": session, "now": micros(now)}):
        yield from fact(now, "conversation unreadable", node, session, reason)
        return True
    yield LAST_IN_LINE, {"k": session, "now": micros(now)}
    return False


def set_aside(run: str, node: NodeId, deaths: int, now: datetime) -> Op[None]:
    """Written where people look for it; the run itself is ended by its claimer, in words."""
    yield from moved(now, run, node, "set aside", f"{deaths}")
    yield from fact(now, "set aside", node, run, f"its process died {deaths} times while working on it")

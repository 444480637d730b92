"""Messages said in place of an earlier one: what that one led to ends, and no model reads it any more.

The earlier message and its answer stay in the room. Its turns are left out when the run of the new one begins, since the old
run may add some until then.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, case, literal_column, or_, select, update

from runtime.contract import Address, NewId, Person, RunId, SessionKey, Signal, SignalId
from runtime.domain.runs import RunState
from runtime.store.common import LOCK_LANE
from runtime.store.intake.run_stop import EndedOpen, OpenRun, end_open
from runtime.store.schema import runs, sessions, signals
from runtime.store.sql.driver import Op, is_word, micros

SAID_AGAIN: Final = "Ended: {name} said it anew."


class Branch(NamedTuple):
    """The message that was replaced, and what ended with it."""

    left: SignalId
    ended: EndedOpen = EndedOpen()


class _Old(NamedTuple):
    """The message that is to be replaced."""

    session: str | None
    run: str | None
    twin: str | None


NEWEST_SAID = (
    select(signals.c.id, signals.c.actor, signals.c.session, signals.c.run_id, signals.c.merged_into)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),  # as the index says it
        signals.c.state != literal_column("'forgotten'"),
    )
    .order_by(signals.c.accepted_at.desc(), signals.c.id.desc())
    .limit(1)
)
# With those that were merged into it, which wait for the same answer.
NOT_ANSWERED_ANY_MORE = (
    update(signals)
    .where(
        or_(signals.c.id == bindparam("old"), signals.c.merged_into == bindparam("old")),
        is_word(signals.c.state, "waiting", "merged"),
        signals.c.run_id.is_(None),
    )
    .values(
        state=case((signals.c.state == literal_column("'waiting'"), "stale"), else_=signals.c.state),
        answered_at=bindparam("at"),
    )
    .returning(signals.c.state)
)
ONE_LESS_WAITS = update(sessions).where(sessions.c.key == bindparam("k")).values(waiting=sessions.c.waiting - 1)
OPEN_RUN_OF_IT = select(runs.c.state, runs.c.session, runs.c.address).where(
    runs.c.id == bindparam("run"), is_word(runs.c.state, "running", "parked", "ready")
)


def branch_off(signal: Signal, old: SignalId, who: Person, now: datetime, new_id: NewId) -> Op[Branch | None]:
    """Leave the message `old`, which a new one replaces; None where it is not its sender's newest in the room."""
    found = yield from _newest(signal, old)
    if found is None or found.session is None:  # it was decided at once, as a command is
        return None
    yield LOCK_LANE, {"k": found.session}
    found = yield from _newest(signal, old)  # until then a run may have begun with it, or somebody said it anew
    if found is None or found.session is None:
        return None
    session, run, twin = found
    taken_back = yield NOT_ANSWERED_ANY_MORE, {"old": twin or old, "at": micros(now)}
    if ("stale",) in [tuple(row) for row in taken_back]:
        yield ONE_LESS_WAITS, {"k": session}
    if run is None or not (rows := (yield OPEN_RUN_OF_IT, {"run": run})):
        return Branch(old)
    state, key, address = rows[0]
    work = OpenRun(RunId(run), RunState(state), SessionKey(key), Address.parse(address))
    text = SAID_AGAIN.format(name=who.name)
    return Branch(old, (yield from end_open(work, who.name, text, now, new_id)))


def _newest(signal: Signal, old: SignalId) -> Op[_Old | None]:
    """The message `old`, where it is the newest of its room and its sender says this."""
    rows = yield NEWEST_SAID, {"room": str(signal.address)}
    return _Old(*rows[0][2:]) if rows and (rows[0][0], rows[0][1]) == (old, signal.actor) else None

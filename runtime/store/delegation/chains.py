"""Chains above runs: the agents that had each of them done."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from runtime.contract import RunId, Trigger
from runtime.store.delegation.rows import child_at
from runtime.store.own_signals import chain_of
from runtime.store.schema import runs, signals
from runtime.store.sql.driver import Op

BEGAN_BY = (
    select(runs.c.trigger, signals.c.chain)
    .outerjoin(signals, signals.c.id == runs.c.id)
    .where(runs.c.id == bindparam("run"))
)


def above(run: RunId) -> Op[tuple[str, ...]]:
    """Agents above a run, the first one first: those of the signal that began it, or of the work that it is."""
    rows = yield BEGAN_BY, {"run": run}
    if not rows:
        return ()
    if rows[0][0] == Trigger.CHILD:
        child = yield from child_at(run)
        return child.chain if child else ()
    return chain_of(rows[0][1] or "")

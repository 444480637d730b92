"""Chains above runs: the agents that had each of them done, and before them the triggers from which it all came."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from runtime.contract import RunId, Trigger
from runtime.domain.triggers.chains import agents_in, triggers_in
from runtime.store.delegation.rows import child_at
from runtime.store.own_signals import chain_of
from runtime.store.schema import children, runs, signals
from runtime.store.sql.driver import Op

BEGAN_BY = (
    select(runs.c.trigger, signals.c.chain)
    .outerjoin(signals, signals.c.id == runs.c.id)
    .where(runs.c.id == bindparam("run"))
)


ROOT_OF = select(children.c.root_run).where(children.c.id == bindparam("run"))


def above(run: RunId) -> Op[tuple[str, ...]]:
    """Agents above a run, the first one first: those of the signal that began it, or of the work that it is."""
    return agents_in((yield from whole_chain(run)))


def whole_chain(run: RunId) -> Op[tuple[str, ...]]:
    """The same with the triggers, first, that began this work; of a child the work at its root."""
    rows = yield BEGAN_BY, {"run": run}
    if not rows:
        return ()
    if rows[0][0] != Trigger.CHILD:
        return chain_of(rows[0][1] or "")
    child = yield from child_at(run)
    roots = yield ROOT_OF, {"run": run}
    fired = triggers_in((yield from whole_chain(RunId(roots[0][0])))) if roots and roots[0][0] != run else ()
    return (*fired, *(child.chain if child else ()))

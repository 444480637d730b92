"""The tree of a run's children, shown in its room: one message, edited as they begin and end."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, literal_column, select

from runtime.contract import Address, Content, DeliveryId, Kind, NewId, RunId, Trigger
from runtime.domain.agents.delegation import Line, tree_text
from runtime.domain.runs import FOR_SCHEDULES
from runtime.store.common import ADD_DELIVERY, delivery_row
from runtime.store.delegation.rows import CHILD_COLUMNS, child_of
from runtime.store.protocol import NewDelivery
from runtime.store.schema import children, deliveries, runs, usage
from runtime.store.sql.driver import Op

UNSEEN: Final = (*FOR_SCHEDULES, Trigger.TASK)
"""Runs that nobody in the room waits for: of what they hand on nothing is shown."""
ROOT: Final = select(runs.c.address, runs.c.trigger, runs.c.reply_to).where(runs.c.id == bindparam("root"))
COST = (
    select(func.coalesce(func.sum(usage.c.cost_micros), literal_column("0")))
    .where(usage.c.run_id == children.c.id)
    .scalar_subquery()
)
TREE = (
    select(*CHILD_COLUMNS, children.c.parent_run, COST)
    .where(children.c.root_run == bindparam("root"))
    .order_by(children.c.id)
)
SHOWN = (
    select(deliveries.c.id, deliveries.c.ordinal)
    .where(deliveries.c.origin == bindparam("origin"))
    .order_by(deliveries.c.ordinal)
)


def show_tree(root: RunId, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Show the children below a run as they are now, or edit what is shown; the room whose courier is to look."""
    rows = yield ROOT, {"root": root}
    if not rows or rows[0][1] in UNSEEN:
        return ()
    room, _, reply_to = rows[0]
    lines = [Line(child_of(row), row[-2], int(row[-1])) for row in (yield TREE, {"root": root})]
    origin = f"children:{root}"
    shown = yield SHOWN, {"origin": origin}
    first, ordinal = (DeliveryId(shown[0][0]), shown[-1][1] + 1) if shown else (None, 0)
    address, content = Address.parse(room), Content(tree_text(lines, root))
    new = NewDelivery(
        DeliveryId(new_id()), origin, ordinal, Kind.REPORT, address, content, edits=first, reply_to=reply_to
    )
    yield ADD_DELIVERY, delivery_row(new, now)
    return (address,)

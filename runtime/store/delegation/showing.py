"""The tree of a run's children, shown in its room: one message, edited as they begin, ask and end."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from runtime.chat.views.handed_on import task_cards, tree_text
from runtime.contract import Address, Content, DeliveryId, Kind, NewId, RunId, SessionKey, Trigger
from runtime.domain.runs import FOR_SCHEDULES
from runtime.store.common import ADD_DELIVERY, delivery_row
from runtime.store.delegation.rows import is_of_child
from runtime.store.delegation.trees import ROOT_OF, pieces_of
from runtime.store.protocol import NewDelivery
from runtime.store.schema import deliveries, runs
from runtime.store.sql.driver import Op

UNSEEN: Final = (*FOR_SCHEDULES, Trigger.TASK)
"""Runs that nobody in the room waits for: of what they hand on nothing is shown."""
ROOT: Final = select(runs.c.address, runs.c.trigger, runs.c.reply_to).where(runs.c.id == bindparam("root"))
SHOWN = (
    select(deliveries.c.id, deliveries.c.ordinal)
    .where(deliveries.c.origin == bindparam("origin"))
    .order_by(deliveries.c.ordinal)
)


ADD_TREE = ADD_DELIVERY.on_conflict_do_nothing().returning(deliveries.c.id)


def show_tree(root: RunId, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Show the children below a run as they are now, or edit what is shown; the room whose courier is to look."""
    rows = yield ROOT, {"root": root}
    if not rows or rows[0][1] in UNSEEN:
        return ()
    room, _, reply_to = rows[0]
    address = Address.parse(room)
    while not (yield from _told(root, address, reply_to, now, new_id)):
        pass  # another piece of the tree began, asked or ended in this moment, and what it did is to be seen here too
    return (address,)


def _told(root: RunId, address: Address, reply_to: str, now: datetime, new_id: NewId) -> Op[bool]:
    """Show the tree as it stands, or edit what is shown; False where somebody else did just now."""
    pieces = yield from pieces_of(root)
    origin = f"children:{root}"
    shown = yield SHOWN, {"origin": origin}
    first, ordinal = (DeliveryId(shown[0][0]), shown[-1][1] + 1) if shown else (None, 0)
    content = Content(tree_text(pieces, root), tasks=task_cards(pieces, root))
    new = NewDelivery(
        *(DeliveryId(new_id()), origin, ordinal, Kind.REPORT, address, content), edits=first, reply_to=reply_to
    )
    return bool((yield ADD_TREE, delivery_row(new, now)))


def show_change(run: RunId, session: SessionKey, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Show the tree anew, where a run that is a piece of it asks people or has its answer; else nothing."""
    roots = (yield ROOT_OF, {"run": run}) if is_of_child(session) else []
    return (yield from show_tree(RunId(roots[0][0]), now, new_id)) if roots else ()

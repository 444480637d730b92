"""Work that was handed on, as operators see it and end it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select

from runtime.chat.views.handed_on import Tree
from runtime.contract import Address, ChildState, NewId, RunId
from runtime.store.delegation.stopping import stop_child
from runtime.store.delegation.trees import piece_called, tree_around, trees
from runtime.store.protocol import Below
from runtime.store.schema import children
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op

PARENT_OF = select(children.c.parent_run).where(children.c.id == bindparam("child"))


def end_child(child: RunId, by: str, now: datetime, new_id: NewId) -> Op[Below | None]:
    """End a piece of work, whoever handed it on; None where there is no such one at work."""
    rows = yield PARENT_OF, {"child": child}
    return (yield from stop_child(RunId(rows[0][0]), child, by, now, new_id)) if rows else None


class DelegationStore(Base):
    """Pieces of work below the runs of this database."""

    async def trees(self, state: ChildState | None = None, room: Address | None = None) -> list[Tree]:
        """Newest first: of a room and its threads, or all."""
        return await self._driver.read(lambda: trees(state, room))

    async def tree_around(self, run: RunId) -> Tree | None:
        """The tree to which a run belongs; None where it handed nothing on, and nobody handed it on."""
        return await self._driver.read(lambda: tree_around(run))

    async def piece_called(self, name: str) -> RunId | None:
        """The newest one with that id, or whose id ends so."""
        return await self._driver.read(lambda: piece_called(name))

    async def end_child(self, child: RunId, by: str) -> Below | None:
        """End a piece of work with all below it; None where it is over."""
        now = self.now()
        return await self._driver.write(lambda: end_child(child, by, now, self._new_id))

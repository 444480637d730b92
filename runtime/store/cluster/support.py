"""Facts about the database for those who help: numbers of rows, nodes, and all names that must not leave with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Table, func, select, text

from runtime.errors import StoreError
from runtime.store.schema import accounts, identities, metadata, nodes, pairings, people, rooms
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, moment

ALL_NODES = select(nodes.c.id, nodes.c.label, nodes.c.state, nodes.c.joined_at, nodes.c.expires_at).order_by(
    nodes.c.joined_at.desc()
)
REVISION_NOW = text("SELECT version_num FROM alembic_version")
KNOWN_NAMES = (
    select(people.c.name),
    select(people.c.id),
    select(identities.c.identity),
    select(pairings.c.name),
    select(pairings.c.identity),
    select(accounts.c.identity),
    select(rooms.c.name),
    select(rooms.c.room),
)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A process that is, or was, a node."""

    id: str
    label: str
    state: str
    joined_at: datetime
    expires_at: datetime


class SupportStore(Base):
    """Each look is one short read."""

    async def nodes(self) -> list[NodeRow]:
        return await self._driver.read(_nodes)

    async def row_counts(self) -> dict[str, int | None]:
        """Numbers of rows by table; None where it could not be counted in time."""
        return {table.name: await self._count(table) for table in metadata.sorted_tables}

    async def revision(self) -> str:
        return await self._driver.read(_revision)

    async def names(self) -> list[str]:
        """Names of people, accounts and rooms, by us and on platforms."""
        return await self._driver.read(_names)

    async def _count(self, table: Table) -> int | None:
        def counted() -> Op[int]:
            rows = yield select(func.count()).select_from(table), {}
            return int(rows[0][0])

        try:
            return await self._driver.read(counted)
        except StoreError:
            return None


def _nodes() -> Op[list[NodeRow]]:
    rows = yield ALL_NODES, {}
    return [NodeRow(i, label, state, moment(joined), moment(expires)) for i, label, state, joined, expires in rows]


def _revision() -> Op[str]:
    rows = yield REVISION_NOW, {}
    return str(rows[0][0]) if rows else ""


def _names() -> Op[list[str]]:
    found: list[str] = []
    for statement in KNOWN_NAMES:
        found += [row[0] for row in (yield statement, {})]
    return found

"""People who are forgotten, as the engine of it sees the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from runtime.contract import Address
from runtime.contract.memory.facts import MemoryId
from runtime.domain.approvals import Approval, Rights
from runtime.domain.forgetting.person import MARK_PREFIX, Forgotten, Needles
from runtime.store.common import fact, person
from runtime.store.forgetting import beginning, pages, said
from runtime.store.forgetting.exporting import EXPORTED_TABLES, export_page
from runtime.store.forgetting.removed import removed
from runtime.store.forgetting.treating import treated
from runtime.store.memory.forgetting import remove_ids
from runtime.store.people.people import PERSON_NAMED
from runtime.store.protocol import AuditRow, Unmoved
from runtime.store.protocol.memory.forgetting import (
    Begun,
    ExportPage,
    ForgetPage,
    ForgetRow,
    Forgetting,
    RowChange,
    SaidRow,
)
from runtime.store.protocol.operations import RowKey
from runtime.store.schema import memories
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op
from runtime.store.sql.traces import clear_in_steps


class ForgettingStore(Base):
    """Transactions of forgetting, each bounded."""

    async def begin(self, name: str, *, actor: str) -> Begun | Unmoved:
        now = self.now()
        return await self._driver.write(lambda: beginning.begin(name, actor, now, self._new_id))

    async def needles(self, name: str) -> Needles | None:
        """All by which somebody is known, or was until they were removed; None for nobody."""

        def op() -> Op[Needles | None]:
            found = yield PERSON_NAMED, {"n": name}
            if found:
                return (yield from beginning.needles_of(person(found[0][:3])))
            who = yield from removed(name)
            return (yield from beginning.needles_of_removed(who)) if who else None

        return await self._driver.read(op)

    async def open_ones(self) -> list[Forgetting]:
        return await self._driver.read(lambda: beginning.listed(beginning.OPEN_ONES, {}))

    async def newest(self, limit: int) -> list[Forgetting]:
        return await self._driver.read(lambda: beginning.listed(beginning.ALL_ONES, {"n": limit}))

    async def one(self, which: str) -> Forgetting | None:
        found = await self._driver.read(lambda: beginning.listed(beginning.FORGETTING_BY_ID, {"which": which}))
        return found[0] if found else None

    async def move_on(self, which: str, stage: str, reached: str = "", changed: int = 0) -> None:
        await self._driver.write(lambda: beginning.move_on(which, stage, reached, changed))

    async def end(self, one: Forgetting) -> None:
        now = self.now()
        await self._driver.write(lambda: beginning.end(one, now))

    async def end_parked_runs(self, one: Forgetting) -> int:
        now = self.now()
        return await self._driver.write(lambda: beginning.end_parked_runs(one, now, self._new_id))

    async def unanswerable(self, rights: Rights) -> list[Approval]:
        """Open questions that nobody may decide any more."""
        now = self.now()
        return await self._driver.read(lambda: beginning.unanswerable(rights, now))

    async def is_at_work_since(self, since: datetime) -> bool:
        return await self._driver.read(lambda: beginning.is_at_work_since(since))

    async def is_theirs_at_work(self, one: Forgetting) -> bool:
        return await self._driver.read(lambda: beginning.is_theirs_at_work(one))

    async def rooms_below(self, rooms: Sequence[str]) -> list[Address]:
        return await self._driver.read(lambda: beginning.rooms_below(rooms))

    # ------------------------------------------------------------------------------------------------------- tables

    def tables(self) -> Sequence[str]:
        return pages.walked_tables()

    async def page(self, table: str, after: RowKey | None, *, limit: int) -> ForgetPage:
        return await self._driver.read(lambda: pages.page(table, after, limit))

    def treated(self, table: str, row: ForgetRow, who: Forgotten) -> RowChange | None:
        return treated(table, row, who)

    async def apply(self, table: str, changes: Sequence[RowChange], *, actor: str) -> int:
        """Change and remove rows. Memories go with all that belongs to them."""
        now = self.now()

        def op() -> Op[int]:
            if table != memories.name:
                return (yield from pages.apply(table, changes))
            ids = yield from pages.memory_ids([one.row.key for one in changes])
            return len((yield from remove_ids([MemoryId(one) for one in ids], actor, now)))

        return await self._driver.write(op)

    def exported_tables(self) -> Sequence[str]:
        return EXPORTED_TABLES

    async def export_page(
        self, table: str, after: RowKey | None, needles: Needles, *, limit: int, own: bool = False
    ) -> ExportPage:
        # A name is anybody's who takes it, on a platform or after somebody was removed: by it nobody reads others' words.
        who = Forgotten(replace(needles, names=(), others=()) if own else needles, MARK_PREFIX)
        return await self._driver.read(lambda: export_page(table, after, who, limit, own=own))

    async def note_export(self, person: str, *, actor: str) -> None:
        now = self.now()
        await self._driver.write(lambda: fact(now, "person exported", actor, person))

    async def clear_traces(self) -> None:
        await clear_in_steps(self._driver, memories.name)

    async def purge(self) -> None:
        await self._driver.purge()

    # ------------------------------------------------------------------------------------------ messages, and the audit

    async def said_after(self, after: str, *, limit: int) -> list[SaidRow]:
        return await self._driver.read(lambda: said.said_after(after, limit))

    async def forget_said(
        self, theirs: Mapping[str, Mapping[str, str]], others: Sequence[tuple[SaidRow, SaidRow]]
    ) -> int:
        return await self._driver.write(lambda: said.forget_said(theirs, others))

    async def entries_after(self, after: int, *, limit: int) -> list[AuditRow]:
        return await self._driver.read(lambda: said.entries_after(after, limit))

    async def put_entries(self, rows: Sequence[AuditRow], told: str, mark: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: said.put_entries(rows, told, mark, now))

"""People who are forgotten: how far it is, and rows as a walk reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.contract import Address, Person
from runtime.domain.approvals import Approval, Rights
from runtime.domain.forgetting.person import Forgotten, Needles
from runtime.store.protocol.operations import AuditRow, RowKey
from runtime.store.protocol.people import Unmoved


@dataclass(frozen=True, slots=True)
class Forgetting:
    """One person who is being forgotten, or was: then `needles` is empty. `reached` is where `stage` goes on."""

    id: str
    digest: str
    mark: str
    needles: Needles
    stage: str
    reached: str
    changed: int
    wanted_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ForgetRow:
    """A row with the texts that may have something of a person. `requester` and `rooms` are those of the run behind it;
    `is_at_work`: something goes on with it now."""

    key: RowKey
    requester: str
    rooms: Sequence[str]
    is_at_work: bool
    texts: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ForgetPage:
    """Rows of a table, and the key behind which the next page begins; None behind the last."""

    rows: Sequence[ForgetRow]
    after: RowKey | None


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row as it was read, and what it is to have; None for one that goes."""

    row: ForgetRow
    new: Mapping[str, str | None] | None


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Rows of a table that are somebody's or name them, and the key behind which the next page begins; None at the end."""

    rows: Sequence[Mapping[str, object]]
    after: RowKey | None


@dataclass(frozen=True, slots=True)
class SaidRow:
    """A message, and whose it is. `paths` are files that came with it."""

    id: str
    address: str
    session: str
    actor: str
    person: str
    text: str
    name: str
    files: str
    kind: str


@dataclass(frozen=True, slots=True)
class Begun:
    """A person who is no longer known, and how many of their schedules ended."""

    forgetting: Forgetting
    person: Person
    schedules: int


class Forgettings(Protocol):
    """Transactions of forgetting, each bounded."""

    async def begin(self, name: str, *, actor: str) -> Begun | Unmoved:
        """Let nobody know them any more, and note that all that is kept is to be walked through."""

    async def needles(self, name: str) -> Needles | None:
        """All by which somebody is known; None for nobody."""

    async def open_ones(self) -> list[Forgetting]: ...

    async def newest(self, limit: int) -> list[Forgetting]: ...

    async def one(self, which: str) -> Forgetting | None: ...

    async def move_on(self, which: str, stage: str, reached: str = "", changed: int = 0) -> None: ...

    async def end(self, one: Forgetting) -> None: ...

    async def end_parked_runs(self, one: Forgetting) -> int:
        """End some of their runs that wait; how many."""

    async def unanswerable(self, rights: Rights) -> list[Approval]:
        """Open questions that nobody may decide any more."""

    async def is_at_work_since(self, since: datetime) -> bool: ...

    async def is_theirs_at_work(self, one: Forgetting) -> bool: ...

    async def rooms_below(self, rooms: Sequence[str]) -> list[Address]: ...

    def tables(self) -> Sequence[str]: ...

    async def page(self, table: str, after: RowKey | None, *, limit: int) -> ForgetPage: ...

    def treated(self, table: str, row: ForgetRow, who: Forgotten) -> RowChange | None: ...

    async def apply(self, table: str, changes: Sequence[RowChange], *, actor: str) -> int: ...

    async def export_page(self, table: str, after: RowKey | None, needles: Needles, *, limit: int) -> ExportPage: ...

    async def note_export(self, person: str, *, actor: str) -> None: ...

    async def clear_traces(self) -> None:
        """Have indexes written anew without words of rows that are gone."""

    async def purge(self) -> None:
        """Overwrite what removed rows left in files, as far as the engine can."""

    async def said_after(self, after: str, *, limit: int) -> list[SaidRow]: ...

    async def forget_said(
        self, theirs: Mapping[str, Mapping[str, str]], others: Sequence[tuple[SaidRow, SaidRow]]
    ) -> int: ...

    async def entries_after(self, after: int, *, limit: int) -> list[AuditRow]: ...

    async def put_entries(self, rows: Sequence[AuditRow], told: str, mark: str) -> bool: ...

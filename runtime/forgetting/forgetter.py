"""Forgets a person: a slice at a time, each a short transaction, so that it goes on wherever it was cut.

The way is a list of stages. Work of theirs ends first; then every table is walked through twice, since a run that was at
work may still write what it had read; then their messages are emptied, by which lines of others were known to quote them,
and at last the audit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from runtime.audit.keys import AuditKey
from runtime.audit.redactions import redaction
from runtime.contract import Address, Now
from runtime.domain.audit_chain import REDACTED, reads
from runtime.domain.forgetting.person import Forgotten
from runtime.domain.forgetting.words import OwnWords
from runtime.errors import StoreError
from runtime.store.protocol import AuditRow, Duty
from runtime.store.protocol.memory.forgetting import ForgetRow, Forgetting, Forgettings, RowChange, SaidRow

log = structlog.get_logger("forgetting")

FORGETTING_ROLE: Final = "forgetting"
FORGETTING_INTERVAL: Final = timedelta(seconds=30)
PAGE_ROWS: Final = 200
GATHERED_ROWS: Final = 2000
OTHERS_WORK_MAX: Final = {"waiting": timedelta(minutes=2), "waiting again": timedelta(hours=1)}
"""Longest waits for work of others that may have read what is to go; runs end within their own bounds. Only what is still
at work behind the second one could write it once more. Work of the person is waited for in any case."""
WORK_LOOK_SECONDS: Final = 0.5
SLICE_PAUSE: Final = timedelta(seconds=0.01)
STAGES: Final = (
    "ending",
    "waiting",
    "files",
    "tables",
    "waiting again",
    "tables again",
    "audit",
    "messages",
    "traces",
)
"""In their order. What waits does so for work of others, that may have read what is to go."""
DONE: Final = "done"


class TheirFiles(Protocol):
    """Files of conversations."""

    def drop_rooms(self, rooms: Sequence[Address]) -> None: ...
    def drop_ledger(self, ids: Collection[str]) -> None: ...
    def drop_file(self, room: Address, path: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Slice:
    """End of a slice: the stage that is next, where it goes on in it, and how many rows were changed."""

    stage: str
    reached: str = ""
    changed: int = 0
    rest: bool = False


class Forgetter:
    """Goes on with whoever is being forgotten. `key` signs what is taken out of the audit; `alone`: no process works here."""

    def __init__(
        self,
        *,
        store: Forgettings,
        files: TheirFiles,
        key: AuditKey,
        now: Now,
        take: Callable[[str], Awaitable[Duty | None]] | None = None,
        page_rows: int = PAGE_ROWS,
        alone: bool = False,
    ) -> None:
        self._store = store
        self._files = files
        self._key = key
        self._now = now
        self._take = take
        self._page_rows = page_rows
        self._alone = alone
        self.tell: Callable[[str, str], Awaitable[None]] = _nobody
        """Posts into the operators' room, once for each key."""
        self._known: dict[str, Forgotten] = {}
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Go on with what was begun, until cancelled: one node does it."""
        while True:
            try:
                if self._take and await self._store.open_ones() and await self._take(FORGETTING_ROLE):
                    await self.rest()
            except (StoreError, OSError) as error:
                log.warning("somebody could not be forgotten yet", reason=str(error))
            await asyncio.sleep(FORGETTING_INTERVAL.total_seconds())

    async def rest(self) -> None:
        """All that is left of whoever is being forgotten. Errors: StoreError, OSError."""
        for one in await self._store.open_ones():
            while one.ended_at is None:
                one = await self.step(one.id)
                await asyncio.sleep(SLICE_PAUSE.total_seconds())

    async def step(self, which: str) -> Forgetting:
        """One slice; how far it is afterwards. Errors: StoreError, OSError; KeyError for one that nobody began."""
        async with self._lock:  # a command may drive it beside the duty
            one = await self._store.one(which)
            if one is None:
                raise KeyError(which)
            if one.ended_at is None:
                done = await self._slice(one)
                if done.stage == DONE:
                    await self._store.end(one)
                    self._known.pop(one.id, None)
                    await self._store.purge()
                else:
                    await self._store.move_on(one.id, done.stage, done.reached, done.changed)
            found = await self._store.one(which)
            return found or one

    async def _slice(self, one: Forgetting) -> Slice:
        match one.stage:
            case "ending":
                ended = await self._store.end_parked_runs(one)
                return Slice(one.stage, "", ended) if ended else self._next(one)
            case "waiting" | "waiting again":
                return await self._waited(one)
            case "files":
                rooms = await self._store.rooms_below([*one.needles.rooms])
                await asyncio.to_thread(self._files.drop_rooms, rooms)
                await asyncio.to_thread(self._files.drop_ledger, one.needles.ids)
                return self._next(one)
            case "tables" | "tables again":
                return await self._tables(one)
            case "messages":
                return await self._messages(one)
            case "audit":
                return await self._audit(one)
            case _:
                await self._store.clear_traces()
                return Slice(DONE)

    def _next(self, one: Forgetting, changed: int = 0) -> Slice:
        at = STAGES.index(one.stage) + 1
        return Slice(STAGES[at] if at < len(STAGES) else DONE, "", changed)

    async def _waited(self, one: Forgetting) -> Slice:
        since = datetime.fromisoformat(one.reached) if one.reached else self._now()
        # Theirs may have been at work before, and wait for somebody by now.
        ended = await self._store.end_parked_runs(one)
        if not ended and (self._alone or not await self._is_at_work(one, since)):
            return self._next(one)
        if not ended:
            await asyncio.sleep(WORK_LOOK_SECONDS)
        return Slice(one.stage, since.isoformat(), ended)

    async def _is_at_work(self, one: Forgetting, since: datetime) -> bool:
        if await self._store.is_theirs_at_work(one):
            return True
        is_long = self._now() - since >= OTHERS_WORK_MAX[one.stage]
        return not is_long and await self._store.is_at_work_since(since)

    # ---------------------------------------------------------------------------------------------------- what they said

    async def _who(self, one: Forgetting) -> Forgotten:
        """Knows their words from their messages, which are there until all else is done. Made anew by each process."""
        if one.id not in self._known:
            self._known[one.id] = await gathered(self._store, one)
        return self._known[one.id]

    async def _tables(self, one: Forgetting) -> Slice:
        who, tables = await self._who(one), self._store.tables()
        at, after = json.loads(one.reached) if one.reached else (0, None)
        if at >= len(tables):
            return self._next(one)
        table = tables[at]
        page = await self._store.page(table, None if after is None else tuple(after), limit=self._page_rows)
        changes = await asyncio.to_thread(self._treated, table, page.rows, who)
        changed = await self._store.apply(table, changes, actor=who.mark) if changes else 0
        if changed < len(changes):
            return Slice(one.stage, one.reached, changed)  # somebody changed a row meanwhile: this page once more
        goes_on = (at + 1, None) if len(page.rows) < self._page_rows else (at, page.after)
        return Slice(one.stage, json.dumps(goes_on), changed)

    def _treated(self, table: str, rows: Sequence[ForgetRow], who: Forgotten) -> list[RowChange]:
        return [change for row in rows if (change := self._store.treated(table, row, who))]

    async def _messages(self, one: Forgetting) -> Slice:
        who = await self._who(one)
        rows = await self._store.said_after(one.reached, limit=self._page_rows)
        theirs, others = {}, []
        for row in rows:
            if _is_theirs(row, who):
                await asyncio.to_thread(self._drop_files, row)
                theirs[row.id] = _stands_for(row, who)
            elif (new := _without(row, who)) != row:
                others.append((row, new))
        changed = await self._store.forget_said(theirs, others) if theirs or others else 0
        if changed < len(theirs) + len(others):
            return Slice(one.stage, one.reached, changed)
        return Slice(one.stage, rows[-1].id, changed) if rows else self._next(one, changed)

    def _drop_files(self, row: SaidRow) -> None:
        for ref in json.loads(row.files or "[]"):
            if row.address and ref[1]:
                self._files.drop_file(Address.parse(row.address), ref[1])

    # --------------------------------------------------------------------------------------------------------- the audit

    async def _audit(self, one: Forgetting) -> Slice:
        who, after = await self._who(one), int(one.reached or 0)
        rows = await self._store.entries_after(after, limit=self._page_rows)
        if not rows:
            return self._next(one)
        changed = [new for row in rows if (new := _fact_without(row, who)) != row]
        sealed = [row for row in changed if row.number is not None]
        open_ones = [row for row in changed if row.number is None]
        told = redaction(self._key, [(row.number or 0, reads(row)) for row in sealed]) if sealed else ""
        is_put = not sealed or await self._store.put_entries(sealed, told, who.mark)
        if open_ones:
            is_put = await self._store.put_entries(open_ones, "", who.mark) and is_put
        # One was sealed meanwhile: this page once more.
        return Slice(one.stage, rows[-1].id if is_put else str(after), len(changed))


async def _nobody(_key: str, _text: str) -> None:
    """Tells where no process runs: the command says it."""


def _is_theirs(row: SaidRow, who: Forgotten) -> bool:
    return any(map(who.is_theirs, (row.person, row.actor, row.address, row.session)))


def _stands_for(row: SaidRow, who: Forgotten) -> Mapping[str, str]:
    return {
        "new_actor": who.without_ids(row.actor),
        "new_address": who.without_ids(row.address),
        "new_key": f"{who.mark}:{row.id}",
    }


def _without(row: SaidRow, who: Forgotten) -> SaidRow:
    files = who.without_in_json(row.files)
    return replace(row, text=who.without(row.text), name=who.without(row.name), files=files)


def _fact_without(row: AuditRow, who: Forgotten) -> AuditRow:
    actor, subject, detail = map(who.without, (row.actor, row.subject, row.detail))
    if row.kind == REDACTED or (actor, subject, detail) == (row.actor, row.subject, row.detail):
        return row
    return replace(row, actor=actor, subject=subject, detail=detail, salt="")


async def gathered(store: Forgettings, one: Forgetting) -> Forgotten:
    """Words that came from somebody alone, and conversations that they took part in."""
    who = Forgotten(one.needles, one.mark)
    words, sessions = OwnWords(), set()
    for reason in one.needles.reasons:
        words.add(reason)
    async for row in _every_message(store):
        if _is_theirs(row, who):
            words.add(row.text)
            sessions.add(row.session)
    # What two people wrote who are forgotten at once is nobody else's.
    gone = [who, *(Forgotten(other.needles, other.mark) for other in await store.open_ones() if other.id != one.id)]
    async for row in _every_message(store):
        if not any(_is_theirs(row, somebody) for somebody in gone):
            words.leave(row.text)
    if words.is_cut:
        log.warning("somebody wrote more than is compared with what others have", rows="the newest are not compared")
    return replace(who, words=words, sessions=frozenset(filter(None, sessions)))


async def _every_message(store: Forgettings) -> AsyncIterator[SaidRow]:
    after = ""
    while rows := await store.said_after(after, limit=GATHERED_ROWS):
        for row in rows:
            yield row
        after = rows[-1].id

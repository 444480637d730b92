"""Seals the audit: numbers and links new rows within a second, and signs the head outside the database.

Who seals also removes what is too old, since only it holds the signed head.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.audit.anchor import HeadFile, HeadMissing
from runtime.audit.keys import AuditFileFault
from runtime.audit.published import SignedEnds
from runtime.audit.trimmer import Trimmer
from runtime.audit.witness import Witness
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import UNSEALED
from runtime.domain.audit_chain import FIRST_HASH
from runtime.errors import StoreError
from runtime.store.protocol import Audit, Duty, Head

log = structlog.get_logger("sealer")

SEALING_INTERVAL: Final = timedelta(seconds=5)
"""How often to look without a ring, since old rows are removed a slice at a time."""
SEALED_TOGETHER: Final = 500
"""Rows of one transaction."""
DAMAGED: Final = timedelta(minutes=1)
SEALER_ROLE: Final = "sealer"
NOTHING_SEALED: Final = Head(0, FIRST_HASH)
"""Sealed yet."""


class Sealer:
    """One node seals; the duty is a role."""

    def __init__(
        self,
        *,
        book: Audit,
        file: HeadFile,
        take: Callable[[str], Awaitable[Duty | None]],
        notifier: LocalNotifier,
        trimmer: Trimmer | None = None,
        every: timedelta = SEALING_INTERVAL,
        ends: SignedEnds | None = None,
    ) -> None:
        self._book = book
        self._file = file
        self._take = take
        self._trimmer = trimmer
        self._listener = notifier.listen(UNSEALED)
        self._every = every
        self._witness = Witness(book, file, ends) if ends else None
        self._trouble = ""
        self._sealed = NOTHING_SEALED  # by this process, whatever the file says

    async def run(self) -> None:
        """Seal until cancelled."""
        while True:
            try:
                if duty := await self._take(SEALER_ROLE):
                    await self._seal(duty)
                elif self._witness:
                    await self._witness.look()
            except AuditFileFault as error:
                self._tell(str(error))
            except StoreError as error:
                log.debug("the audit is not sealed yet", reason=str(error))  # the store itself has told
            except OSError as error:
                self._tell(str(error))
            await self._more()

    def _tell(self, trouble: str) -> None:
        """Once, not each second that it lasts."""
        if trouble != self._trouble:
            if trouble:
                log.warning("the audit is not sealed yet", reason=trouble)
            else:
                log.warning("the audit is sealed again")
        self._trouble = trouble

    async def _seal(self, duty: Duty) -> None:
        head = await self._book.audit_head()
        signed = await self._signed(head)
        while True:
            if signed is None or not await self._holds(max(signed, self._sealed, key=lambda one: one.number)):
                # Sealing on would sign over what is missing: `audit verify` tells, and a person looks into it.
                log.error("the audit does not reach its signed head; nothing more is sealed until that is fixed")
                await asyncio.sleep(DAMAGED.total_seconds())
                return
            sealed = await self._book.seal(duty, head, limit=SEALED_TOGETHER)
            if sealed is None:
                return
            is_behind = sealed.number - head.number == SEALED_TOGETHER
            head = self._sealed = sealed
            if signed != sealed:  # also what an earlier write did not bring to the disk
                await asyncio.to_thread(self._file.write, sealed)
                signed = sealed
                self._tell("")
            if self._trimmer:
                await self._trimmer.trim(duty, head)
            if self._witness:
                await self._witness.publish(head)
            if not is_behind:  # whoever follows events must not wait for a backlog
                await self._more()

    async def _more(self) -> None:
        """Wait for more to seal. What comes meanwhile is sealed together."""
        await self._listener.within(self._every.total_seconds())

    async def _signed(self, head: Head) -> Head | None:
        """The head on disk; None where it should be there and is not. Before the first row it is made."""
        try:
            found = await asyncio.to_thread(self._file.demand)
        except HeadMissing:
            if head.number:
                return None
            await asyncio.to_thread(self._file.write, NOTHING_SEALED)
            return NOTHING_SEALED
        return found or NOTHING_SEALED

    async def _holds(self, known: Head) -> bool:
        """True if the row that was sealed last, as far as is known, is still there as it was."""
        if not known.number:
            return True
        rows = await self._book.audit_rows(known.number - 1, limit=1)
        return bool(rows) and (rows[0].number, rows[0].hash) == (known.number, known.hash)

"""Seals the audit: numbers and links new rows within a second, and signs the head outside the database.

Who seals also removes what is too old, since only it holds the signed head.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.bell import LocalBell
from runtime.errors import StoreError
from runtime.signed import HeadFile
from runtime.store.protocol import AuditBook, Duty
from runtime.trimmer import Trimmer

log = structlog.get_logger("sealer")

UNSEALED: Final = "unsealed"
"""Rung each second while there are rows to be sealed."""
EVERY: Final = timedelta(seconds=5)
"""How often to look without a ring, since old rows are removed a slice at a time."""
DAMAGED: Final = timedelta(minutes=1)
ROLE: Final = "sealer"


class Sealer:
    """One node seals; the duty is a role."""

    def __init__(
        self,
        *,
        book: AuditBook,
        file: HeadFile,
        take: Callable[[str], Awaitable[Duty | None]],
        bell: LocalBell,
        trimmer: Trimmer | None = None,
        every: timedelta = EVERY,
    ) -> None:
        self._book = book
        self._file = file
        self._take = take
        self._trimmer = trimmer
        self._ear = bell.listen(UNSEALED)
        self._every = every
        self._trouble = ""

    async def run(self) -> None:
        """Seal until cancelled."""
        while True:
            try:
                if duty := await self._take(ROLE):
                    await self._seal(duty)
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
        if not await self._is_whole():
            # Sealing on would sign over what is missing: `audit verify` tells, and a person looks into it.
            log.error("the audit does not reach its signed head; nothing more is sealed until that is mended")
            await asyncio.sleep(DAMAGED.total_seconds())
            return
        while True:
            sealed = await self._book.seal(duty, head)
            if sealed is None:
                return
            if sealed != head:
                await asyncio.to_thread(self._file.write, sealed)
                self._tell("")
            head = sealed
            if self._trimmer:
                await self._trimmer.trim(duty, head)
            await self._more()

    async def _more(self) -> None:
        """Wait for more to seal. What comes meanwhile is sealed together."""
        await self._ear.within(self._every.total_seconds())

    async def _is_whole(self) -> bool:
        """Whether the row that was signed last is still there as it was."""
        signed = await asyncio.to_thread(self._file.read)
        if signed is None:
            return True
        rows = await self._book.audit_rows(signed.number - 1, limit=1)
        return bool(rows) and (rows[0].number, rows[0].hash) == (signed.number, signed.hash)

"""Removes the oldest rows of the audit, and leaves a signed checkpoint in their place."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.audit.anchor import CheckpointFile
from runtime.audit.published import Anchors, SignedEnds
from runtime.contract import Now
from runtime.domain.audit_chain import Verifier
from runtime.errors import StoreError
from runtime.store.protocol import Audit, AuditCheckpoint, AuditRow, Duty, Head

log = structlog.get_logger("audit")

TRIMMING_INTERVAL: Final = timedelta(minutes=10)
BEHIND: Final = timedelta(seconds=5)
SLICE: Final = 500
"""Rows removed by one transaction."""


class Trimmer:
    """Keeps the audit to `keep`. What it removes was verified first: a fault must not be tidied away."""

    def __init__(
        self, *, book: Audit, file: CheckpointFile, keep: timedelta, now: Now, ends: SignedEnds | None = None
    ) -> None:
        self._book = book
        self._ends = ends
        self._file = file
        self._keep = keep
        self._now = now
        self._next: datetime | None = None

    async def trim(self, duty: Duty, head: Head) -> None:
        """Remove one slice of old rows, if it is time to. The head itself always stays: numbers go on from it."""
        now = self._now()
        if self._next is not None and now < self._next:
            return
        self._next = now + TRIMMING_INTERVAL
        try:
            await self._slice(duty, head, now)
        except (StoreError, OSError) as error:
            log.warning("old rows of the audit are not removed", reason=str(error))

    async def _slice(self, duty: Duty, head: Head, now: datetime) -> None:
        anchors = await self._anchors()
        last = anchors.cut
        rows = await self._book.audit_rows(0, limit=SLICE)
        if last and rows and (rows[0].number or 0) <= last.number:
            await self._book.cut_audit(duty, last)  # a kill came between the checkpoint and this
        elif old := self._old(rows, head, now):
            await self._cut(duty, anchors, old, now)
            self._next = now + (BEHIND if len(old) == SLICE else TRIMMING_INTERVAL)

    async def _anchors(self) -> Anchors:
        """The newest checkpoint, of whichever node, and rows that may read otherwise."""
        if self._ends is None:
            return Anchors(cut=await asyncio.to_thread(self._file.read))
        return await self._ends.anchors(self._book)

    async def _cut(self, duty: Duty, anchors: Anchors, old: list[AuditRow], now: datetime) -> None:
        verifier = Verifier(cut=anchors.cut, redacted=anchors.redacted)
        verifier.take(old)
        if fault := verifier.fault():
            log.error("old rows of the audit are not removed: the chain is broken", fault=fault)
            return
        checkpoint = AuditCheckpoint(verifier.number, verifier.hash, now)
        # First the signed word that the rows may be gone, then the rows: a kill in between loses neither.
        await asyncio.to_thread(self._file.write, checkpoint)
        await self._book.cut_audit(duty, checkpoint)

    def _old(self, rows: list[AuditRow], head: Head, now: datetime) -> list[AuditRow]:
        """The rows at the beginning that are older than they need be."""
        old: list[AuditRow] = []
        for row in rows:
            if row.at >= now - self._keep or (row.number or 0) >= head.number:
                break
            old.append(row)
        return old

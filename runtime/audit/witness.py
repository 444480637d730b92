"""Follows the audit on each node that shares a database: whichever one is asked, it knows of a tail that is missing."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

import structlog

from runtime.audit.anchor import HeadFile
from runtime.audit.published import SignedEnds
from runtime.domain.audit_chain import Verifier
from runtime.store.protocol import Audit, Head

log = structlog.get_logger("audit")

PUBLISHING_INTERVAL_SECONDS: Final = 60.0
WITNESSED_ROWS: Final = 1000


class Witness:
    """Signs the head that another node sealed, once the rows up to it follow the one that was signed here before."""

    def __init__(self, book: Audit, file: HeadFile, ends: SignedEnds) -> None:
        self._book = book
        self._file = file
        self._ends = ends
        self._next = 0.0

    async def publish(self, head: Head) -> None:
        """Tell other nodes of a head that this one sealed, at most once a minute."""
        if self._is_time():
            await self._ends.publish(self._book, head)

    async def look(self) -> None:
        """Follow the rows that other nodes sealed. Errors: StoreError."""
        if not self._is_time():
            return
        signed = await asyncio.to_thread(self._file.read)
        head = await self._followed(signed) if signed else await self._book.audit_head()
        if head and head != signed and head.number:
            await asyncio.to_thread(self._file.write, head)
            await self._ends.publish(self._book, head)

    async def _followed(self, signed: Head) -> Head | None:
        """The last row there is; None where rows between are missing or were changed."""
        anchors = await self._ends.anchors(self._book)
        cut = anchors.cut
        start = Head(cut.number, cut.hash) if cut and cut.number > signed.number else signed
        verifier = Verifier(cut=start, redacted=anchors.redacted)
        verifier.number, verifier.hash = start.number, start.hash
        after = start.number
        while rows := await self._book.audit_rows(after, limit=WITNESSED_ROWS):
            verifier.take(rows)
            after = rows[-1].number or after
        if fault := verifier.fault():
            log.error("the audit does not follow its signed head", fault=fault)
            return None
        return Head(verifier.number, verifier.hash)

    def _is_time(self) -> bool:
        if monotonic() < self._next:
            return False
        self._next = monotonic() + PUBLISHING_INTERVAL_SECONDS
        return True

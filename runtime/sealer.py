"""Seals the audit: numbers and links new rows within a second, and signs the head outside the database."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog

from runtime.errors import StoreError
from runtime.store.protocol import AuditBook, Duty, Head

log = structlog.get_logger("sealer")

EVERY: Final = timedelta(seconds=1)
DAMAGED: Final = timedelta(minutes=1)
ROLE: Final = "sealer"


class HeadFile:
    """The signed head: `audit.head` beside the key `audit.key` (mode 0600), both in the data folder.

    Whoever can write the database alone cannot shorten the audit without this file telling. The signature is
    HMAC-SHA256, so whoever holds the key file could forge it: keep the folder to the program's own user.
    """

    def __init__(self, folder: Path) -> None:
        self._head = folder / "audit.head"
        self._key = folder / "audit.key"

    def write(self, head: Head) -> None:
        """Replace the head, whole or not at all."""
        text = json.dumps({"number": head.number, "hash": head.hash, "signature": self._sign(head)})
        fresh = self._head.with_suffix(".new")
        with fresh.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._head)

    def read(self) -> Head | None:
        """The head, None before the first. Errors: StoreError when it is damaged or its signature is wrong."""
        if not self._head.exists():
            return None
        try:
            said = json.loads(self._head.read_text(encoding="ascii"))
            head, signature = Head(int(said["number"]), str(said["hash"])), str(said["signature"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self._head} cannot be read: {error}") from error
        if not hmac.compare_digest(signature, self._sign(head)):
            raise StoreError(
                f"The signature of {self._head} is wrong: someone else wrote it, or audit.key was changed."
            )
        return head

    def _sign(self, head: Head) -> str:
        return hmac.digest(self._secret(), f"{head.number}:{head.hash}".encode(), "sha256").hex()

    def _secret(self) -> bytes:
        if not self._key.exists():
            with os.fdopen(os.open(self._key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(32))
        return self._key.read_bytes()


class Sealer:
    """One node seals; the duty is a role."""

    def __init__(
        self,
        *,
        book: AuditBook,
        file: HeadFile,
        take: Callable[[str], Awaitable[Duty | None]],
        every: timedelta = EVERY,
    ) -> None:
        self._book = book
        self._file = file
        self._take = take
        self._every = every

    async def run(self) -> None:
        """Seal until cancelled."""
        while True:
            try:
                if duty := await self._take(ROLE):
                    await self._seal(duty)
            except (StoreError, OSError) as error:
                log.warning("the audit is not sealed yet", reason=str(error))
            await asyncio.sleep(self._every.total_seconds())

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
            head = sealed
            await asyncio.sleep(self._every.total_seconds())

    async def _is_whole(self) -> bool:
        """Whether the row that was signed last is still there as it was."""
        signed = await asyncio.to_thread(self._file.read)
        if signed is None:
            return True
        rows = await self._book.audit_rows(signed.number - 1, limit=1)
        return bool(rows) and (rows[0].number, rows[0].hash) == (signed.number, signed.hash)

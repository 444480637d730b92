"""The audit chain: each sealed row carries the hash of the one before it. Pure; no I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol

FIRST_HASH: Final = ""
"""What the first row calls the hash before it."""


class AuditFact(Protocol):
    """Fields of an audit row that tell what happened."""

    @property
    def number(self) -> int | None: ...
    @property
    def at(self) -> datetime: ...
    @property
    def kind(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def detail(self) -> str: ...


class SealedRow(AuditFact, Protocol):
    """Fields of an audit row that the chain covers."""

    @property
    def previous(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def salt(self) -> str: ...


REDACTED: Final = "audit redacted"
"""Kind of the row that says which rows had somebody taken out of them."""
Redactions = Mapping[int, Collection[str]]
"""Digests of rows, by number, as they may read although their hash is of what stood there before."""
NOTHING_REDACTED: Final[Redactions] = {}


def link(
    previous: str, number: int, at: datetime, kind: str, actor: str, subject: str, detail: str, salt: str = ""
) -> str:
    """The hash of a row: SHA-256 in hex over the previous hash and the row's canonical JSON.

    Without `salt`, as earlier versions wrote rows, whoever knows the rest could guess a name by trying.
    """
    values = [previous, number, at.isoformat(), kind, actor, subject, detail, *([salt] if salt else [])]
    row = json.dumps(values, ensure_ascii=False)
    return hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest()


def reads(row: SealedRow) -> str:
    """Digest of a sealed row as it reads, whatever its hash says: a redaction signs this."""
    return link(row.hash, row.number or 0, row.at, row.kind, row.actor, row.subject, row.detail, row.salt)


class Anchor(Protocol):
    """A row that is known from outside of the database: its number and hash."""

    @property
    def number(self) -> int: ...
    @property
    def hash(self) -> str: ...


class Verifier:
    """Walks sealed rows in order and keeps the first fault it finds.

    Feed it rows by `take`, then ask `fault`. `head_number` and `head_hash` are the signed head: only against that a
    cut tail shows, and a chain that was made anew from some row on. `cut` is the signed checkpoint: rows up to that one
    may be gone, from the first one on. `redacted` are rows that may read otherwise than they were sealed. `heads` are
    earlier or other ones that were signed: the chain has each of them.
    """

    def __init__(
        self,
        head_number: int = 0,
        head_hash: str = FIRST_HASH,
        *,
        cut: Anchor | None = None,
        redacted: Redactions = NOTHING_REDACTED,
        heads: Iterable[Anchor] = (),
    ) -> None:
        self.number = 0
        self.hash = FIRST_HASH
        self.walked = 0
        self._head = (head_number, head_hash)
        self._cut = (cut.number, cut.hash) if cut else (0, FIRST_HASH)
        self._redacted = redacted
        self._signed = {one.number: one.hash for one in heads} | {head_number: head_hash}
        self._fault: str | None = None

    def take(self, rows: Iterable[SealedRow]) -> None:
        for row in rows:
            if self._fault is None:
                self._begin(row)
                self._fault = self._wrong(row)
                self.number, self.hash = row.number or 0, row.hash
                self.walked += 1

    def fault(self) -> str | None:
        """The first bad row in words, or None when the chain is whole up to the head and beyond."""
        last = max(self.number, self._cut[0])
        if self._fault is None and last < self._head[0]:
            return f"row {last + 1}: missing; the signed head says that there are {self._head[0]} rows"
        return self._fault

    def _begin(self, row: SealedRow) -> None:
        """Stand before the first row that is there.

        Behind the checkpoint, its hash is what came before. At a row that might be gone and is not, what came before
        is taken on trust: the chain leads from there to the checkpoint's own row, whose hash is known.
        """
        cut, hashed = self._cut
        if self.walked == 0 and cut:
            may_be_gone = 1 < (row.number or 0) <= cut
            self.number, self.hash = ((row.number or 0) - 1, row.previous) if may_be_gone else (cut, hashed)
        if self.walked == 0 and row.number == 1:
            self.number, self.hash = 0, FIRST_HASH

    def _wrong(self, row: SealedRow) -> str | None:
        expected = self.number + 1
        if row.number != expected:
            return f"row {expected}: missing (the next one is row {row.number})"
        if row.previous != self.hash:
            return f"row {expected}: does not follow the row before it"
        made = link(row.previous, expected, row.at, row.kind, row.actor, row.subject, row.detail, row.salt)
        if row.hash != made and reads(row) not in self._redacted.get(expected, ()):
            return f"row {expected}: changed after it was sealed"
        if expected == self._cut[0] and row.hash != self._cut[1]:
            return f"row {expected}: not the one at which the audit was cut; it or rows before it were sealed again"
        if row.hash != self._signed.get(expected, row.hash):
            return f"row {expected}: not the one that was signed; it or rows before it were sealed again"
        return None

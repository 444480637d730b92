"""Sealing the audit: numbers and links in the order in which rows were committed."""

from __future__ import annotations

from datetime import datetime
from secrets import token_hex
from typing import Any, Final

from sqlalchemy import Integer, bindparam, delete, func, select, update

from runtime.domain.audit_chain import FIRST_HASH, link
from runtime.store.common import fact, held, put
from runtime.store.protocol import AuditCheckpoint, AuditRow, AuditSignature, Duty, Head
from runtime.store.schema import audit, audit_signatures
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros, moment

SALT_BYTES: Final = 16
AUDIT_COLUMNS = (
    audit.c.entry,
    audit.c.number,
    audit.c.at,
    audit.c.kind,
    audit.c.actor,
    audit.c.subject,
    audit.c.detail,
    audit.c.previous,
    audit.c.hash,
    audit.c.salt,
)
# Locked: what takes a name out of a row that is not sealed yet must not do so between this and its hash.
UNSEALED = (
    select(*AUDIT_COLUMNS)
    .where(audit.c.number.is_(None))
    .order_by(audit.c.entry)
    .limit(bindparam("n", type_=Integer))
    .with_for_update()
)
SEAL = (
    update(audit)
    .where(audit.c.entry == bindparam("e"))
    .values(
        number=bindparam("new_number"),
        previous=bindparam("before"),
        hash=bindparam("own"),
        salt=bindparam("new_salt"),
    )
)
AFTER = (
    select(*AUDIT_COLUMNS)
    .where(audit.c.number > bindparam("after"))
    .order_by(audit.c.number)
    .limit(bindparam("n", type_=Integer))
)
NEWEST = select(*AUDIT_COLUMNS).order_by(audit.c.entry.desc()).limit(bindparam("n", type_=Integer))
NEWEST_OF_KIND = NEWEST.where(audit.c.kind == bindparam("kind"))
LAST_SEALED = (
    select(audit.c.number, audit.c.hash).where(audit.c.number.is_not(None)).order_by(audit.c.number.desc()).limit(1)
)


def row_of(row: tuple[Any, ...]) -> AuditRow:
    entry, number, at, *words = row
    return AuditRow(str(entry), number, moment(at), *words)


def head() -> Op[Head]:
    rows = yield LAST_SEALED, {}
    return Head(*rows[0]) if rows else Head(0, FIRST_HASH)


def seal(duty: Duty, after: Head, limit: int) -> Op[Head | None]:
    if not (yield from held(duty)):
        return None
    rows = yield UNSEALED, {"n": limit}
    number, previous = after.number, after.hash
    for row in map(row_of, rows):
        number += 1
        salt = token_hex(SALT_BYTES)
        own = link(previous, number, row.at, row.kind, row.actor, row.subject, row.detail, salt)
        yield SEAL, {"e": int(row.id), "new_number": number, "before": previous, "own": own, "new_salt": salt}
        previous = own
    return Head(number, previous)


def rows_after(after: int, limit: int) -> Op[list[AuditRow]]:
    rows = yield AFTER, {"after": after, "n": limit}
    return [row_of(row) for row in rows]


def newest_rows(kind: str, limit: int) -> Op[list[AuditRow]]:
    rows = (yield NEWEST_OF_KIND, {"kind": kind, "n": limit}) if kind else (yield NEWEST, {"n": limit})
    return [row_of(row) for row in rows]


UNSEALED_COUNT = select(func.count()).select_from(audit).where(audit.c.number.is_(None))
TRIM = delete(audit).where(audit.c.number <= bindparam("upto")).returning(audit.c.number)


def unsealed() -> Op[int]:
    rows = yield UNSEALED_COUNT, {}
    return int(rows[0][0])


def cut(duty: Duty, checkpoint: AuditCheckpoint, now: datetime) -> Op[bool]:
    if not (yield from held(duty)):
        return False
    if gone := (yield TRIM, {"upto": checkpoint.number}):
        yield from fact(now, "audit cut", duty.node, str(checkpoint.number), f"{len(gone)} rows were too old")
    return True


# ------------------------------------------------------------------------------------- heads that several nodes signed

PUBLISHED = select(*audit_signatures.columns).order_by(audit_signatures.c.key)
IS_PUBLISHED = select(audit_signatures.c.key).where(audit_signatures.c.key == bindparam("key"))
PUBLISH = put(audit_signatures)
NEW_KEY: Final = "audit key"


def signatures() -> Op[list[AuditSignature]]:
    rows = yield PUBLISHED, {}
    return [_signature_of(row) for row in rows]


def _signature_of(row: tuple[Any, ...]) -> AuditSignature:
    key, number, own, signature, cut_number, cut_hash, cut_at, cut_signature, _ = row
    cut = AuditCheckpoint(cut_number, cut_hash, datetime.fromisoformat(cut_at)) if cut_at else None
    return AuditSignature(key, Head(number, own), signature, cut, cut_signature)


def publish(signed: AuditSignature, now: datetime) -> Op[None]:
    if not (yield IS_PUBLISHED, {"key": signed.key}):
        yield from fact(now, NEW_KEY, signed.key, "", "a process signs the audit with it from now on")
    cut = signed.cut
    yield (
        PUBLISH,
        {
            "key": signed.key,
            "number": signed.head.number,
            "hash": signed.head.hash,
            "signature": signed.signature,
            "cut_number": cut.number if cut else 0,
            "cut_hash": cut.hash if cut else "",
            "cut_at": cut.at.isoformat() if cut else "",
            "cut_signature": signed.cut_signature,
            "at": micros(now),
        },
    )


class AuditStore(Base):
    """Implements `protocol.Audit`."""

    async def seal(self, duty: Duty, head: Head, *, limit: int = 500) -> Head | None:
        return await self._driver.write(lambda: seal(duty, head, limit))

    async def audit_rows(self, after: int, *, limit: int = 1000) -> list[AuditRow]:
        return await self._driver.read(lambda: rows_after(after, limit))

    async def newest_audit(self, kind: str = "", *, limit: int) -> list[AuditRow]:
        return await self._driver.read(lambda: newest_rows(kind, limit))

    async def audit_head(self) -> Head:
        return await self._driver.read(head)

    async def audit_unsealed(self) -> int:
        return await self._driver.read(unsealed)

    async def cut_audit(self, duty: Duty, checkpoint: AuditCheckpoint) -> bool:
        now = self.now()
        return await self._driver.write(lambda: cut(duty, checkpoint, now))

    async def audit_signatures(self) -> list[AuditSignature]:
        return await self._driver.read(signatures)

    async def publish_audit(self, signed: AuditSignature) -> None:
        now = self.now()
        await self._driver.write(lambda: publish(signed, now))

"""Messages of a person, and rows of the audit that tell of them: both have a way of their own to lose somebody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Integer, bindparam, select, update

from runtime.domain.audit_chain import REDACTED
from runtime.store.common import fact
from runtime.store.intake.inbox import FORGET_SIGNAL
from runtime.store.operations.audit import AUDIT_COLUMNS, row_of
from runtime.store.protocol import AuditRow
from runtime.store.protocol.memory.forgetting import SaidRow
from runtime.store.schema import audit, signals
from runtime.store.sql.driver import Op

SAID_COLUMNS: Final = (
    signals.c.id,
    signals.c.address,
    signals.c.session,
    signals.c.actor,
    signals.c.person_id,
    signals.c.text,
    signals.c.actor_name,
    signals.c.files,
    signals.c.kind,
)
SAID_AFTER = (
    select(*SAID_COLUMNS)
    .where(signals.c.id > bindparam("after"))
    .order_by(signals.c.id)
    .limit(bindparam("n", type_=Integer))
)
# As retention leaves one.
FORGET_SAID = FORGET_SIGNAL.where(signals.c.id == bindparam("which")).values(
    actor=bindparam("new_actor"),
    address=bindparam("new_address"),
    dedupe_key=bindparam("new_key"),
    natural_key=None,
    message_id="",
    platform=signals.c.platform,
)
PUT_SAID = (
    update(signals)
    .where(signals.c.id == bindparam("which"), signals.c.text == bindparam("old_text"))
    .values(text=bindparam("new_text"), actor_name=bindparam("new_name"), files=bindparam("new_files"))
    .returning(signals.c.id)
)


def said_after(after: str, limit: int) -> Op[list[SaidRow]]:
    rows = yield SAID_AFTER, {"after": after, "n": limit}
    return [SaidRow(*(one or "" for one in row)) for row in rows]


def forget_said(theirs: Mapping[str, Mapping[str, str]], others: Sequence[tuple[SaidRow, SaidRow]]) -> Op[int]:
    """Empty messages of theirs, by id what stands for their places; and change those of others, each as it was read. How many."""
    done = len(theirs)
    for which, stands in theirs.items():
        yield FORGET_SAID, {"which": which, **stands}
    for old, new in others:
        given = {"new_text": new.text, "new_name": new.name, "new_files": new.files}
        done += len((yield PUT_SAID, {"which": old.id, "old_text": old.text, **given}))
    return done


# ---------------------------------------------------------------------------------------------------------- the audit

ENTRIES_AFTER = (
    select(*AUDIT_COLUMNS)
    .where(audit.c.entry > bindparam("after"))
    .order_by(audit.c.entry)
    .limit(bindparam("n", type_=Integer))
)
_AS_READ = (
    audit.c.entry == bindparam("which"),
    audit.c.hash == bindparam("old_hash"),
    audit.c.number.is_not_distinct_from(bindparam("old_number", type_=Integer)),
)
# All are looked at first: a row that was changed, and of which no other row tells, would break the chain.
FACT_AS_READ = select(audit.c.entry).where(*_AS_READ).with_for_update()
PUT_FACT = (
    update(audit)
    .where(*_AS_READ)
    .values(actor=bindparam("new_actor"), subject=bindparam("new_subject"), detail=bindparam("new_detail"), salt="")
)


def entries_after(after: int, limit: int) -> Op[list[AuditRow]]:
    rows = yield ENTRIES_AFTER, {"after": after, "n": limit}
    return [row_of(row) for row in rows]


def put_entries(rows: Sequence[AuditRow], told: str, mark: str, now: datetime) -> Op[bool]:
    """Change rows of the audit, and add the row that says so; false, and nothing is changed, where one was sealed or cut since."""
    given = [{"which": int(row.id), "old_hash": row.hash, "old_number": row.number} for row in rows]
    for one in given:
        if not (yield FACT_AS_READ, one):
            return False
    for row, one in zip(rows, given, strict=True):
        yield PUT_FACT, one | {"new_actor": row.actor, "new_subject": row.subject, "new_detail": row.detail}
    if told:
        yield from fact(now, REDACTED, "", mark, told)
    return True

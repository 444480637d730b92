"""Reading the audit, and checking its chain from its first row, or from the checkpoint that stands before it, to the signed head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.audit.anchor import HeadMissing
from runtime.audit.published import Anchors, SignedEnds
from runtime.domain.audit_chain import REDACTED, Verifier
from runtime.errors import BotError
from runtime.http.errors import Refusal
from runtime.store.protocol import Audit, AuditCheckpoint, Head

SIGNED_LIST: Final = "a signed list of rows that had this person taken out of them"
SignedHead = Callable[[], Head | None]
"""Reads the head that is kept outside of the database; None when there is none yet. Errors: StoreError for a bad one."""
SignedCheckpoint = Callable[[], AuditCheckpoint | None]
"""Reads the checkpoint beside it; None when no row was removed yet. Errors: the same."""


def no_head() -> Head | None:
    """For installations that keep no head."""
    return None


def no_checkpoint() -> AuditCheckpoint | None:
    """Answer where nothing was ever removed."""
    return None


async def newest(book: Audit, kind: str, limit: int, mask: Callable[[str], str]) -> list[View]:
    """The newest rows. `number` is null for those that are not sealed yet."""
    return [
        {
            "number": row.number,
            "at": row.at.isoformat(timespec="seconds"),
            "kind": row.kind,
            "who": row.actor,
            "about": mask(row.subject),
            "detail": SIGNED_LIST if row.kind == REDACTED else mask(row.detail),
        }
        for row in await book.newest_audit(kind, limit=limit)
    ]


async def exported(book: Audit, ends: SignedEnds | None, after: int) -> View:
    """A page of sealed rows as they are, and before the first the signed ends. Errors: Refusal where nothing is signed."""
    if ends is None:
        raise Refusal(409, "Nothing is signed here.")
    # The head before the rows, so that none of those that it covers is missing.
    signed = await ends.exported(book) if after == 0 else None
    rows = await book.audit_rows(after)
    values = [
        [r.number, r.at.isoformat(), r.kind, r.actor, r.subject, r.detail, r.previous, r.hash, r.salt] for r in rows
    ]
    return {"signed": signed, "rows": values, "after": rows[-1].number if rows else None}


async def verify(
    book: Audit,
    signed_head: SignedHead = no_head,
    signed_checkpoint: SignedCheckpoint = no_checkpoint,
    *,
    ends: SignedEnds | None = None,
) -> View:
    """Number of rows, and whether the chain is `whole`; if not, `fault` names the first bad row.

    `removed` rows before them were too old, and a signed checkpoint stands for them; `unsealed` rows are too young to
    be covered. With `ends`, rows may have had somebody taken out of them, and `keys` are those that signed.
    """

    async def known() -> Anchors:
        if ends is not None:
            return await ends.anchors(book)
        head = signed_head()
        return Anchors([head] if head else [], signed_checkpoint())

    try:
        # Before the rows: what is sealed meanwhile lies beyond it, and that is no fault.
        anchors = await known()
    except HeadMissing as error:
        if rows := (await book.audit_head()).number:
            return _told(rows, fault=f"the signed head: {error}")
        anchors = Anchors([], signed_checkpoint())
    except BotError as error:
        return _told(0, fault=f"the signed head or checkpoint: {error}")
    verifier = await _walk(book, _verifier(anchors))
    # Rows were removed while we walked, or had somebody taken out of them.
    if verifier.fault() and (newer := await known()) != anchors:
        anchors = newer
        verifier = await _walk(book, _verifier(anchors))
    told = _told(
        verifier.walked, verifier.fault(), anchors.cut.number if anchors.cut else 0, await book.audit_unsealed()
    )
    return {**told, "redacted": len(anchors.redacted), "keys": [*anchors.keys]} if ends else told


def _verifier(anchors: Anchors) -> Verifier:
    head = anchors.head
    return Verifier(head.number, head.hash, cut=anchors.cut, redacted=anchors.redacted, heads=anchors.heads)


async def _walk(book: Audit, verifier: Verifier) -> Verifier:
    after = 0
    while rows := await book.audit_rows(after):
        verifier.take(rows)
        after = rows[-1].number or after
    return verifier


def _told(rows: int, fault: str | None, removed: int = 0, unsealed: int = 0) -> View:
    return {"whole": fault is None, "rows": rows, "fault": fault, "removed": removed, "unsealed": unsealed}


@by_role
class AuditApi(PartialApi):
    """The audit: its newest rows, its export and its check."""

    async def audit(self, kind: str = "", limit: int = 100) -> list[View]:
        """The newest rows of the audit, of one kind or of all."""
        return await newest(self._store.audit, kind, limit, self._context.mask)

    async def export_audit(self, fields: Mapping[str, Any]) -> View:
        """A page of sealed rows behind the number `after`, with what is signed of them."""
        if not isinstance(after := fields.get("after", 0), int):
            raise Refusal(400, "`after` must be the number of a row.")
        return await exported(self._store.audit, self._context.ends, after)

    async def verify_audit(self) -> View:
        return await verify(self._store.audit, ends=self._context.ends)

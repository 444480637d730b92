"""Checking the audit chain from its first row to the signed head."""

from __future__ import annotations

from collections.abc import Callable

from bot.console.views import View
from runtime.audit import Verifier
from runtime.errors import BotError
from runtime.store.protocol import AuditBook, Head

SignedHead = Callable[[], Head | None]
"""Reads the head that is kept outside of the database; None when there is none yet. Errors: ValueError for a bad one."""


def no_head() -> Head | None:
    """For installations that keep no head."""
    return None


async def verify(book: AuditBook, signed_head: SignedHead = no_head) -> View:
    """How many rows there are and whether the chain is `whole`; if not, `fault` names the first bad row."""
    try:
        # Before the rows: what is sealed meanwhile lies beyond it, and that is no fault.
        head = signed_head() or Head(0, "")
    except BotError as error:
        return {"whole": False, "rows": 0, "fault": f"the signed head: {error}"}
    verifier, after = Verifier(head.number, head.hash), 0
    while rows := await book.audit_rows(after):
        verifier.take(rows)
        after = rows[-1].number or after
    fault = verifier.fault()
    return {"whole": fault is None, "rows": verifier.number, "fault": fault}

"""Rows of the audit that had somebody taken out of them: told by a signed row behind them, so that the chain can be verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from runtime.audit.keys import AuditKey, checks_out
from runtime.domain.audit_chain import REDACTED, Redactions
from runtime.store.protocol import Audit, AuditRow

REDACTIONS_MAX: Final = 1_000_000
"""Rows that say so: more than any audit has."""
Trusts = Callable[[str], bool]
"""True for a public key whose signatures count."""
Changed = Sequence[tuple[int, str]]
"""Numbers of rows, each with the digest of what it reads now."""


def redaction(key: AuditKey, changed: Changed) -> str:
    """Words of the row that tells of changed ones."""
    rows = [[*one] for one in changed]
    return json.dumps({"rows": rows, "key": key.public, "signature": key.sign(_words(rows))})


def redactions(told: Iterable[AuditRow], trusts: Trusts) -> Redactions:
    """Redactions that rows tell of, as far as whoever signed them is trusted."""
    found: dict[int, set[str]] = {}
    for row in told:
        for number, digest in _rows_of(row.detail, trusts):
            found.setdefault(number, set()).add(digest)
    return found


async def redactions_in(book: Audit, trusts: Trusts) -> Redactions:
    return redactions(await book.newest_audit(REDACTED, limit=REDACTIONS_MAX), trusts)


def _rows_of(detail: str, trusts: Trusts) -> Changed:
    try:
        said = json.loads(detail)
        rows, key = [(int(number), str(digest)) for number, digest in said["rows"]], str(said["key"])
        is_theirs = trusts(key) and checks_out(key, _words([[*one] for one in rows]), str(said["signature"]))
    except (ValueError, KeyError, TypeError):
        return ()
    return rows if is_theirs else ()


def _words(rows: object) -> str:
    return f"redacted:{json.dumps(rows)}"

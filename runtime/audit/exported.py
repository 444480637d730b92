"""An exported audit: the signed ends on its first line, then a row on each; verified with a public key alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runtime.audit.keys import checks_out
from runtime.audit.published import export_words
from runtime.audit.redactions import redactions
from runtime.domain.audit_chain import REDACTED, Verifier
from runtime.store.protocol import AuditCheckpoint, AuditRow, Head


@dataclass(frozen=True, slots=True)
class ExportedEnds:
    """First line of an export."""

    key: str
    keys: frozenset[str]
    head: Head
    cut: AuditCheckpoint | None
    is_signed: bool


def ends_of(line: str) -> ExportedEnds:
    """Errors: ValueError, KeyError or TypeError for what is no export of ours."""
    said: Mapping[str, Any] = json.loads(line)
    head, key = Head(int(said["head"][0]), str(said["head"][1])), str(said["key"])
    cut, keys = None, [str(one) for one in said["keys"]]
    if said["cut"]:
        number, own, at = said["cut"]
        cut = AuditCheckpoint(int(number), str(own), datetime.fromisoformat(at))
    is_signed = checks_out(key, export_words(head, cut, keys), str(said["signature"]))
    return ExportedEnds(key, frozenset(keys), head, cut, is_signed)


def row_of(line: str) -> AuditRow:
    """Errors: as for `ends_of`."""
    number, at, *texts = json.loads(line)
    kind, actor, subject, detail, previous, own, salt = map(str, texts)
    return AuditRow(
        str(number), int(number), datetime.fromisoformat(at), kind, actor, subject, detail, previous, own, salt
    )


def fault_of(ends: ExportedEnds, rows: Iterable[AuditRow], told: Iterable[AuditRow]) -> tuple[str | None, int]:
    """The first fault, and how many rows there were. `told`: the rows that tell of redactions, which are read first."""
    if not ends.is_signed:
        return "the signed head: its signature is wrong", 0
    redacted = redactions((row for row in told if row.kind == REDACTED), ends.keys.__contains__)
    verifier = Verifier(ends.head.number, ends.head.hash, cut=ends.cut, redacted=redacted)
    verifier.take(rows)
    return verifier.fault(), verifier.walked

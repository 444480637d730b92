"""Heads of the audit that nodes which share a database signed, so that each of them verifies the whole.

A node trusts its own key, and those under which others published: the first head of a key is a row of the audit itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runtime.audit.anchor import CheckpointFile, HeadFile, checkpoint_words, head_words
from runtime.audit.keys import AuditKey, checks_out
from runtime.audit.redactions import redactions_in
from runtime.domain.audit_chain import Redactions
from runtime.store.protocol import Audit, AuditCheckpoint, AuditSignature, Head


@dataclass(frozen=True, slots=True)
class Anchors:
    """All that is known of the chain from outside its rows: heads that must lie on it, where it was cut, rows that may read
    otherwise. `keys` are the public keys that say so, ours first."""

    heads: Sequence[Head] = ()
    cut: AuditCheckpoint | None = None
    redacted: Redactions = field(default_factory=dict)
    keys: Sequence[str] = ()

    @property
    def head(self) -> Head:
        """The furthest head."""
        return max(self.heads, key=lambda one: one.number, default=Head(0, ""))


class SignedEnds:
    """The signed ends of the audit, as this node knows them: its own files, and with `shared` what others published."""

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self.key = AuditKey(folder)
        self._head = HeadFile(folder, shared=shared)
        self._checkpoint = CheckpointFile(folder)
        self._shared = shared

    async def anchors(self, book: Audit) -> Anchors:
        """Errors: HeadMissing, and StoreError for files that somebody else wrote."""
        own, cut = self._head.demand(), self._checkpoint.read()
        others = await self._others(book)
        keys = [*([self.key.public] if self.key.is_there else []), *(one.key for one in others)]
        cuts = [one for one in (cut, *(other.cut for other in others)) if one]
        return Anchors(
            [*([own] if own else []), *(one.head for one in others)],
            max(cuts, key=lambda one: one.number, default=None),
            await redactions_in(book, keys.__contains__),
            list(dict.fromkeys(keys)),
        )

    async def exported(self, book: Audit) -> dict[str, object]:
        """Ends of the chain, signed with this node's key, as an exported audit holds them. Errors: as for `anchors`."""
        anchors = await self.anchors(book)
        cut = anchors.cut
        return {
            "key": self.key.public,
            "keys": [*anchors.keys],
            "head": [anchors.head.number, anchors.head.hash],
            "cut": [cut.number, cut.hash, cut.at.isoformat()] if cut else None,
            "signature": self.key.sign(export_words(anchors.head, cut, anchors.keys)),
        }

    async def _others(self, book: Audit) -> list[AuditSignature]:
        return [one for one in await book.audit_signatures() if _is_sound(one)] if self._shared else []

    async def publish(self, book: Audit, head: Head) -> None:
        """Tell other nodes of a head that this one signed."""
        if not self._shared:
            return
        cut = self._checkpoint.read()
        cut_signature = self.key.sign(checkpoint_words(cut)) if cut else ""
        signed = AuditSignature(self.key.public, head, self.key.sign(head_words(head)), cut, cut_signature)
        await book.publish_audit(signed)


def export_words(head: Head, cut: AuditCheckpoint | None, keys: Sequence[str]) -> str:
    """Words that are signed for an export: they begin with one of their own, and no other signature passes for them."""
    return "\n".join(["export", head_words(head), checkpoint_words(cut) if cut else "", *keys])


def _is_sound(one: AuditSignature) -> bool:
    is_signed = checks_out(one.key, head_words(one.head), one.signature)
    return is_signed and (one.cut is None or checks_out(one.key, checkpoint_words(one.cut), one.cut_signature))

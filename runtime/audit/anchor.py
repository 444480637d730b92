"""Signed files beside the audit: its head, and the checkpoint for removed rows.

Both lie in the data folder, outside of the database, beside the key `audit.key` (mode 0600). Whoever can write the
database alone cannot shorten the audit without these files telling. Where several nodes share a database, each has files of
its own, and publishes what it signed (`published.py`) for the others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from runtime.audit.keys import AuditFileFault, AuditKey
from runtime.errors import StoreError
from runtime.store.protocol import AuditCheckpoint, Head

T = TypeVar("T")


class HeadMissing(StoreError):
    """Nothing says which row was sealed last. Before the first row that is as it should be."""


class HeadFile:
    """`audit.head`: the number and hash of the row that was sealed last.

    `shared`: other nodes seal too, each beside its own key, so that here may be no head as long as there is no key.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self._file = _SignedFile(folder, "audit.head")
        self._shared = shared

    def write(self, head: Head) -> None:
        """Replace the head, whole or not at all."""
        words = head_words(head)
        self._file.write({"number": head.number, "hash": head.hash, "signature": self._file.key.mark(words)})

    def read(self) -> Head | None:
        """The head, None before the first. Errors: StoreError when it is damaged or its signature is wrong."""
        return self._file.read(lambda said: Head(int(said["number"]), str(said["hash"])), head_words)

    def demand(self) -> Head | None:
        """The head, None on a node that never signed one. Errors: HeadMissing where it must be there; as `read` does."""
        head = self.read()
        if head is None and not (self._shared and not self._file.was_signed):
            raise HeadMissing("audit.head is missing: without it nobody can tell whether the last rows are all there")
        return head


class CheckpointFile:
    """`audit.checkpoint`: the number and hash of the last row that was removed for its age, and when."""

    def __init__(self, folder: Path) -> None:
        self._file = _SignedFile(folder, "audit.checkpoint")

    def write(self, checkpoint: AuditCheckpoint) -> None:
        """Replace the checkpoint, whole or not at all."""
        at = checkpoint.at.isoformat()
        values = {"number": checkpoint.number, "hash": checkpoint.hash, "at": at}
        key = self._file.key
        self._file.write({**values, "key": key.public, "signature": key.sign(checkpoint_words(checkpoint))})

    def read(self) -> AuditCheckpoint | None:
        """The checkpoint, None when nothing was removed yet. Errors: StoreError as for the head."""
        return self._file.read(_checkpoint_of, checkpoint_words)


def _checkpoint_of(said: Mapping[str, Any]) -> AuditCheckpoint:
    return AuditCheckpoint(int(said["number"]), str(said["hash"]), datetime.fromisoformat(said["at"]))


def head_words(head: Head) -> str:
    return f"{head.number}:{head.hash}"


def checkpoint_words(checkpoint: AuditCheckpoint) -> str:
    # It begins with a word of its own: an old head must never pass for a checkpoint.
    return f"checkpoint:{checkpoint.number}:{checkpoint.hash}:{checkpoint.at.isoformat()}"


class _SignedFile:
    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / name
        self.key = AuditKey(folder)

    def write(self, values: Mapping[str, object]) -> None:
        """Replace the file by values with their signature, whole or not at all."""
        text = json.dumps(values)
        fresh = self._path.with_name(f"{self._path.name}.new")
        with fresh.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

    def read(self, make: Callable[[Mapping[str, Any]], T], words: Callable[[T], str]) -> T | None:
        """Value that `make` makes, if its `words` were signed; None when there is no file."""
        if not self._path.exists():
            return None
        try:
            said = json.loads(self._path.read_text(encoding="ascii"))
            made, signature = make(said), str(said["signature"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AuditFileFault(f"{self._path} cannot be read: {error}") from error
        if not self.key.signed(words(made), signature):
            raise AuditFileFault(
                f"The signature of {self._path} is wrong: someone else wrote it, or audit.key was changed."
            )
        return made

    @property
    def was_signed(self) -> bool:
        """True if anything was ever signed in this folder."""
        return self.key.is_there

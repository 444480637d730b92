"""The file of values that the leak guard goes on looking for once they are removed: sealed, in the data folder.

Those of a sealed file of secrets stay in that file: its lock keeps them as well as it did before.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

import structlog

from runtime.guard.kept import Kept, opened, sealed, with_those_of_now
from runtime.guard.sealing import Sealer, Unsealable

log = structlog.get_logger("guard")

KEPT_FILE: Final = "guard.kept"


class KeptValues:
    """Values of one data folder, sealed with its key."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self.folder = folder
        self._path = folder / KEPT_FILE
        self._sealer = Sealer(key)

    def read(self) -> list[Kept]:
        """Empty where there are none, and where they were sealed with another key: nobody can open them again."""
        try:
            return opened(self._path.read_text("ascii"), self._sealer)
        except FileNotFoundError:
            return []
        except (Unsealable, UnicodeDecodeError) as error:
            log.warning("values that were removed are not looked for", file=str(self._path), reason=str(error))
            return []

    def remember(self, now: Iterable[tuple[str, str]], apart: Collection[str]) -> list[Kept]:
        """Keep those that are held `now` from here on, but none of `apart`; all that are kept."""
        before = self.read()
        after = with_those_of_now(before, now, frozenset(apart))
        if set(after) != set(before):
            self.write(after)
        return after

    def write(self, kept: Sequence[Kept]) -> None:
        """In one step: a reader finds the file before or after it, never half of one."""
        fresh = self._path.with_name(f"{KEPT_FILE}.{os.getpid()}")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(sealed(kept, self._sealer))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

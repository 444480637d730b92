"""The file of values that the leak guard goes on looking for once they are removed: sealed, in the data folder.

Those of a sealed file of secrets stay in that file: its lock keeps them as well as it did before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from bot.secrets.disk import alone_in, in_words, replace
from runtime.guard.kept import Kept, opened, sealed, with_those_of_now
from runtime.guard.sealing import Sealer, Unsealable

log = structlog.get_logger("guard")

KEPT_FILE: Final = "guard.kept"


class KeptValues:
    """Values of one data folder, sealed with its key."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._path = folder / KEPT_FILE
        self._sealer = Sealer(key)

    def read(self) -> list[Kept]:
        """Empty where there are none, and where they were sealed with another key: nobody can open them again.

        Errors: StoreError.
        """
        try:
            with in_words(self._path), suppress(FileNotFoundError):
                return opened(self._path.read_text("ascii"), self._sealer)
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
        """In one step: a reader finds the file before or after it, never half of one. Errors: StoreError."""
        with in_words(self._path), alone_in(self._path.parent):
            replace(self._path, sealed(kept, self._sealer).encode("ascii"))

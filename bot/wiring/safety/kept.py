"""The file of values that the leak guard goes on looking for once they are removed: sealed, in the data folder.

Those of a sealed file of secrets stay in that file: its lock keeps them as well as it did before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from bot.secrets.disk import alone_in, in_words, replace
from runtime.guard.kept import Kept, holds, opened, sealed, with_those_of_now
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
        text = self._text()
        try:
            return opened(text, self._sealer) if text else []
        except Unsealable as error:
            log.warning("values that were removed are not looked for", file=str(self._path), reason=str(error))
            return []

    def remember(self, now: Sequence[tuple[str, str]], apart: Collection[str]) -> list[Kept]:
        """Keep those that are held `now` from here on, but none of `apart`; all that are kept.

        The file is opened only where it holds others too: most starts need no library for it.
        """
        apart, text = frozenset(apart), self._text()
        fresh = with_those_of_now((), now, apart)
        if holds(text, fresh, self._sealer) if text else not fresh:
            return fresh
        after = with_those_of_now(self.read(), now, apart)
        if not holds(text, after, self._sealer):
            self.write(after)
        return after

    def write(self, kept: Sequence[Kept]) -> None:
        """In one step: a reader finds the file before or after it, never half of one. Errors: StoreError."""
        with in_words(self._path), alone_in(self._path.parent):
            replace(self._path, sealed(kept, self._sealer).encode("ascii"))

    def _text(self) -> str:
        with in_words(self._path), suppress(FileNotFoundError):
            return self._path.read_text("ascii", errors="replace")
        return ""

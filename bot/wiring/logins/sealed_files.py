"""Sealed texts in files of the data folder, each bound to its name: a file that was moved doesn't open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final

import structlog

from bot.secrets.disk import alone_in, in_words, replace
from runtime.guard.sealing import Sealer, Unsealable

log = structlog.get_logger("mcp")

ANSWER_TIME: Final = timedelta(days=30)
"""A call that waits for longer is forgotten: its question is over by then."""
ENDING: Final = ".sealed"

MadeSealer = Callable[[], Sealer]
"""Reads the key once a text is sealed or opened: the data folder may not be there before."""


@dataclass(frozen=True, slots=True)
class SealedFile:
    """One text. Blocks. Errors: StoreError for a disk that doesn't take or give it."""

    path: Path
    sealer: MadeSealer

    def read(self) -> str | None:
        """None where there is none, and where it was sealed with another key: nobody can open it again."""
        with in_words(self.path):
            try:
                text = self.path.read_text("ascii")
                return self.sealer().open(text, self.path.name)
            except FileNotFoundError:
                return None
            except (Unsealable, UnicodeDecodeError) as error:
                log.warning("a sealed file can't be opened", file=str(self.path), reason=str(error))
                return None

    def write(self, text: str) -> None:
        with in_words(self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with alone_in(self.path.parent):
                replace(self.path, self.sealer().seal(text, self.path.name).encode("ascii"))

    def remove(self) -> bool:
        """Remove it; whether it was there."""
        with in_words(self.path):
            is_there = self.path.exists()
            self.path.unlink(missing_ok=True)
            return is_there


class SealedFolder:
    """Implements `tools.mcp.asked.held.Keep`: a sealed file for each key."""

    def __init__(self, folder: Path, sealer: MadeSealer) -> None:
        self._folder = folder
        self._sealer = sealer

    def read(self) -> Mapping[str, str]:
        return dict(self._kept())

    def _kept(self) -> Iterator[tuple[str, str]]:
        for path in self._folder.glob(f"*{ENDING}"):
            if path.stat().st_mtime < time.time() - ANSWER_TIME.total_seconds():
                path.unlink(missing_ok=True)
            elif text := SealedFile(path, self._sealer).read():
                key, _, kept = text.partition("\n")
                yield key, kept

    def write(self, key: str, text: str) -> None:
        self._file(key).write(f"{key}\n{text}")

    def remove(self, key: str) -> None:
        self._file(key).remove()

    def _file(self, key: str) -> SealedFile:
        return SealedFile(self._folder / f"{sha256(key.encode()).hexdigest()[:32]}{ENDING}", self._sealer)

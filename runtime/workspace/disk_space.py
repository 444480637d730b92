"""Bounds of disk: of a room's files, of what one person sends, and the free disk that is never used up.

A folder is walked when it is first asked about, after a command, and before anything is refused; in between only what was
written is added. A walk ends at the bound, so a big tree costs no more than a full room.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtime.contract import Shortage
from runtime.text.words import marked

ENTRY: Final = 4096  # bytes that a file or folder counts at least, however little it holds
BLOCK: Final = 512  # bytes; stat(2), st_blocks
FEW_FILES: Final = 10_000  # inodes that stay free, as bytes do
MIB: Final = 1 << 20
NO_ROOM_FOR_FILES: Final = marked("Signalbox's disk has no room for more files.")
ROOM_IS_FULL: Final = marked("This room's files have reached their limit of {most} MiB. Remove some.")
PERSON_IS_FULL: Final = marked(
    "This person's files have reached the limit of {most} MiB across all rooms. Remove some."
)
NEARLY_FULL: Final = marked(
    "Signalbox's disk is nearly full: {free} MiB are free, and {least} MiB must stay free. I won't write anything until there is space."
)


@dataclass(frozen=True, slots=True)
class DiskBounds:
    """In bytes: a room's files, the files that a person sent, and the disk that must stay free."""

    room: int = 2048 * MIB
    person: int = 4096 * MIB
    free: int = 256 * MIB


class DiskSpace:
    """Implements `contract.Space`. `ledger` is a folder that keeps what people sent, over restarts."""

    def __init__(self, bounds: DiskBounds, ledger: Path) -> None:
        self._bounds = bounds
        self._ledger = ledger
        self._used: dict[Path, int] = {}
        self._sent: dict[str, int] = {}
        self._arriving: dict[str, int] = {}
        self._pages = asyncio.Lock()

    async def shortage(self, folder: Path, person: str = "") -> Shortage | None:
        if short := self._short_of_disk(folder):
            return short
        if folder not in self._used or self._used[folder] >= self._bounds.room:
            await self.recount(folder)
        if person and (person not in self._sent or self._of(person) >= self._bounds.person):
            async with self._pages:
                self._sent[person] = await asyncio.to_thread(self._still_there, person)
        return self.add(folder, 0, person)

    async def recount(self, folder: Path) -> Shortage | None:
        self._used[folder] = await asyncio.to_thread(used_by, folder, self._bounds.room)
        return self._short_of_disk(folder) or self.add(folder, 0)

    def add(self, folder: Path, size: int, person: str = "") -> Shortage | None:
        if folder in self._used:
            self._used[folder] += max(0, size)
        if person:
            self._arriving[person] = max(0, self._arriving.get(person, 0) + size)
        if size > 0 and (short := self._short_of_disk(folder)):
            return short
        if self._used.get(folder, 0) >= self._bounds.room:
            return Shortage(ROOM_IS_FULL.format(most=f"{self._bounds.room // MIB:,}"))
        if person and self._of(person) >= self._bounds.person:
            return Shortage(PERSON_IS_FULL.format(most=f"{self._bounds.person // MIB:,}"))
        return None

    def left(self, folder: Path) -> int:
        return max(0, self._bounds.room - self._used.get(folder, 0))

    async def keep(self, file: Path, size: int, person: str) -> None:
        if not person:
            return
        async with self._pages:
            await asyncio.to_thread(self._note, person, file, size)
            self._sent[person] = self._sent.get(person, 0) + max(size, ENTRY)
        self.add(file.parent, -size, person)

    def _of(self, person: str) -> int:
        return self._sent.get(person, 0) + self._arriving.get(person, 0)

    def _short_of_disk(self, folder: Path) -> Shortage | None:
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if disk.f_files and disk.f_favail < FEW_FILES and self._bounds.free:
            return Shortage(NO_ROOM_FOR_FILES, everywhere=True)
        if free >= self._bounds.free:
            return None
        return Shortage(
            NEARLY_FULL.format(free=f"{free // MIB:,}", least=f"{self._bounds.free // MIB:,}"),
            everywhere=True,
        )

    def _note(self, person: str, file: Path, size: int) -> None:
        self._ledger.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._page(person).open("a", encoding="utf-8", errors="surrogateescape") as page:
            page.write(f"{size} {str(file)!a}\n")

    def _still_there(self, person: str) -> int:
        """Count what is left of a person's files, and forget the rest."""
        page = self._page(person)
        left = dict(_entries(page))
        if left or page.exists():
            fresh = page.with_suffix(".new")
            fresh.write_text("".join(f"{size} {file!a}\n" for file, size in left.items()), encoding="utf-8")
            fresh.replace(page)
        return sum(max(size, ENTRY) for size in left.values())

    def _page(self, person: str) -> Path:
        return ledger_page(self._ledger, person)


def ledger_page(ledger: Path, person: str) -> Path:
    """The file that keeps what one person sent."""
    return ledger / hashlib.sha256(person.encode()).hexdigest()[:32]


def _entries(page: Path) -> Iterator[tuple[str, int]]:
    """Each file that is still there with its size; the last word counts of one that was sent again under its name."""
    with suppress(FileNotFoundError):
        for line in page.read_text(encoding="utf-8").splitlines():
            size, _, quoted = line.partition(" ")
            with suppress(ValueError):  # a line that a kill cut
                file = quoted[1:-1].encode().decode("unicode_escape")
                if os.path.lexists(file):
                    yield file, int(size)


def used_by(folder: Path, most: int) -> int:
    """Bytes on disk of all that is in `folder`; `most` once it is that much, or where a folder in it hides what it holds."""
    total, waiting = 0, [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        total += max(ENTRY, entry.stat(follow_symlinks=False).st_blocks * BLOCK)
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                    if total >= most:
                        return most
        except (FileNotFoundError, NotADirectoryError):  # gone since it was listed
            continue
        except OSError:  # nobody may read it, or its path is too long: it could hold anything
            return most
    return total

"""Small disks that a test fills up: a tmpfs, mounted where we are root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

MIB: Final = 1 << 20  # bytes
SMALL: Final = 64  # MiB
FILLER: Final = "filler"


class Disk:
    """A file system of its own at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self) -> None:
        """Use all of it up, to the last byte, so that what is there cannot grow."""
        with (self.path / FILLER).open("ab", buffering=0) as file:
            for size in (MIB, 4096, 1):
                with suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass

    def free(self) -> None:
        (self.path / FILLER).unlink(missing_ok=True)


@contextmanager
def small_disk(path: Path, mib: int = SMALL, mode: str = "711") -> Iterator[Disk]:
    """A skip says why there can be none: mounting needs root."""
    path.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode={mode}", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("a disk of a few MiB can only be mounted by root")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)

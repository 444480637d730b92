"""Keeps the program of a commit for the test of two versions: `python -m tests.upgrades.keep [COMMIT]`.

What its wheel holds, but for what no node needs to run; packed as one, it takes half of the wheel's room.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PROGRAMS: Final = Path(__file__).parent / "programs"
FOLDERS: Final = ("adapters", "bot", "config", "runtime", "signalbox", "tools")
NOT_NEEDED: Final = (".po", "grafana.json")


def main(commit: str) -> None:
    date = _git("log", "-1", "--format=%cs", commit).decode().strip()
    name = _git("rev-parse", "--short=8", commit).decode().strip()
    PROGRAMS.mkdir(exist_ok=True)
    with (
        tarfile.open(fileobj=io.BytesIO(_git("archive", commit, *FOLDERS))) as given,
        tarfile.open(PROGRAMS / f"{date}-{name}.tar.xz", "w:xz", preset=9) as kept,
    ):
        for one in given.getmembers():
            if one.isfile() and not one.name.endswith(NOT_NEEDED):
                kept.addfile(one, given.extractfile(one))


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "HEAD")

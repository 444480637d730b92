"""Folders of other bots, as these wrote them themselves; `homes/README.md` says how."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

HOMES: Final = Path(__file__).parent / "homes"
NAMES: Final = ("openclaw", "hermes", "nanobot", "langbot")
DUMP: Final = ".sql"
VARIABLES: Final = "dot-env"


def home_of(name: str, into: Path) -> Path:
    """A folder of that bot below `into`: databases are made of their dumps, and hidden files get their names."""
    (recorded,) = (one for one in HOMES.iterdir() if one.name.startswith(f"{name}-"))
    made = into / name
    shutil.copytree(recorded, made)
    for dump in [*made.rglob(f"*{DUMP}")]:
        with closing(sqlite3.connect(dump.with_suffix(""))) as database:
            database.executescript(dump.read_text(encoding="utf-8"))
        dump.unlink()
    for file in [*made.rglob(VARIABLES)]:
        file.rename(file.with_name(".env"))
    return made

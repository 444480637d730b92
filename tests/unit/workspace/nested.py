"""Folders below each other, deeper than a path reaches."""

from __future__ import annotations

import os
from pathlib import Path

from runtime.workspace.safe_fs import OPEN_FOLDER


def nested(folder: Path, name: str, depth: int) -> None:
    """Makes `depth` folders of one name below each other, each in the one above it, and a file in the last."""
    above = os.open(folder, OPEN_FOLDER)
    for _ in range(depth):
        os.mkdir(name, dir_fd=above)
        below = os.open(name, OPEN_FOLDER, dir_fd=above)
        os.close(above)
        above = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=above))
    os.close(above)

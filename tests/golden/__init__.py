"""Payloads that a person can read, kept beside the tests that make them.

`SAMPLE` has every construct of Markdown once. A test hands what its code makes of it to `same_as`, which compares it
with the file of that name; a file that is to change is written anew by a run with UPDATE_GOLDEN=1, and read in the diff.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SAMPLE: Final = (Path(__file__).parent / "sample.md").read_text(encoding="utf-8")


def same_as(file: Path, made: str) -> None:
    """Compare `made` with what `file` holds. `file` ends in the kind of its text: `.json`, `.txt`, `.html`."""
    text = made.rstrip("\n") + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    assert file.exists(), f"{file} is missing: run with UPDATE_GOLDEN=1, and read what it wrote"
    assert text == file.read_text(encoding="utf-8"), f"{file.name} differs: if it should, run with UPDATE_GOLDEN=1"

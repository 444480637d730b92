"""Skills for tests, made in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

NOTES: Final = """---
name: notes
description: Writes release notes. Use when people ask for release notes or a changelog.
metadata:
  signalbox-keywords: changelog
---
Name the version first.
"""


def skill_in(place: Path, name: str = "notes", text: str = NOTES, files: Mapping[str, str] | None = None) -> Path:
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    for path, content in (files or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def head(**fields: str) -> str:
    """A SKILL.md with these fields, each as YAML writes it."""
    return "---\n" + "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items()) + "---\nDo it.\n"

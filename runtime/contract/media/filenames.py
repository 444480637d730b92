"""Names of files as people and platforms give them, made harmless."""

from __future__ import annotations

import unicodedata
from typing import Final

NAME_BYTES: Final = 120
"""Well below the 255 that file systems take, with room for a number."""

UPLOADS: Final = "uploads"
"""The folder of a workspace for files that were uploaded on the page."""
PARTIAL: Final = ".upload-"
"""Begins the name of a file there that is still on its way."""
INBOX: Final = "inbox"
"""The folder of a workspace for files that came with messages: in folders of their own, the newest day last."""


def clean_name(name: str) -> str:
    """A harmless file name like `name`: no folders, no control characters, not hidden, not too long."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    name = "".join(character for character in name if unicodedata.category(character)[0] != "C")
    name = " ".join(name.split()).strip(" .") or "file"
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 12:
        stem, ending = name, ""
    room = NAME_BYTES - len((dot + ending).encode())
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip() + (dot + ending if ending else "")

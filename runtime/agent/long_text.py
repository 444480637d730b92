"""Final texts too long for a chat, written to a file before they are committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import structlog

from runtime.contract import Address, Content, Fetch, FileRef, NewId, RunId
from runtime.workspace.workspaces import SessionWorkspaces

log = structlog.get_logger("files")

FOLDER: Final = "replies"
NAME: Final = "reply.md"


class LongForm(StrEnum):
    """How a long final text is shown."""

    PARTS = "parts"  # in as many messages as it takes
    FILE = "file"  # its begin, and a file with all of it, where the channel carries files


@dataclass(frozen=True, slots=True)
class LongText:
    """Makes a file of a final text of more than `characters`."""

    workspaces: SessionWorkspaces
    new_id: NewId
    files_of: Callable[[Address], Fetch | None] = lambda _: None
    form: LongForm = LongForm.PARTS
    characters: int = 12_000

    async def content(self, address: Address, run: RunId, text: str) -> Content:
        """`text` as what a delivery says. A repeat after a kill writes the same file again."""
        if self.form is LongForm.PARTS or len(text) <= self.characters or self.files_of(address) is None:
            return Content(text)
        try:
            return Content(text, text_file=await asyncio.to_thread(self._written, address, run, text))
        except OSError as error:  # a full disk, or a tool made a link of the folder: the text goes in parts
            log.warning("a long reply goes in parts", reason=str(error))
            return Content(text)

    def _written(self, address: Address, run: RunId, text: str) -> FileRef:
        path, arriving = f"{FOLDER}/{run}.md", self.workspaces.arriving(self.new_id())
        try:
            size = arriving.write_bytes(text.encode("utf-8", "replace"))
            self.workspaces.keep(address, path, arriving)
        finally:
            arriving.unlink(missing_ok=True)
        return FileRef(NAME, path, size)

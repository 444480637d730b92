"""Files of texts that a model is sent only in part, so that its tools may read the rest."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import structlog

from runtime.contract import Address, NewId, Space
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("files")

PIECE_CHARS: Final = 1 << 20
"""Characters that are encoded at once."""


class WholeTexts:
    """Writes them into the workspace of their conversation, as far as `space` allows."""

    def __init__(self, new_id: NewId, space: Space) -> None:
        self._new_id = new_id
        self._space = space

    async def keep(self, into: WorkspaceFolders, address: Address, path: str, text: str) -> bool:
        """Make sure that the file `path` is there. False where there is no space for it, or a tool stands in the way."""
        try:
            if await asyncio.to_thread(into.has, address, path):
                return True
            folder = into.folder(address)
            if short := await self._space.shortage(folder):
                log.warning("a long text has no file", reason=short.words)
                return False
            size = await asyncio.to_thread(self._write, into, address, path, text)
        except OSError as error:
            log.warning("a long text has no file", reason=str(error))
            return False
        self._space.add(folder, size)
        return True

    def _write(self, into: WorkspaceFolders, address: Address, path: str, text: str) -> int:
        """Write all of it under another name first, so that a kill leaves no half of it."""
        arriving: Path = into.arriving(self._new_id())
        try:
            with arriving.open("wb") as file:
                for at in range(0, len(text), PIECE_CHARS):
                    file.write(text[at : at + PIECE_CHARS].encode("utf-8", "replace"))
                size = file.tell()
            into.keep(address, path, arriving)
        finally:
            arriving.unlink(missing_ok=True)
        return size

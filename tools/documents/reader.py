"""Starts the process that reads a document, and takes its text."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.documents import program
from tools.kit.process import Ended, capture

READING_TIMEOUT: Final = timedelta(seconds=40)
DOCUMENTS_AT_ONCE: Final = 2
"""Each takes a processor, and up to 1 GiB of addresses."""
DOCUMENT_MAX_BYTES: Final = 50 << 20
TEXT_USUAL_CHARS: Final = 20_000
MARKS_CHARS: Final = 20_000
"""Room for what is said between the parts of a text."""
READING_GAVE_UP: Final = frozenset({program.EXIT_TOO_LARGE, 128 + signal.SIGXCPU, 128 + signal.SIGKILL})


class DocumentReader:
    """Reads documents, a few at once."""

    def __init__(self, deadline: timedelta = READING_TIMEOUT) -> None:
        self._deadline = deadline
        self._places = asyncio.Semaphore(DOCUMENTS_AT_ONCE)

    async def read(
        self,
        descriptor: int,
        name: str,
        *,
        media: str = "",
        pages: str = "",
        most: int = TEXT_USUAL_CHARS,
        headed: bool = False,
    ) -> str:
        """The text of an open file. `name` and `media` tell its kind where its bytes don't; `headed` marks parts as headings.

        Errors: ToolFailed, in words for the model.
        """
        order = {
            "descriptor": descriptor,
            "name": name,
            "media": media,
            "pages": pages,
            "most": most,
            "headed": headed,
            "seconds": max(int(self._deadline.total_seconds()), 1),
        }
        argv = [sys.executable, "-I", program.__file__, json.dumps(order)]
        limit = 2 * (most + MARKS_CHARS)  # head and tail of the output; it fits into the head alone
        async with self._places:
            try:
                ended = await capture(
                    argv, cwd=Path("/"), deadline=self._deadline, limit=limit, pass_fds=(descriptor,), quiet=True
                )
            except OSError as error:
                raise ToolFailed(
                    f"The document can't be read: no process can be started ({error.strerror})."
                ) from error
        return self._told(ended)

    async def read_bytes(
        self,
        data: bytes,
        name: str,
        *,
        media: str = "",
        pages: str = "",
        most: int = TEXT_USUAL_CHARS,
        headed: bool = False,
    ) -> str:
        """The same of a document that came as bytes."""
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(file.write, data)
            file.seek(0)
            return await self.read(file.fileno(), name, media=media, pages=pages, most=most, headed=headed)

    def _told(self, ended: Ended) -> str:
        if ended.code == program.EXIT_UNREADABLE:
            raise ToolFailed(ended.text)
        if ended.timed_out or ended.code in READING_GAVE_UP:
            raise ToolFailed(
                f"The document is too large to be read within {self._deadline.total_seconds():g} s and 1 GiB of memory. "
                'Ask for fewer pages, such as pages="1-5", or for a smaller file.'
            )
        if ended.code != 0:
            raise ToolFailed(f"The document can't be read: what reads it ended with exit code {ended.code}.")
        return ended.text

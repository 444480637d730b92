"""Programs that a test starts itself: none is left behind, also where the test fails or its time is up."""

from __future__ import annotations

import asyncio
import subprocess
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any


class Ending(subprocess.Popen[str]):
    """As Popen, whose block waits for its end; after a fault it is killed first, since it may go on for ever."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


@asynccontextmanager
async def ending(*command: str, **more: Any) -> AsyncIterator[Process]:
    """`command` at work; what still runs at the end of the block is killed."""
    process = await asyncio.create_subprocess_exec(*command, **more)
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

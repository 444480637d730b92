"""Voice notes to words, by a program of the operator's choice: whisper.cpp, a script that asks a service, any other."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from runtime.errors import ToolFailed
from tools.files.workspace import own
from tools.kit.process import capture

PLACE: Final = "{file}"
"""Where the recording's path goes in the command; at its end where it has no such place."""

ENVIRONMENT: Final = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
"""All of it: no secret of ours is in it, and what the program needs beside can be set by `env` in the command."""

TRANSCRIPT_MAX_CHARS: Final = 100_000  # characters of what it prints
BLAMED: Final = 300  # characters of that in a failure


class CommandTranscriber:
    """Implements `contract.Transcriber`. The program prints the words; what it says on standard error is dropped.

    It gets a copy of the recording in a folder of its own, runs without a shell, and is ended with all its children
    after `timeout`. `uid` is the user as whom it runs where this process is root.
    """

    def __init__(self, command: Sequence[str], *, timeout: timedelta, uid: int) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._uid = uid

    async def transcribe(self, recording: BinaryIO, name: str) -> str:
        with TemporaryDirectory(prefix="signalbox-voice-") as folder:
            copy = Path(folder, "recording").with_suffix(Path(name).suffix)
            await asyncio.to_thread(self._lay_out, recording, copy)
            return await self._run(copy)

    def _lay_out(self, recording: BinaryIO, copy: Path) -> None:
        with copy.open("wb") as target:
            shutil.copyfileobj(recording, target)
        for path in (copy, copy.parent):
            own(path, self._uid)

    async def _run(self, copy: Path) -> str:
        argv = [part.replace(PLACE, str(copy)) for part in self._command]
        if argv == list(self._command):
            argv.append(str(copy))
        uid = self._uid if os.geteuid() == 0 else None
        try:
            ended = await capture(
                argv,
                cwd=copy.parent,
                deadline=self._timeout,
                limit=TRANSCRIPT_MAX_CHARS,
                env=ENVIRONMENT,
                quiet=True,
                uid=uid,
            )
        except OSError as error:
            raise ToolFailed(f"{argv[0]} cannot be started ({error.strerror})") from error
        if ended.timed_out:
            raise ToolFailed(f"{argv[0]} took longer than {self._timeout.total_seconds():g} seconds")
        if ended.code != 0:
            said = " ".join(ended.text.split())[-BLAMED:]
            raise ToolFailed(f"{argv[0]} ended with code {ended.code}" + (f": {said}" if said else ""))
        return ended.text.strip()

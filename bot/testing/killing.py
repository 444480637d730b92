"""Programs that are killed as a power cut kills them, to see what is left."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Final

KILLED_WITHIN: Final = 60.0
NEVER_SAID: Final = "{program} ended with code {code} before it printed {line!r}. It printed:\n{told}"
PROGRAM_FAILED: Final = "{program} ended with code {code}. It printed:\n{told}"


async def kill_when(line: str, program: Path | str, *arguments: str, within: float = KILLED_WITHIN) -> str:
    """Start a Python program, and end it with SIGKILL once it prints `line`; all that it printed until then.

    Errors: AssertionError where it ends before; TimeoutError after `within` seconds.
    """
    told = ""
    process = await _started(program, arguments)
    try:
        async with asyncio.timeout(within):
            while said := await _line(process):
                told += said
                if said.rstrip("\n") == line:
                    return told
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    raise AssertionError(NEVER_SAID.format(program=program, code=code, line=line, told=told))


async def run_program(program: Path | str, *arguments: str, within: float = KILLED_WITHIN) -> str:
    """A Python program to its end; all that it printed. Errors: AssertionError where it fails; TimeoutError."""
    process = await _started(program, arguments)
    try:
        async with asyncio.timeout(within):
            told = (await process.communicate())[0].decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise AssertionError(PROGRAM_FAILED.format(program=program, code=process.returncode, told=told))
    return told


async def _started(program: Path | str, arguments: tuple[str, ...]) -> asyncio.subprocess.Process:
    """It prints each line at once, with what it says on standard error between them."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", str(program), *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def _line(process: asyncio.subprocess.Process) -> str:
    return (await process.stdout.readline()).decode() if process.stdout else ""

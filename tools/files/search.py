"""The tool that finds lines in the files of a workspace. Why it is a process of its own: see `search_worker`."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

from runtime.contract import Effect, Flow, Reads, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from runtime.workspace.safe_fs import OPEN_FILE, OPEN_FOLDER
from tools.files import search_worker
from tools.files.workspace import opened, parts_of
from tools.kit.declare import tool
from tools.kit.process import Ended, capture

BOUND: Final = 50_000  # characters
LONGEST_PATTERN: Final = 1000  # characters
DEADLINE: Final = timedelta(seconds=15)


@tool(effect=Effect.READ, output_bound=BOUND, flow=Flow(Reads.FILES, "{path}", carries={}))
async def search_files(
    pattern: Annotated[str, "Python regular expression."],
    context: ToolContext,
    path: Annotated[str, "File, or folder with all below."] = ".",
) -> str:
    """Find lines in text files, as path:line: text."""
    return await search(pattern, path, context.workspace, deadline=DEADLINE)


async def search(pattern: str, path: str, workspace: Path, *, deadline: timedelta) -> str:
    """Lines that match. Errors: ToolRetry for a bad pattern, ToolFailed when `deadline` passed."""
    if len(pattern) > LONGEST_PATTERN:
        raise ToolRetry(f"The pattern has {len(pattern):,} characters; at most {LONGEST_PATTERN:,} are searched for.")
    with opened(workspace, path) as descriptor:
        order = {
            "pattern": pattern,
            "descriptor": descriptor,
            "path": "/".join(parts_of(path)),
            "flags": OPEN_FILE,
            "folder_flags": OPEN_FOLDER,
            "seconds": max(int(deadline.total_seconds()), 1),
        }
        argv = [sys.executable, "-I", "-S", search_worker.__file__, json.dumps(order)]
        ended = await capture(argv, cwd=workspace, deadline=deadline, limit=BOUND, pass_fds=(descriptor,))
    return _answer(ended, deadline)


def _answer(ended: Ended, deadline: timedelta) -> str:
    if ended.timed_out:
        slow = f"The search was stopped after {deadline.total_seconds():g} s: use a simpler pattern or a narrower path."
        raise ToolFailed(f"{slow} Found so far:\n{ended.text}" if ended.text else slow)
    if ended.code == search_worker.BAD_PATTERN:
        raise ToolRetry(f"The pattern is not a valid regular expression: {ended.text}.")
    if ended.code != 0:
        raise ToolFailed(f"The search failed: {ended.text or f'exit code {ended.code}'}")
    return ended.text or "No line matches."

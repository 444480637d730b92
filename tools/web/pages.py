"""HTML as text that people and models read. Why it is made in a process of its own: see `page_worker`."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.kit.process import capture

WORKER: Final = Path(__file__).with_name("page_worker.py")  # not imported: its libraries stay out of this process
DEADLINE: Final = timedelta(seconds=20)
GAVE_UP: Final = frozenset(
    {4, 128 + signal.SIGXCPU, 128 + signal.SIGKILL}
)  # its memory, its time, or both of a machine
BEYOND: Final = 2  # links and tables make Markdown longer than its text, seldom more than this many times


async def readable(html: str, *, url: str, most: int, deadline: timedelta = DEADLINE) -> str:
    """The page at `url` as Markdown, at least the first `most` characters of it.

    Errors: ToolFailed when that takes longer than `deadline`, or all the memory it may have.
    """
    with tempfile.TemporaryFile() as page:
        page.write(html.encode(errors="replace"))
        page.seek(0)
        order = {
            "descriptor": page.fileno(),
            "url": url,
            "most": most,
            "seconds": max(int(deadline.total_seconds()), 1),
        }
        argv = [sys.executable, "-I", str(WORKER), json.dumps(order)]
        limit = max(most, 1000) * 2 * (BEYOND + 1)  # head and tail of the output; we want the head alone
        ended = await capture(
            argv, cwd=Path("/"), deadline=deadline, limit=limit, pass_fds=(page.fileno(),), quiet=True
        )
    if ended.timed_out or ended.code in GAVE_UP:
        raise ToolFailed(f"The page is too complex to be read as text within {deadline.total_seconds():g} s.")
    if ended.code != 0:
        raise ToolFailed(f"The page could not be read as text: what reads pages ended with exit code {ended.code}.")
    return ended.text

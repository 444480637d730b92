"""Starts the process that renders, and takes its text.

A process and not a thread: no thread can be ended from outside, and three nested loops, or a text that doubles itself
forty times, would hold this process for good. A process is bounded in time and memory, and killed.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from runtime.contract import Json
from runtime.templating.order import Order, Piece
from runtime.templating.sheet import Sheet, TemplateError

PROGRAM: Final = Path(__file__).with_name("program.py")  # not imported: its library stays out of this process
DEADLINE: Final = timedelta(seconds=20)  # a hundredth of it is needed; a machine at full load must not fail reports
PROCESSOR: Final = timedelta(seconds=5)
RENDERERS_AT_ONCE: Final = 2
EXIT_BROKEN: Final = 3
"""Exit code: out of memory."""


class Renderer:
    """Renders templates, a few at once. `processor` bounds the time that one may work, `deadline` the time it may take."""

    def __init__(self, *, processor: timedelta = PROCESSOR, deadline: timedelta = DEADLINE) -> None:
        self._processor = processor
        self._deadline = deadline
        self._places = asyncio.Semaphore(RENDERERS_AT_ONCE)

    async def text(self, sheet: Sheet, order: Order) -> str:
        """The Markdown. Errors: TemplateError with the line."""
        return str((await self._told(sheet, order))["text"])

    async def check(self, sheet: Sheet, at: datetime) -> None:
        """Read it without rendering it. Errors: TemplateError for what is no template, and for names that nothing has."""
        data = {call.name: Piece(call.tool, "") for call in sheet.data}
        charts = {chart.name: chart.arguments for chart in sheet.charts}
        now = at.isoformat()
        await self._told(
            sheet,
            Order(sheet.body, sheet.above, data, expressions=charts, now=now, planned_at=now, only_check=True),
        )

    async def values(self, sheet: Sheet, order: Order) -> dict[str, Json]:
        """Values of the order's expressions. Errors: TemplateError names the one that is wrong."""
        found: dict[str, Json] = (await self._told(sheet, order))["values"]
        return found

    async def _told(self, sheet: Sheet, order: Order) -> dict[str, Any]:
        async with self._places:
            said, code = await self._run(sheet, order.to_json().encode())
        if code != 0 or not said:
            raise TemplateError(f"template {sheet.name}: {self._why(code)}")
        answer: dict[str, Any] = json.loads(said)
        if what := answer.get("error"):
            raise TemplateError(f"template {sheet.name}{_where(answer)}: {what}")
        return answer

    async def _run(self, sheet: Sheet, order: bytes) -> tuple[bytes, int]:
        seconds = max(int(self._processor.total_seconds()), 1)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", str(PROGRAM), str(seconds)),
                env={"LANG": "C.UTF-8"},  # no variable of ours
                cwd="/",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise TemplateError(f"template {sheet.name}: no process can be started ({error.strerror}).") from error
        try:
            async with asyncio.timeout(self._deadline.total_seconds()):
                said, _ = await process.communicate(order)
                return said, process.returncode or 0
        except TimeoutError:
            return b"", -signal.SIGXCPU
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                if process.stdout:
                    await process.stdout.read()  # `wait` would never end while some of its answer is unread
                await process.wait()

    def _why(self, code: int) -> str:
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return (
                f"it did not end within {self._processor.total_seconds():g} seconds, so it was stopped. Does it loop?"
            )
        if code == EXIT_BROKEN:
            return "it needs too much memory, so it was stopped. Does a text in it grow with each turn of a loop?"
        return f"the process that renders it ended with code {code}."


def _where(answer: dict[str, Any]) -> str:
    if place := answer.get("place"):
        return f", {place}"
    return f", line {answer['line']}" if answer.get("line") else ""

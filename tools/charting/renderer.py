"""Starts the process that draws, and takes its picture."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import BinaryIO, Final

from runtime.errors import ToolFailed
from tools.charting import program
from tools.charting.order import Order, written
from tools.kit.process import Ended, capture

DEADLINE: Final = timedelta(seconds=60)  # the first drawing reads every font of the machine, perhaps thousands
CHARTS_AT_ONCE: Final = 2  # each takes a processor and some 85 MB
PICTURE_MAX_BYTES: Final = 2 << 20  # bytes of a picture; it is below 300 kB when all is well
OUTPUT_MAX_CHARS: Final = 20_000  # characters of what the process says
SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
FONTS: Final = "fontlist-*.json"


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG. `missing` are some letters that no font of this machine has."""

    png: bytes
    missing: str = ""


class ChartRenderer:
    """Draws orders, a few at once. `cache` is a folder for the list of fonts, made when it is first needed."""

    def __init__(self, cache: Path, *, deadline: timedelta = DEADLINE) -> None:
        self._cache = cache
        self._deadline = deadline
        self._places = asyncio.Semaphore(CHARTS_AT_ONCE)

    async def draw(self, order: Order) -> Picture:
        """The picture of `order`; the same bytes for the same order on one machine. Errors: ToolFailed."""
        async with self._places:
            with (
                TemporaryDirectory(prefix="signalbox-chart-") as home,
                TemporaryFile() as paper,
                TemporaryFile() as wish,
            ):
                await asyncio.to_thread(self._lay_out, Path(home), wish, order)
                ended = await self._run(Path(home), wish, paper)
                return await asyncio.to_thread(self._take, Path(home), paper, ended)

    def _lay_out(self, home: Path, wish: BinaryIO, order: Order) -> None:
        wish.write(written(order).encode())
        wish.seek(0)
        for known in self._cache.glob(FONTS):
            shutil.copyfile(known, home / known.name)

    async def _run(self, home: Path, wish: BinaryIO, paper: BinaryIO) -> Ended:
        descriptors = (wish.fileno(), paper.fileno())
        seconds = max(int(self._deadline.total_seconds()), 1)
        argv = [sys.executable, "-I", program.__file__, *map(str, (*descriptors, seconds))]
        # All of its environment: no secret of ours, and nothing in anyone's home is read or written.
        env = {"HOME": str(home), "MPLCONFIGDIR": str(home), "MPLBACKEND": "agg", "LANG": "C.UTF-8"}
        env |= {"OPENBLAS_NUM_THREADS": "1"}  # each thread would set addresses aside, which are bounded
        try:
            return await capture(
                argv, cwd=home, deadline=self._deadline, limit=OUTPUT_MAX_CHARS, pass_fds=descriptors, env=env
            )
        except OSError as error:
            raise ToolFailed(f"The chart couldn't be drawn: no process can be started ({error.strerror}).") from error

    def _take(self, home: Path, paper: BinaryIO, ended: Ended) -> Picture:
        if ended.timed_out:
            raise ToolFailed(f"The chart was not drawn within {self._deadline.total_seconds():g} s. Draw fewer points.")
        paper.seek(0)
        png = paper.read(PICTURE_MAX_BYTES + 1)
        if ended.code != 0 or not png.startswith(SIGNATURE) or len(png) > PICTURE_MAX_BYTES:
            raise ToolFailed(f"The chart couldn't be drawn: {_last_line(ended.text) or f'exit code {ended.code}'}.")
        self._keep(home)
        return Picture(png, json.loads(_last_line(ended.text))["missing"])

    def _keep(self, home: Path) -> None:
        """Keep a list of fonts that is whole; the process may be killed while it writes one, so it never writes ours."""
        for found in home.glob(FONTS):
            kept = self._cache / found.name
            if not kept.exists():
                self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
                half = kept.with_suffix(f".{os.getpid()}")
                shutil.copyfile(found, half)
                half.replace(kept)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]

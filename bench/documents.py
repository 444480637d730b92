"""Reading documents: the processor time and the memory of the process that reads one.

The PDFs are drawn by matplotlib, 40 lines a page; the workbook is written by openpyxl. Memory is the most that the process
held, as the operating system counts it, in MB of 10^6 bytes. Nothing of it stays in the server: the libraries are loaded in
that process alone, which `tests/unit/bot/cli/test_cli.py` holds.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, middle
from tools.documents import program
from tools.documents.reader import READING_TIMEOUT, TEXT_USUAL_CHARS

PAGES: Final = 100
LINES: Final = 40
ROWS: Final = 10_000
PACK_CHARS: Final = 2_000_000
ROUNDS: Final = 2
ENDS_SECONDS: Final = 2.0
"""For both ends of 100 pages, as the agent first reads them."""
WHOLE_SECONDS: Final = 10.0
"""For all of 100 pages, as a pack reads them."""
MOST_MB: Final = 100.0
LOOKS_EVERY: Final = 0.01  # seconds
HIGH_WATER: Final = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass(frozen=True, slots=True)
class Reading:
    """Figures of one process."""

    seconds: float
    megabytes: float
    chars: int


async def documents(short: bool) -> list[Figure]:
    return await asyncio.to_thread(_figures, 5 if short else PAGES, 1 if short else ROUNDS)


def _figures(pages: int, rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        pdf, book = Path(name) / "report.pdf", Path(name) / "sales.xlsx"
        pdf.write_bytes(drawn(pages))
        book.write_bytes(workbook(pages * ROWS // PAGES))
        ends = [read(pdf, TEXT_USUAL_CHARS) for _ in range(rounds)]
        whole = [read(pdf, PACK_CHARS) for _ in range(rounds)]
        rows = [read(book, TEXT_USUAL_CHARS) for _ in range(rounds)]
    told = f"{whole[0].chars:,} characters"
    return [
        Figure(f"a PDF of {pages} pages, both ends", _time(ends), "s", None, at_most(ENDS_SECONDS), "of a processor"),
        Figure(f"a PDF of {pages} pages, all of it", _time(whole), "s", None, at_most(WHOLE_SECONDS), told),
        Figure(f"a PDF of {pages} pages, memory", _most(whole), "MB", None, at_most(MOST_MB), "peak of its process"),
        Figure(f"a workbook of {pages * ROWS // PAGES:,} rows", _time(rows), "s", None, at_most(WHOLE_SECONDS)),
        Figure("a workbook, memory", _most(rows), "MB", None, at_most(MOST_MB), "peak of its process"),
    ]


def _time(readings: list[Reading]) -> float:
    return middle([one.seconds for one in readings])


def _most(readings: list[Reading]) -> float:
    return max(one.megabytes for one in readings)


def drawn(pages: int) -> bytes:
    """A PDF with text on each page."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages
    from matplotlib.figure import Figure as Sheet

    file = io.BytesIO()
    with PdfPages(file) as book:
        for page in range(1, pages + 1):
            sheet = Sheet(figsize=(8, 11))
            FigureCanvasPdf(sheet)
            for line in range(LINES):
                words = f"Line {line} of page {page}: what was sold, to whom, when, and for how much."
                sheet.text(0.1, 0.95 - line * 0.022, words, fontsize=8)
            book.savefig(sheet)
    return file.getvalue()


def workbook(rows: int) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sales")
    for row in range(rows):
        sheet.append([f"R{row}", row, row * 1.5, "sold", "2026-05-01"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def read(path: Path, most: int) -> Reading:
    """Read a document in its process, as the tool does."""
    with path.open("rb") as file:
        order = {
            "descriptor": file.fileno(),
            "name": path.name,
            "media": "",
            "pages": "",
            "most": most,
            "headed": False,
            "seconds": int(READING_TIMEOUT.total_seconds()),
        }
        argv = [sys.executable, "-I", program.__file__, json.dumps(order)]
        process = subprocess.Popen(argv, pass_fds=(file.fileno(),), stdout=subprocess.PIPE, env={})
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(_most_held, process.pid)
            assert process.stdout
            text = process.stdout.read().decode()
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{path.name} was not read: {text}")
    return Reading(used.ru_utime + used.ru_stime, held.result(), len(text))


def _most_held(pid: int) -> float:
    """The most memory of a process, in MB, looked at until it ends. What the system counts of its end has ours in it."""
    most = 0
    with suppress(OSError):
        while found := HIGH_WATER.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8")):
            most = max(most, int(found[1]))
            time.sleep(LOOKS_EVERY)
    return most * 1024 / 1e6

"""Terms of the browser: its program, its bounds, and where its bubblewrap and Chromium are found."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.browser.walls import HOME, Walls, order_of
from tools.sandbox.bubblewrap import FILTER_TEST, SANDBOX_TRIAL_TIMEOUT, SEALED, find, obstacle
from tools.sandbox.sandbox import launch

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
"""Names under which systems have it, as tests/setup.sh chromium looks for it."""
NO_PLAYWRIGHT: Final = 'The browser needs the extra "browser": pip install "signalbox-bot[browser]", then restart.'
NO_CHROMIUM: Final = "There is no Chromium on this machine: install the package chromium, or set chromium in [tools.browser] to its path."
SELF_TEST: Final = f"""
for place in / /usr /etc /dev /proc; do
    if (echo x > $place/.signalbox) 2>/dev/null; then echo "$place can be written"; exit 11; fi
done
[ $$ -lt 20 ] || {{ echo "processes of others are there"; exit 12; }}
for place in /root /home /workspace /var; do
    if [ -e "$place" ]; then echo "$place is there"; exit 13; fi
done
{FILTER_TEST}
echo x > {HOME}/proof || {{ echo "its home cannot be written"; exit 15; }}
echo {SEALED}
"""


@dataclass(frozen=True, slots=True)
class BrowserTerms:
    """`chromium` is the program; None: the first of PROGRAMS that there is. `uid` is whom it runs as where we are root."""

    chromium: Path | None = None
    uid: int = 65534
    memory_mib: int = 1024
    idle: timedelta = timedelta(minutes=10)
    sessions: int = 5
    load: timedelta = timedelta(seconds=30)

    @property
    def program(self) -> Path | None:
        named = [str(self.chromium)] if self.chromium else PROGRAMS
        return next((Path(found) for name in named if (found := shutil.which(name))), None)


def trouble_of(terms: BrowserTerms) -> str:
    """The reason for which there can be no browser, as far as looking tells; empty where there is none."""
    if importlib.util.find_spec("playwright") is None:
        return NO_PLAYWRIGHT
    if terms.program is None:
        return f"{terms.chromium} is no program: set chromium in [tools.browser]." if terms.chromium else NO_CHROMIUM
    return ""


async def walls_of(terms: BrowserTerms) -> Walls:
    """Walls that were tried just now. Errors: ToolFailed says why there can be none, and what helps."""
    program = await asyncio.to_thread(lambda: terms.program)
    if trouble := await asyncio.to_thread(trouble_of, terms):
        raise ToolFailed(trouble)
    assert program is not None  # noqa: S101 - no trouble was found
    reasons = []
    for bwrap in [] if os.geteuid() == 0 == terms.uid else await asyncio.to_thread(find):
        walls = Walls(bwrap, program, terms.uid)
        if not (reason := await _failing(walls)):
            return walls
        reasons.append(f"{bwrap.program.name}: {reason}")
    raise ToolFailed(f"The browser is off, because it never runs without a sandbox: {obstacle(reasons)}")


async def _failing(walls: Walls) -> str:
    order = order_of(walls)
    order["argv"][-1:] = ["/bin/sh", "-c", SELF_TEST]
    with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
        ended = await launch(order, Path(folder), deadline=SANDBOX_TRIAL_TIMEOUT, limit=2000)
    return "" if ended.code == 0 and ended.text.strip() == SEALED else ended.text.strip() or f"exit code {ended.code}"

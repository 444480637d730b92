"""A real SIGKILL of whoever started a program: nothing of it is left behind."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.fakes.forked import forked
from tests.fakes.serve import ROOT
from tests.unit.tools.processes import gone, started
from tools.sandbox.bubblewrap import Bubblewrap


async def test_no_program_outlives_a_kill_of_its_node(bubblewrap: Bubblewrap, workspace: Path) -> None:
    command = "setsid sleep 4261 & (sleep 4262 &) ; nohup sleep 4263"
    module = "tests.unit.tools.started.holder"
    async with forked(module, str(workspace), command, folder=ROOT) as process:
        assert await process.stdout.readline() == b"started\n"
        for mark in ("4261", "4262", "4263"):
            await started(mark)
        process.send_signal(signal.SIGKILL)
        for mark in ("4261", "4262", "4263"):
            await gone(mark)

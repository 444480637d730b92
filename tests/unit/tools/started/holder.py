"""A process of its own that starts a program in the sandbox and waits: for a test that kills it."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from tools.processes.program import Program
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings


async def main(workspace: Path, command: str) -> None:
    order = await Bubblewrap(ShellSettings()).order(command, workspace, seconds=60)
    program = await Program.start(order, workspace)
    sys.stdout.write("started\n")
    sys.stdout.flush()
    await program.run(timedelta(minutes=1))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

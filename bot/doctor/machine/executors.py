"""Executors of agents: each program is started once, and canned results in tools' place are told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from bot.doctor.subject import Subject, fine, warning
from bot.settings.agents.tables import AgentTable
from bot.settings.settings import Settings
from runtime.contract import Finding
from runtime.errors import ToolFailed

if TYPE_CHECKING:
    from tools.programs.life import ProgramLife

START_SECONDS: Final = 20.0
STAYS_SECONDS: Final = 1.0
MOCKED: Final = "tools give the canned results of {file}"


async def check_executors(subject: Subject) -> Sequence[Finding]:
    found = [await _started(subject.settings, table) for table in subject.settings.agents if table.program.command]
    if file := subject.settings.tools.mock:
        why = "No tool does anything, whatever people approve."
        found.append(warning("tools.mock", MOCKED.format(file=file), why, "remove tools.mock once all was tried"))
    return found


async def _ended_at_once(life: ProgramLife) -> str:
    """Words of a program that can't be read or run; empty for one that is still there after a second."""
    with suppress(TimeoutError):
        async with asyncio.timeout(STAYS_SECONDS):
            while not life.is_over:  # noqa: ASYNC110 - its process tells nobody
                await asyncio.sleep(0.05)
    return f"it ended at once; {life.complaint()}" if life.is_over else ""


async def _started(settings: Settings, table: AgentTable) -> Finding:
    from bot.wiring.models.executors import terms_of
    from tools.mcp.errors import NoServer
    from tools.programs.life import begun

    ident, program = f"executors.{table.name}", terms_of(settings, table.name, table.manifest.executor)
    fault = ""
    try:
        async with asyncio.timeout(START_SECONDS):
            life = await begun(program)
    except (NoServer, ToolFailed, OSError) as error:
        fault = str(error)
    except TimeoutError:
        fault = f"it did not start within {START_SECONDS:g} seconds"
    else:
        fault = await _ended_at_once(life)
        await life.end()
    if fault:
        return warning(
            ident, fault, f"{table.name} answers nobody.", "see docs/executors.md; its command is agents[].program"
        )
    return fine(ident, f"{program} starts")

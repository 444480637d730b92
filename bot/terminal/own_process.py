"""A Signalbox for a command: the one that runs, else one in this process for as long as it is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.terminal.options import hide_secrets, reachable

if TYPE_CHECKING:
    from bot.node.lock import Control
    from bot.settings.settings import Settings


@asynccontextmanager
async def somebody(settings: Settings) -> AsyncIterator[Control]:
    """The running process; where there is none, one that runs here inside the block."""
    if control := await reachable(settings):
        yield control
        return
    async with own_process(settings) as control:
        yield control


@asynccontextmanager
async def own_process(settings: Settings) -> AsyncIterator[Control]:
    """A Signalbox in this process, on any free port, without accounts on platforms. It has drained after the block."""
    from bot.server.process import serving
    from bot.telemetry import logs

    settings = settings.with_secrets()
    hide_secrets(settings)
    logs.configure("warning", settings.log.format, settings.secret_values())
    logs.tell_skipped(settings.chain.skipped)
    async with serving(settings.for_one_question(), with_link=False) as ready:
        yield ready.control

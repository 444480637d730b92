"""`signalbox acp`: agents in an editor, over the Agent Client Protocol on standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import typer

from bot.terminal.options import ConfigFile, hide_secrets, settings_of
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.node.lock import Control
    from bot.settings.settings import Settings

ACP_NOT_INSTALLED: Final = (
    "The package that speaks the Agent Client Protocol is not installed ({name} is missing). "
    'Install it: pip install "signalbox-bot[acp]"'
)


def add_to(cli: typer.Typer) -> None:
    cli.command()(acp)


def acp(context: typer.Context, config: ConfigFile = None) -> None:
    """Be an agent for an editor that speaks the Agent Client Protocol, such as Zed: it starts this itself."""
    settings = settings_of(context, config)
    try:
        from bot.doors.acp.stdio import serve_editor
    except ModuleNotFoundError as error:
        raise ConfigError(ACP_NOT_INSTALLED.format(name=error.name)) from error
    asyncio.run(serve_editor(settings, _own))


@asynccontextmanager
async def _own(settings: Settings) -> AsyncIterator[Control]:
    """A Signalbox in this process: it answers this editor, on any free port."""
    from bot.server.process import serving
    from bot.telemetry import logs

    settings = settings.with_secrets()
    hide_secrets(settings)
    logs.configure("warning", settings.log.format, settings.secret_values())
    logs.tell_skipped(settings.chain.skipped)
    async with serving(settings.for_one_question(), with_link=False) as ready:
        yield ready.control

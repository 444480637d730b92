"""`signalbox acp`: agents in an editor, over the Agent Client Protocol on standard input and output."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import typer

from bot.terminal.options import ConfigFile, settings_of
from bot.terminal.own_process import own_process
from runtime.errors import ConfigError

ACP_NOT_INSTALLED: Final = (
    "The package that speaks the Agent Client Protocol is not installed ({name} is missing). "
    'Install it: pip install "signalbox-bot[acp]"'
)


def add_to(cli: typer.Typer) -> None:
    cli.command()(acp)


def acp(
    context: typer.Context,
    skip_mcp: Annotated[
        bool, typer.Option("--skip-mcp", help="Begin sessions without the MCP servers that the editor hands over.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Be an agent for an editor that speaks the Agent Client Protocol, such as Zed: it starts this itself."""
    settings = settings_of(context, config)
    try:
        from bot.doors.acp.stdio import serve_editor
    except ModuleNotFoundError as error:
        raise ConfigError(ACP_NOT_INSTALLED.format(name=error.name)) from error
    asyncio.run(serve_editor(settings, own_process, skips_servers=skip_mcp))

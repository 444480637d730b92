"""`signalbox mcp serve`: agents as an MCP server on standard input and output, for editors and other programs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer

from bot.terminal.options import ConfigFile, settings_of
from runtime.errors import ConfigError

EMPTY_FILE: Final = "{file} has no token. Make one: signalbox tokens make NAME > {file}"
NONE_RUNS: Final = "No Signalbox runs with these settings."


def serve(
    context: typer.Context,
    token_file: Annotated[
        Path,
        typer.Option("--token-file", metavar="FILE", help="File that holds a token: `signalbox tokens make NAME`."),
    ],
    url: Annotated[
        str, typer.Option("--url", help="Address of a Signalbox. Without it: the one that runs with these settings.")
    ] = "",
    config: ConfigFile = None,
) -> None:
    """Be an MCP server on standard input and output, as programs start one."""
    from bot.doors.mcp.relay import relayed
    from bot.node.lock import control_of
    from bot.node.version import VERSION

    folder = settings_of(context, config).data_dir

    async def where() -> str:
        if url:
            return url.rstrip("/")
        control = control_of(folder)
        if control is None:
            raise ConnectionError(NONE_RUNS)
        return control.url

    asyncio.run(relayed(where, _token(token_file), VERSION))


def _token(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}.") from error
    if not token:
        raise ConfigError(EMPTY_FILE.format(file=file))
    return token

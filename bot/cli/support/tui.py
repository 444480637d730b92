"""`signalbox tui`: chat, approvals, outbox and runs of the running process on a whole screen."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from bot.terminal.options import ConfigFile, reachable, run, settings_of
from runtime.errors import BotError, ConfigError

TUI_NOT_INSTALLED: Final = (
    "The library that draws the screen is not installed ({name} is missing). "
    'Install it: pip install "signalbox-bot[tui]". Without it: signalbox chat'
)
NO_TERMINAL: Final = "There's no terminal to draw on. For programs: signalbox ask, and signalbox approvals list --json"

LIGHT_BACKGROUNDS: Final = ("7", "15")
"""Of the variable COLORFGBG, by which some terminals tell theirs; they keep their own colours either way."""


def add_to(cli: typer.Typer) -> None:
    cli.command()(tui)


def tui(
    context: typer.Context,
    room: Annotated[str, typer.Option("--room", help="A conversation to begin with. Without it, a new one.")] = "",
    config: ConfigFile = None,
) -> None:
    """Show the running process on a whole screen: chat, approvals, outbox and runs. Ctrl-Q leaves."""
    from bot.settings.settings import environment

    settings = settings_of(context, config)
    try:
        from bot.tui.screen import SignalboxTui
    except ModuleNotFoundError as error:
        raise ConfigError(TUI_NOT_INSTALLED.format(name=error.name)) from error
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(NO_TERMINAL)
    if run(reachable(settings)) is None:
        raise BotError(f"No Signalbox is running with data_dir {settings.data_dir}. Start it: signalbox run")
    background = environment().get("COLORFGBG", "").rpartition(";")[2]
    SignalboxTui(settings, room, is_light=background in LIGHT_BACKGROUNDS).run()

"""`signalbox tui`: chat, approvals, outbox and runs of the running process on a whole screen."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from bot.terminal.conversation import check_room
from bot.terminal.options import ConfigFile, none_running, reachable, run, settings_of
from runtime.errors import ConfigError

TUI_NOT_INSTALLED: Final = (
    "The library that draws the screen is not installed ({name} is missing). "
    'Install it: pip install "signalbox-bot[tui]". Without it: signalbox chat'
)
NO_TERMINAL: Final = "There's no terminal to draw on. For programs: signalbox ask, and signalbox approvals list --json"

DUMB_TERMINAL: Final = "This terminal can't draw a screen (TERM is {kind}). Without one: signalbox chat"
CANNOT_DRAW: Final = ("", "dumb", "unknown")
"""Values of TERM."""

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
    check_room(room)
    try:
        from bot.tui.screen import SignalboxTui
    except ModuleNotFoundError as error:
        raise ConfigError(TUI_NOT_INSTALLED.format(name=error.name)) from error
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(NO_TERMINAL)
    if (kind := environment().get("TERM", "")) in CANNOT_DRAW:
        raise ConfigError(DUMB_TERMINAL.format(kind=kind or "unset"))
    if run(reachable(settings)) is None:
        raise none_running(settings)
    background = environment().get("COLORFGBG", "").rpartition(";")[2]
    raise typer.Exit(run(SignalboxTui(settings, room, is_light=background in LIGHT_BACKGROUNDS).until_left()))

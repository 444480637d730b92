"""`signalbox hands`: agents that work by the clock, one file each."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.settings.hands.folder import HANDS_FOLDER, SHIPPED_HANDS, fault_of, hand_files, schedule_of_hand
from bot.settings.sources import read_file
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows
from runtime.errors import ConfigError

commands = typer.Typer(
    no_args_is_help=True, help="Agents that work by the clock: list, install, activate, pause, resume and check them."
)

HandName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the hand, as `hands list` shows it.")]
HAND_COLUMNS: Final = {"name": "Name", "state": "State", "when": "When", "to": "To", "about": "About"}
ACTIVE_LINE: Final = re.compile(r"^active[ \t]*=[ \t]*(?:true|false)", re.MULTILINE)
TO_LINE: Final = re.compile(r"^to[ \t]*=[ \t]*\[[^\]\n]*\]", re.MULTILINE)
RELOAD: Final = "To take it up: signalbox reload"


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="hands")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the hands that are installed, and those that may be."""
    folder = _folder(context, config)
    own = {file.stem: _row(file) for file in hand_files(folder)}
    shipped = {file.stem: {**_row(file), "state": "not installed"} for file in hand_files(SHIPPED_HANDS)}
    rows = [*own.values(), *(row for name, row in shipped.items() if name not in own)]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, HAND_COLUMNS, empty="No hands.")


@commands.command()
def install(context: typer.Context, name: HandName, config: ConfigFile = None) -> None:
    """Copy a hand that comes with Signalbox into hands/, for you to edit. It isn't active yet."""
    source, file = SHIPPED_HANDS / f"{name}.toml", _folder(context, config) / f"{name}.toml"
    if source not in hand_files(SHIPPED_HANDS):
        raise ConfigError(f"No hand called {name!r} comes with Signalbox: signalbox hands list shows them.")
    if file.exists():
        raise ConfigError(f"{file} is there already.")
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, file)
    typer.echo(clean(as_called(f"Wrote {file}. Edit it, then: signalbox hands activate {name} --to ROOM")))


@commands.command()
def activate(
    context: typer.Context,
    name: HandName,
    to: Annotated[str, typer.Option("--to", help="Address of the room for its reports.")] = "",
    config: ConfigFile = None,
) -> None:
    """Have a hand work by the clock from the next reload on."""
    file = _own(context, config, name)
    text = file.read_text(encoding="utf-8")
    if to:
        text = TO_LINE.sub(lambda _: f"to = {json.dumps([to])}", text, count=1)
    after = ACTIVE_LINE.sub("active = true", text, count=1)
    file.write_text(after, encoding="utf-8")
    try:
        settings_of(context, config)
    except ConfigError:
        file.write_text(ACTIVE_LINE.sub("active = false", text, count=1), encoding="utf-8")
        raise
    typer.echo(clean(as_called(f"{name} is active. {RELOAD}")))


@commands.command()
def pause(context: typer.Context, name: HandName, config: ConfigFile = None) -> None:
    """Pause a hand: it does nothing until it is resumed."""
    ask_operator(settings_of(context, config), lambda api: api.pause_schedule(schedule_of_hand(name)))
    typer.echo(clean(f"{name} is paused."))


@commands.command()
def resume(context: typer.Context, name: HandName, config: ConfigFile = None) -> None:
    """Let a hand work again."""
    ask_operator(settings_of(context, config), lambda api: api.resume_schedule(schedule_of_hand(name)))
    typer.echo(clean(f"{name} works again."))


@commands.command("config")
def config_(context: typer.Context, name: HandName, config: ConfigFile = None) -> None:
    """Show the file of a hand, and where it is."""
    file = _own(context, config, name)
    typer.echo(clean(f"# {file}\n{file.read_text(encoding='utf-8')}"))


@commands.command()
def check(context: typer.Context, config: ConfigFile = None) -> None:
    """Read the hands with all other settings, and tell what is wrong."""
    files = hand_files(_folder(context, config))
    typer.echo(clean(f"{len(files)} hand{'s' * (len(files) != 1)}, and nothing is wrong with them."))


def _folder(context: typer.Context, config: Path | None) -> Path:
    file = settings_of(context, config).file
    if file is None:
        raise ConfigError("There is no settings file to put hands beside: signalbox init makes one.")
    return file.parent / HANDS_FOLDER


def _own(context: typer.Context, config: Path | None, name: str) -> Path:
    folder = _folder(context, config)
    found = next((file for file in hand_files(folder) if file.stem == name), None)
    if found is None:
        raise ConfigError(f"No hand called {name!r} is in {folder}: signalbox hands install {name}")
    return found


def _row(file: Path) -> dict[str, object]:
    hand = read_file(file)
    state = fault_of(hand) or ("active" if hand.get("active") else "not active")
    return {
        "name": file.stem,
        "state": state,
        "when": hand.get("when", ""),
        "to": ", ".join(map(str, hand.get("to", []))),
        "about": hand.get("about", ""),
    }

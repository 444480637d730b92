"""`signalbox guard`: what the leak guard finds in a text, and what becomes of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, settings_of
from bot.terminal.output import clean, show_json, show_rows
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from runtime.guard.findings import Gate
    from runtime.guard.guard import Checked

commands = typer.Typer(no_args_is_help=True, help="The leak guard: try it on a text.")

FINDING_COLUMNS: Final = {"found": "Found", "detector": "By", "action": "What happens"}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="guard")


@commands.callback()
def guard() -> None:
    """The leak guard: try it on a text."""


@commands.command("test")
def try_text(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text; - reads it from standard input.")],
    gate: Annotated[
        str, typer.Option("--gate", help="Where it flows: message_in, tool_arguments, tool_result, model_reply, …")
    ] = "message_in",
    room: Annotated[str, typer.Option("--room", help="Address of the room, as in rules.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what the leak guard finds in a text, and the text as it would go on. Signalbox needn't be running.

    A secret on the command line is visible to other users of the machine: pass it on standard input.
    """
    from bot.wiring.safety.guard import guard_of, key_of

    settings = settings_of(context, config, with_secrets=True)
    key = key_of(settings.data_dir) if settings.data_dir.is_dir() else b""
    given = sys.stdin.read() if text == "-" else text
    checked = guard_of(settings, key).check(given, _gate(gate), room)
    if as_json:
        show_json({"text": checked.text, "withheld": checked.is_withheld, "findings": _rows(checked)})
        return
    show_rows(_rows(checked), FINDING_COLUMNS, empty="Nothing found.")
    if checked.findings:
        typer.echo(f"\n{clean(checked.text)}")


def _gate(name: str) -> Gate:
    from runtime.guard.findings import Gate

    try:
        return Gate(name)
    except ValueError:
        raise ConfigError(f"There is no gate {name!r}. There are: {', '.join(Gate)}.") from None


def _rows(checked: Checked) -> list[Mapping[str, Any]]:
    return [{"found": str(one), "detector": one.detector.value, "action": one.action.value} for one in checked.findings]

"""`signalbox triggers`: work that begins when something happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, WithIds, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(
    no_args_is_help=True, help="Work that begins when something happens: list, pause, resume and end it."
)

TriggerArgument = Annotated[str, typer.Argument(metavar="NAME", help="Its name, or the last characters of its id.")]
TRIGGER_COLUMNS: Final = {
    "name": "Name",
    "on": "On",
    "words": "Words",
    "state": "State",
    "fires": "Fired",
    "fired_at": "Last",
    "to": "To",
    "by": "By",
    "ends_at": "Until",
}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="triggers")


@commands.command("list")
def list_(context: typer.Context, ids: WithIds = False, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the triggers of the settings, and what people want to be told of."""
    rows = ask_operator(settings_of(context, config), lambda api: api.triggers())
    if as_json:
        show_json(rows)
        return
    columns = {"id": "Id", **TRIGGER_COLUMNS} if ids else TRIGGER_COLUMNS
    show_rows(rows, columns, empty="No triggers.")


@commands.command()
def resume(
    context: typer.Context, trigger: TriggerArgument, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Let a trigger fire again that ended, was stopped or was paused."""
    row = ask_operator(settings_of(context, config), lambda api: api.resume_trigger(trigger))
    _told(row, "is active again", as_json=as_json)


@commands.command()
def pause(context: typer.Context, trigger: TriggerArgument, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Have a trigger let events pass until it is resumed."""
    row = ask_operator(settings_of(context, config), lambda api: api.pause_trigger(trigger))
    _told(row, "is paused", as_json=as_json)


@commands.command()
def end(
    context: typer.Context,
    trigger: TriggerArgument,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """End what a person wants to be told of."""
    ask_first(yes, f"End the trigger {trigger}")
    row = ask_operator(settings_of(context, config), lambda api: api.end_trigger(trigger))
    _told(row, "has ended", as_json=as_json)


def _told(row: View, words: str, *, as_json: bool) -> None:
    if as_json:
        show_json(row)
    else:
        typer.echo(clean(f"The trigger {row['name']} {words}."))

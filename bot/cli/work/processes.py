"""`signalbox processes`: programs that agents started and that run on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import (
    AsJson,
    ConfigFile,
    InRoom,
    Last,
    Which,
    WithIds,
    Yes,
    ask_about,
    ask_first,
    ask_operator,
    settings_of,
)
from bot.terminal.output import show_json, show_rows, word

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Programs that agents started: list and stop them.")

ProcessArgument = Annotated[
    str,
    typer.Argument(
        metavar="[ID]", show_default=False, help="Its id, as `processes list` shows it, or its last characters."
    ),
]
PROCESS_COLUMNS: Final = {
    "short": "Id",
    "command": "Command",
    "state": "State",
    "exit": "Exit",
    "agent": "Agent",
    "started_at": "Started",
    "room": "Room",
    "reason": "Why",
}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="processes")


@commands.command("list")
def list_(
    context: typer.Context,
    room: InRoom = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List programs that agents started, newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.processes(room))
    if as_json:
        show_json(rows)
        return
    shown = [{**row, "short": row["id"], "room": row["address"]} if ids else row for row in rows]
    show_rows(shown, PROCESS_COLUMNS, empty="No processes.")


@commands.command()
def stop(
    context: typer.Context,
    process: ProcessArgument = "",
    last: Last = False,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Stop a program that runs."""

    async def newest(api: OperatorApi) -> Sequence[View]:
        return await api.processes()

    ask_first(yes, f"Stop {f'the process {process}' if process else 'the newest process'}")
    which = Which(process, last, "process", newest)
    row = ask_about(context, config, which, lambda api, one: api.stop_process(one))
    if as_json:
        show_json(row)
    else:
        typer.echo(word(row["told"]))

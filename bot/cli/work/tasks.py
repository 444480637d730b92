"""`signalbox tasks`: what agents work on in the background, and what waits for one."""

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
from bot.terminal.output import clean, show_facts, show_json, show_rows, word

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Tasks that agents work on: list, show, drop and retry them.")


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="tasks")


TaskArgument = Annotated[
    str,
    typer.Argument(
        metavar="[ID]", show_default=False, help="Its id, as `tasks list` shows it, or its last characters."
    ),
]
TASK_COLUMNS: Final = {
    "short": "Id",
    "title": "Task",
    "state": "State",
    "owner": "Agent",
    "attempts": "Tries",
    "by": "Asked by",
    "created_at": "Posted",
    "room": "Room",
}
TASK_FACTS: Final = {
    "id": "Id",
    "title": "Task",
    "state": "State",
    "room": "Room",
    "address": "Address",
    "agent": "For",
    "owner": "Claimed by",
    "by": "Asked by",
    "attempts": "Tries",
    "run": "Run",
    "due_at": "Due",
    "created_at": "Posted",
    "ended_at": "Ended",
}
TASK_TEXTS: Final = {"goal": "Goal", "criteria": "Done when", "input": "Input", "result": "Result"}


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[str, typer.Option("--state", help="open, claimed, done, failed or dropped.")] = "",
    room: InRoom = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List tasks, newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.tasks(state, room))
    if as_json:
        show_json(rows)
        return
    told = map(_standing, rows)
    shown = [{**row, "short": row["id"], "room": row["address"]} if ids else row for row in told]
    show_rows(shown, TASK_COLUMNS, empty="No tasks.")


@commands.command()
def show(
    context: typer.Context,
    task: TaskArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one task, with what was asked and what came of it."""
    row = ask_about(context, config, _which(task, last), lambda api, one: api.task(one))
    if as_json:
        show_json(row)
        return
    told = _standing(row)
    show_facts((title, told[name]) for name, title in TASK_FACTS.items() if told[name])
    for name, title in TASK_TEXTS.items():
        if row[name]:
            typer.echo(f"\n{title}:\n{clean(row[name])}")


@commands.command()
def drop(
    context: typer.Context,
    task: TaskArgument = "",
    last: Last = False,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Drop a task that isn't over. A run that works on it in the background ends."""
    which = _which(task, last)
    ask_first(yes, f"Drop {f'the task {task}' if task else 'the newest task'}")
    _tell(ask_about(context, config, which, lambda api, one: api.drop_task(one)), as_json)


@commands.command()
def retry(
    context: typer.Context,
    task: TaskArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Have a task that failed or was dropped done again. If Signalbox isn't running, the next start does it."""
    _tell(ask_about(context, config, _which(task, last), lambda api, one: api.retry_task(one)), as_json)


def _standing(row: View) -> View:
    return {**row, "state": "waits for an answer"} if row["asks"] else row


def _which(task: str, last: bool) -> Which:
    async def newest(api: OperatorApi) -> Sequence[View]:
        return await api.tasks()

    return Which(task, last, "task", newest)


def _tell(row: View, as_json: bool) -> None:
    if as_json:
        show_json(row)
    else:
        typer.echo(word(row["told"]))

"""`signalbox children`: work that agents handed on to others, as trees."""

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
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows, word

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Work that agents handed on: list, show and stop it.")

ChildArgument = Annotated[
    str,
    typer.Argument(
        metavar="[ID]", show_default=False, help="Its id, as `children list` shows it, or its last characters."
    ),
]
CHILD_COLUMNS: Final = {
    "short": "Id",
    "who": "Agent",
    "goal": "Work",
    "stands": "State",
    "took": "Time",
    "spent": "Cost",
    "by": "Asked by",
    "room": "Room",
}
CHILD_FACTS: Final = {
    "id": "Id",
    "agent": "Agent",
    "handed_on_by": "Handed on by",
    "stands": "State",
    "room": "Room",
    "address": "Address",
    "by": "Asked by",
    "request": "Request",
    "took": "Time",
    "spent": "Cost",
    "created_at": "Handed on",
    "deadline_at": "Until",
    "ended_at": "Ended",
}
CHILD_TEXTS: Final = {"goal": "Work", "result": "Answer"}
GOAL_WIDTH: Final = 60
BRANCH: Final = "└ "


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="children")


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[str, typer.Option("--state", help="open, done, failed, stopped or late.")] = "",
    room: InRoom = "",
    run: Annotated[str, typer.Option("--run", metavar="ID", help="Only the tree to which this run belongs.")] = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List what was handed on, the newest tree first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.handed_on(state, room, run))
    if as_json:
        show_json(rows)
        return
    _show_tree(rows, ids=ids)


@commands.command()
def show(
    context: typer.Context,
    child: ChildArgument = "",
    last: Last = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one piece of work: what was asked, what came of it, and what it handed on itself."""
    row = ask_about(context, config, _which(child, last), lambda api, one: api.child(one))
    if as_json:
        show_json(row)
        return
    told = {**as_told(row), "handed_on_by": " > ".join(row["chain"])}
    show_facts((title, told[name]) for name, title in CHILD_FACTS.items() if told[name])
    for name, title in CHILD_TEXTS.items():
        if row[name]:
            typer.echo(f"\n{title}:\n{clean(row[name])}")
    if row["below"]:
        typer.echo("\nHanded on by it:")
        _show_tree([{**one, "depth": one["depth"] - row["depth"] - 1} for one in row["below"]])


@commands.command()
def stop(
    context: typer.Context,
    child: ChildArgument = "",
    last: Last = False,
    yes: Yes = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Stop a piece of work with all that it handed on. The agent that waits for it is told, and goes on."""
    which = _which(child, last)
    ask_first(yes, f"Stop {f'the work {child}' if child else 'what was handed on last'}")
    row = ask_about(context, config, which, lambda api, one: api.stop_child(one))
    if as_json:
        show_json(row)
    else:
        typer.echo(word(row["told"]))


def _show_tree(rows: Sequence[View], *, ids: bool = False) -> None:
    show_rows([as_told(row) for row in rows], by_name(CHILD_COLUMNS, with_ids=ids), empty="Nothing was handed on.")


def as_told(row: View) -> View:
    """A row as people read it: indented by its depth, with short words for its time and cost."""
    goal = " ".join(row["goal"].split())
    return {
        **row,
        "who": f"{'  ' * (row['depth'] - 1)}{BRANCH if row['depth'] else ''}{row['agent']}",
        "goal": goal if len(goal) <= GOAL_WIDTH else f"{goal[: GOAL_WIDTH - 1]}…",
        "stands": row["stands"] or row["state"],
        "took": "" if row["seconds"] is None else f"{row['seconds']:,.0f} s",
        "spent": f"${row['cost']:.4f}" if row["cost"] else "",
    }


def _which(child: str, last: bool) -> Which:
    async def newest(api: OperatorApi) -> Sequence[View]:
        return sorted(await api.handed_on(), key=lambda row: row["id"], reverse=True)

    return Which(child, last, "piece of work", newest)

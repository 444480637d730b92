"""`signalbox goals`: work that goes on in turns until a judge accepts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, WithIds, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Goals that people set: list, show and stop them.")

GoalArgument = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `goals list` shows it, or its end.")]
GOAL_COLUMNS: Final = {
    "short": "Id",
    "name": "Goal",
    "state": "State",
    "how_far": "Turns",
    "by": "Set by",
    "started_at": "Set",
    "room": "Room",
}
GOAL_FACTS: Final = {
    "id": "Id",
    "name": "Goal",
    "state": "State",
    "waits_for": "Waits for",
    "how_far": "Turns",
    "bounds": "Bounds",
    "until": "Until",
    "judge": "Judge",
    "reason": "Why",
    "by": "Set by",
    "room": "Room",
    "address": "Address",
    "started_at": "Set",
    "ended_at": "Ended",
    "run": "Run",
}
TURN_COLUMNS: Final = {"number": "Turn", "state": "State", "told": "Verdict"}
VERDICT_CHARS: Final = 60


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="goals")


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[str, typer.Option("--state", help="waiting, at work, done, not met, failed or stopped.")] = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the goals that were set, newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.goals(state))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, by_name(GOAL_COLUMNS, with_ids=ids), empty="No goal was set.")


@commands.command()
def show(context: typer.Context, goal: GoalArgument, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show a goal: its contract, its turns, and the verdicts."""
    _show(ask_operator(settings_of(context, config), lambda api: api.goal(goal)), as_json=as_json)


@commands.command()
def stop(
    context: typer.Context, goal: GoalArgument, yes: Yes = False, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """End a goal. What its turns did stays done."""
    ask_first(yes, f"Stop the goal {goal}")
    _show(ask_operator(settings_of(context, config), lambda api: api.stop_goal(goal)), as_json=as_json)


def _show(row: View, *, as_json: bool) -> None:
    if as_json:
        show_json(row)
        return
    show_facts((title, row[name]) for name, title in GOAL_FACTS.items() if row[name])
    for criterion in row["criteria"]:
        typer.echo(clean(f"  - {criterion}"))
    if row["turns"]:
        typer.echo("")
        show_rows(list(_turns(row)), TURN_COLUMNS, empty="")


def _turns(row: View) -> Iterator[View]:
    for turn in row["turns"]:
        told = " ".join(turn["critique"].split())
        short = told if len(told) <= VERDICT_CHARS else f"{told[: VERDICT_CHARS - 1]}…"
        yield {**turn, "number": str(turn["number"]), "told": short}

"""`signalbox harness`: long work by a plan, in turns that another model judges, with a checkpoint after each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, WithIds, ask_operator, settings_of
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(
    no_args_is_help=True, help="Long work by PLAN.md, judged in turns: init, run, resume, list and show it."
)

WorkId = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `harness list` shows it, or its end.")]
WorkRoom = Annotated[str, typer.Option("--to", metavar="ROOM", help="The room with its files, questions and report.")]
WorkAgent = Annotated[str, typer.Option("--agent", metavar="NAME", help="The agent that works. Default: main.")]
WORK_COLUMNS: Final = {
    "short": "Id",
    "name": "Work",
    "state": "State",
    "how_far": "Turns",
    "by": "Begun by",
    "started_at": "Begun",
    "room": "Room",
}
WORK_FACTS: Final = {
    "id": "Id",
    "name": "Work",
    "state": "State",
    "end": "Ended by",
    "reason": "Why",
    "how_far": "Turns",
    "next": "Next",
    "agent": "Agent",
    "by": "Begun by",
    "room": "Room",
    "address": "Address",
    "folder": "Files",
    "started_at": "Begun",
    "run": "Run",
}
TURN_COLUMNS: Final = {"number": "Turn", "state": "State", "checkpoint": "Checkpoint", "told": "The judge says"}
CRITIQUE_WIDTH: Final = 60


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="harness")


@commands.command()
def init(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(help="What is to come of it.")],
    to: WorkRoom = "",
    verify: Annotated[list[str] | None, typer.Option("--verify", help="A criterion; may be given often.")] = None,
    keep_to: Annotated[list[str] | None, typer.Option("--keep-to", help="A constraint; may be given often.")] = None,
    stop_when: Annotated[str, typer.Option("--stop-when", help="When going on makes no sense.")] = "",
    turns: Annotated[str, typer.Option("--turns", help="Turns, at most.")] = "",
    within: Annotated[str, typer.Option("--within", help='Its time, such as "2 hours".')] = "",
    budget: Annotated[str, typer.Option("--budget", help="US dollars, at most.")] = "",
    agent: WorkAgent = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Write PLAN.md and PROGRESS.md into the room's folder, for you to look through."""
    lines = [goal, *_part("verify", verify), *_part("keep to", keep_to)]
    named = {"stop when": stop_when, "turns": turns, "within": within, "budget": budget}
    lines += [f"{name}: {text}" for name, text in named.items() if text]
    row = ask_operator(settings_of(context, config), lambda api: api.init_harness(to, "\n".join(lines), agent))
    if as_json:
        show_json(row)
        return
    typer.echo(f"{row['folder']}/PLAN.md\n")
    typer.echo(clean(row["plan"].rstrip()))
    more = f" --agent {agent}" if agent else ""
    typer.echo(f"\nChange it as you like, then: signalbox harness run --to {row['to']}{more}")


@commands.command()
def run(
    context: typer.Context,
    to: WorkRoom = "",
    agent: WorkAgent = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Begin work by the room's PLAN.md, which is frozen as it is now."""
    _show(ask_operator(settings_of(context, config), lambda api: api.run_harness(to, agent)), as_json=as_json)


@commands.command()
def resume(context: typer.Context, which: WorkId, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Go on with work that ended before it was accepted. Turns that were judged are not done again."""
    _show(ask_operator(settings_of(context, config), lambda api: api.resume_harness(which)), as_json=as_json)


@commands.command()
def show(context: typer.Context, which: WorkId, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one: its turns, what the judge says of each, and its checkpoints."""
    _show(ask_operator(settings_of(context, config), lambda api: api.harness_run(which)), as_json=as_json)


@commands.command("list")
def list_(context: typer.Context, ids: WithIds = False, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List long work, the newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.harness_runs())
    if as_json:
        show_json(rows)
    else:
        show_rows([_told(one) for one in rows], by_name(WORK_COLUMNS, with_ids=ids), empty="No long work was begun.")


def _part(name: str, lines: list[str] | None) -> list[str]:
    return [f"{name}:", *(f"- {line}" for line in lines)] if lines else []


def _told(row: View) -> View:
    return {**row, "how_far": f"{len(row['turns'])} of {row['most']}" if row["most"] else ""}


def _show(row: View, *, as_json: bool) -> None:
    if as_json:
        show_json(row)
        return
    told = {**_told(row), "reason": row["reason"].partition("\n")[0]}
    show_facts((title, told[name]) for name, title in WORK_FACTS.items() if told[name])
    if row["turns"]:
        typer.echo("")
        show_rows([_turn(one) for one in row["turns"]], TURN_COLUMNS, empty="")


def _turn(row: View) -> View:
    told = clean(" ".join(row["critique"].split()))
    return {**row, "told": told if len(told) <= CRITIQUE_WIDTH else f"{told[: CRITIQUE_WIDTH - 1]}…"}

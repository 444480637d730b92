"""`signalbox workflows`: work of several steps, what there is and how far it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import (
    AsJson,
    ConfigFile,
    WithIds,
    Yes,
    ask_first,
    ask_operator,
    settings_of,
)
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows
from runtime.domain.workflows.progress import STATE_MARKS, StepState

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Workflows: list, check, run, show, cancel and resume them.")

FlowRun = Annotated[str, typer.Argument(metavar="ID", help="Its id, as `workflows list --begun` shows it, or its end.")]
FLOW_COLUMNS: Final = {"name": "Name", "about": "About", "inputs": "Inputs", "count": "Steps"}
BEGUN_COLUMNS: Final = {
    "short": "Id",
    "name": "Workflow",
    "state": "State",
    "how_far": "Steps",
    "by": "Started by",
    "started_at": "Started",
    "room": "Room",
}
BEGUN_FACTS: Final = {
    "id": "Id",
    "name": "Workflow",
    "state": "State",
    "reason": "Why",
    "by": "Started by",
    "schedule": "Schedule",
    "room": "Room",
    "address": "Address",
    "started_at": "Started",
    "ended_at": "Ended",
    "run": "Run",
    "sha256": "Definition",
    "given": "Inputs",
}
STEP_COLUMNS: Final = {"mark": "", "name": "Step", "kind": "Kind", "state": "State", "told": "Result"}
RESULT_WIDTH: Final = 60
WAITING_STEP: Final = "waiting"
WAITING_MARK: Final = "⏸"


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="workflows")


@commands.command("list")
def list_(
    context: typer.Context,
    begun: Annotated[bool, typer.Option("--begun", help="Those that were begun, newest first.")] = False,
    name: Annotated[str, typer.Option("--name", help="Only this workflow.")] = "",
    state: Annotated[str, typer.Option("--state", help="waiting, at work, done, failed or stopped.")] = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the workflows that there are, or those that were begun."""
    settings = settings_of(context, config)
    if begun or state:
        rows = ask_operator(settings, lambda api: api.workflow_runs(name, state))
        if as_json:
            show_json(rows)
        else:
            show_rows(
                [_begun(one) for one in rows], by_name(BEGUN_COLUMNS, with_ids=ids), empty="No workflow was begun."
            )
        return
    flows = ask_operator(settings, lambda api: api.workflows())
    if as_json:
        show_json(flows)
    else:
        show_rows(
            [_flow(one) for one in flows],
            FLOW_COLUMNS,
            empty="There are no workflows. Add one in workflows/ beside the settings file.",
        )


@commands.command()
def check(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Read all workflows of the settings, and tell what is wrong with them."""
    settings = settings_of(context, config)  # what is wrong was told by now, and ended this
    flows = [table.flow for table in settings.workflows]
    if as_json:
        show_json([{"name": flow.name, "steps": len(flow.steps), "sha256": flow.sha256} for flow in flows])
        return
    for flow in flows:
        typer.echo(f"{flow.name}: {len(flow.steps)} step{'s' * (len(flow.steps) != 1)}, {flow.sha256}")
    typer.echo(f"{len(flows)} workflow{'s' * (len(flows) != 1)}, nothing wrong.")


@commands.command()
def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name.")],
    inputs: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Its inputs.")] = None,
    to: Annotated[str, typer.Option("--to", metavar="ROOM", help="The room for its report and its questions.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Start a workflow."""
    values = dict(_pair(one) for one in inputs or ())
    row = ask_operator(settings_of(context, config), lambda api: api.start_workflow(name, to, values))
    _show(row, as_json=as_json)


@commands.command()
def show(context: typer.Context, which: FlowRun, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show one that was begun: its steps, and what each gave."""
    _show(ask_operator(settings_of(context, config), lambda api: api.workflow_run(which)), as_json=as_json)


@commands.command()
def cancel(
    context: typer.Context, which: FlowRun, yes: Yes = False, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """End one that is at work or waits. What its steps did stays done."""
    ask_first(yes, f"Cancel the workflow {which}")
    row = ask_operator(settings_of(context, config), lambda api: api.cancel_workflow(which))
    _show(row, as_json=as_json)


@commands.command()
def resume(context: typer.Context, which: FlowRun, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Go on with one that failed, from the step that it stopped at. Steps that succeeded are not done again."""
    row = ask_operator(settings_of(context, config), lambda api: api.resume_workflow(which))
    _show(row, as_json=as_json)


def _pair(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not key or not mark:
        raise typer.BadParameter(f"{text!r} is no input. Write each as key=value.")
    return key, value


def _flow(row: View) -> View:
    inputs = ", ".join(
        one["name"] if one["required"] else f"{one['name']}={_in_words(one['default'])}" for one in row["inputs"]
    )
    return {**row, "inputs": inputs, "count": len(row["steps"])}


def _in_words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _begun(row: View) -> View:
    return {**row, "how_far": f"{row['done']} of {len(row['steps'])}" if row["steps"] else ""}


def _show(row: View, *, as_json: bool) -> None:
    if as_json:
        show_json(row)
        return
    told = {
        **row,
        "reason": row["reason"].partition("\n")[0],
        "given": ", ".join(f"{key}={_in_words(value)}" for key, value in row["inputs"].items()),
    }
    show_facts((title, told[name]) for name, title in BEGUN_FACTS.items() if told[name])
    if row["steps"]:
        typer.echo("")
        show_rows([_step(one) for one in row["steps"]], STEP_COLUMNS, empty="")


def _step(row: View) -> View:
    told = clean(" ".join((row["why"] or row["result"]).split()))
    short = told if len(told) <= RESULT_WIDTH else f"{told[: RESULT_WIDTH - 1]}…"
    count = f" ({row['done']}/{row['pieces']})" if row["pieces"] > 1 else ""
    return {
        **row,
        "mark": STATE_MARKS[StepState(row["state"])] if row["state"] != WAITING_STEP else WAITING_MARK,
        "name": f"{row['name']}{count}",
        "told": short,
    }

"""`signalbox interceptors`: who looks in on runs, and what each answers to an example."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, settings_of
from bot.terminal.output import clean, show_json, show_rows, tell
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.settings.safety.interceptors import InterceptorTable
    from bot.settings.settings import Settings
    from bot.wiring.safety.interceptor_trials import Trial
    from runtime.contract.agents.interceptors import Point

commands = typer.Typer(no_args_is_help=True, help="Interceptors: list them, and try one on an example.")

INTERCEPTOR_COLUMNS: Final = {"name": "Name", "at": "At", "runs": "Runs", "where": "Where", "failing": "A failure"}
NONE_SET: Final = "No interceptor is set. See docs/interceptors.md."


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="interceptors")


@commands.command("list")
def list_all(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List interceptors in their order, and what a failure of each means."""
    rows = [_row(table) for table in settings_of(context, config).interceptors]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, INTERCEPTOR_COLUMNS, empty=NONE_SET)


@commands.command("test")
def try_one(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, as `signalbox interceptors list` shows it.")],
    at: Annotated[str, typer.Option("--at", metavar="POINT", help="One of its points. Default: all of them.")] = "",
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="Tool of the example.")] = "",
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", metavar="NAME=VALUE", help="An argument of its call; NAME:=JSON for one that isn't text."
        ),
    ] = None,
    text: Annotated[str, typer.Option("--text", help="Result, answer or error of the example.")] = "",
    agent: Annotated[str, typer.Option("--agent", help="Name of the agent.")] = "",
    room: Annotated[str, typer.Option("--room", help="Address of the room, as in rules.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Ask an interceptor about an example, as a run would, and show its answer. Ends with 1 if there's none that counts."""
    import asyncio

    from bot.cli.policy import argument_of

    settings = settings_of(context, config)
    table = _table(settings, name)
    arguments = dict(map(argument_of, arg or ()))
    given = {"tool": tool, "agent": agent, "room": room}
    trials = asyncio.run(_trials(settings, table, _points(table, at), given, arguments, text))
    if as_json:
        show_json([_told(trial) for trial in trials])
    else:
        for trial in trials:
            typer.echo(clean(_words(trial)))
            if any(given.values()) and not trial.fits:
                tell("A run would not ask it there: its `where` leaves this out.")
    if any(trial.fault for trial in trials):
        raise typer.Exit(1)


async def _trials(
    settings: Settings,
    table: InterceptorTable,
    points: Sequence[Point],
    given: Mapping[str, str],
    arguments: Mapping[str, Any],
    text: str,
) -> list[Trial]:
    from bot.wiring.safety.interceptor_trials import EXAMPLES, example_of, tried

    trials = []
    for point in points:
        known = EXAMPLES[point]
        values: dict[str, Any] = {"arguments": arguments} if arguments and "arguments" in known else {}
        values |= {name: text for name in ("result", "text", "error") if text and name in known}
        trials.append(await tried(settings, table, example_of(point, **given, **values)))
    return trials


def _table(settings: Settings, name: str) -> InterceptorTable:
    found = next((table for table in settings.interceptors if table.name == name), None)
    if found is None:
        raise BotError(as_called(f"There is no interceptor called {name}. To see them: signalbox interceptors list"))
    return found


def _points(table: InterceptorTable, at: str) -> Sequence[Point]:
    if not at:
        return table.at
    found = [point for point in table.at if point == at]
    if not found:
        raise ConfigError(f"--at: {table.name} is asked at {', '.join(table.at)}, not at {at}.")
    return found


def _row(table: InterceptorTable) -> dict[str, str]:
    runs = f"package {table.package}" if table.package else " ".join(table.command)
    bounds = {"tools": table.where.tools, "agents": table.where.agents, "rooms": table.where.rooms}
    denies = [point for point in table.at if table.is_closed_at(point)]
    return {
        "name": table.name if table.enabled else f"{table.name} (off)",
        "at": ", ".join(table.at),
        "runs": runs,
        "where": "; ".join(f"{name}: {', '.join(globs)}" for name, globs in bounds.items() if globs),
        "failing": f"denies at {', '.join(denies)}" if denies else "changes nothing",
    }


def _told(trial: Trial) -> dict[str, Any]:
    answer = trial.answer
    return {
        "at": trial.at.value,
        "answer": answer.kind.value if answer else None,
        "reason": answer.reason if answer else "",
        "values": dict(answer.values) if answer else {},
        "fault": trial.fault,
        "fits": trial.fits,
        "first_ms": round(trial.first_ms, 1),
        "again_ms": round(trial.again_ms, 1),
    }


def _words(trial: Trial) -> str:
    if trial.answer is None or trial.fault:
        return f"{trial.at}: it failed: {trial.fault}."
    told = [f"{trial.at}: {trial.answer.kind}"]
    told += [f"  reason: {trial.answer.reason}"] if trial.answer.reason else []
    told += [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in trial.answer.values.items()]
    told.append(f"  first answer after {trial.first_ms:.1f} ms, the next one after {trial.again_ms:.1f} ms")
    return "\n".join(told)

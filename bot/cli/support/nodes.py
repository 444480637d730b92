"""`signalbox nodes`: the processes that share the database, and how one of them leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import show_json, show_rows, tell, word

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings

commands = typer.Typer(
    no_args_is_help=True, help="Processes on this database: list them, drain one, remove a dead one."
)

NodeArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Host and process, such as alpha/4711; its host; or the end of its id."),
]
TIMED_OUT: Final = 124
"""The exit code of a wait whose time is over, as that of timeout(1)."""
NODE_COLUMNS: Final = {
    "name": "Name",
    "state": "State",
    "version": "Program",
    "schema": "Schema",
    "since": "Since",
    "beat_at": "Last sign",
    "at_work": "At work",
    "held": "Accounts and roles",
    "settings": "Settings",
    "clock": "Clock",
}


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="nodes")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List processes that are live, or were within the last day, the newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.nodes())
    if as_json:
        show_json(rows)
        return
    show_rows([*map(_shown, rows)], NODE_COLUMNS, empty="No node has joined this database within the last day.")
    for words in notes(rows):
        tell(words)


@commands.command()
def drain(
    context: typer.Context,
    name: NodeArgument,
    within: Annotated[
        str,
        typer.Option("--within", help="How long what is at work may take, such as 5m or 2h. Then it's handed over."),
    ] = "10 minutes",
    wait: Annotated[
        bool, typer.Option("--wait", help="Return once the node is gone, or with 124 once its time is over.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Have a node take nothing more in, hand its accounts and rooms over, finish what is at work, and end with exit code 0."""
    settings = settings_of(context, config)

    async def asked(api: OperatorApi) -> View:
        return await api.drain_node(name, within)

    told = ask_operator(settings, asked)
    if wait:
        told = {**told, "told": _gone(settings, told)}
    if as_json:
        show_json(told)
    else:
        typer.echo(word(told["told"]))


@commands.command()
def remove(
    context: typer.Context, name: NodeArgument, yes: Yes = False, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Give up a node that doesn't come back: its work is free at once. A node that is live is refused."""
    ask_first(yes, f"Remove the node {name}")
    told = ask_operator(settings_of(context, config), lambda api: api.remove_node(name))
    if as_json:
        show_json(told)
    else:
        typer.echo(word(told["told"]))


def _gone(settings: Settings, asked: View) -> str:
    """Wait until a node that was asked to leave is gone; words about that. Errors: BotError where it died."""
    from bot.cli.support.drain_wait import DrainWait, StillThere

    try:
        return DrainWait(lambda: ask_operator(settings, lambda api: api.nodes()), tell).until_gone(asked)
    except StillThere as error:
        tell(f"signalbox: {error}")
        raise typer.Exit(TIMED_OUT) from None
    except KeyboardInterrupt:
        tell(f"{asked['name']} goes on draining. To see how far it is: signalbox nodes list")
        raise


def _shown(row: View) -> Mapping[str, Any]:
    others = [role for role in row["roles"] if not role.startswith("courier:")]
    offset = row["clock_offset_seconds"]
    return {
        **row,
        "version": row["version"] or "older",
        "schema": row["schema"] or "older",
        "held": ", ".join([*row["accounts"], *others]),
        "clock": "" if offset is None else f"{round(offset, 1) or 0.0:+.1f} s",
    }


def notes(rows: Sequence[View]) -> list[str]:
    """Lines about the nodes that an operator should know."""
    told = [f"{row['name']}: {words}." for row in rows for words in row["notes"]]
    differs = sorted({name for row in rows for name in row["differs"]})
    return [*told, *([f"The live nodes have different settings: {', '.join(differs)}."] if differs else [])]

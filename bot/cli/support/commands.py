"""`signalbox logs` and `signalbox support bundle`: what this installation tells somebody who helps."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.safety.audit_file import fresh_file
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, tell

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

FOLLOW_SECONDS: Final = 1.0
commands = typer.Typer(no_args_is_help=True, help="Support: make a file for whoever helps, without secrets and names.")


def add_to(cli: typer.Typer) -> None:
    cli.command()(logs)
    cli.add_typer(commands, name="support")


def logs(
    context: typer.Context,
    level: Annotated[str, typer.Option("--level", help="Only lines of this level and worse, such as warning.")] = "",
    text: Annotated[str, typer.Option("--text", help="Only lines with these words in them.")] = "",
    trace: Annotated[str, typer.Option("--trace", help="Only lines with this id: of a trace, a run, a delivery.")] = "",
    room: Annotated[str, typer.Option("--room", help="Only lines of the runs of this room.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with lines that come, until Ctrl-C.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show the last lines of the running process's log, which it keeps in memory. The log itself has them all."""

    async def told(api: OperatorApi) -> None:
        after, most = 0, limit
        while True:
            page = await api.logs(after, most, level, text, trace, room)
            for line in page["lines"]:
                show_json(line) if as_json else typer.echo(_in_words(line))
            if not follow:
                return
            after, most = page["next"], 500
            await asyncio.sleep(FOLLOW_SECONDS)

    ask_operator(settings_of(context, config), told)


def _in_words(line: View) -> str:
    fields = " ".join(f"{name}={value}" for name, value in line["fields"].items() if name != "exception")
    trouble = line["fields"].get("exception", "")
    head = clean(f"{line['at']} {line['level']:<8} {line['event']} {fields}".rstrip())
    return f"{head}\n{clean(trouble)}" if trouble else head


@commands.command()
def bundle(
    context: typer.Context,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A zip file that isn't there yet.")],
    config: ConfigFile = None,
) -> None:
    """Write a support bundle: version, settings without secrets, the doctor's findings, log lines, numbers of rows, metrics.

    It holds no messages, no names, no addresses of people and no secrets. Read it before you send it.
    """
    from bot.operator.system.bundle import write_bundle

    async def made(api: OperatorApi) -> View:
        await api.examine()
        return await api.support()

    with fresh_file(to, "wb") as file:
        write_bundle(file, ask_operator(settings_of(context, config), made))
    tell("Read it before you send it: it should hold nothing that you wouldn't show.")
    typer.echo(f"{to} is written.")

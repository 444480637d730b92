"""`signalbox report`: a report that is made now, shown in rooms or printed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_markdown, show_rows, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi

POLL_SECONDS: Final = 0.3  # seconds between two looks how it goes
EXIT_FAILED: Final = 1
WAITS: Final = 3
TIMED_OUT: Final = 4
REPORT_COLUMNS: Final = {"name": "Report", "about": "What it tells", "options": "Options"}
AT_WORK: Final = "working"


def add_to(cli: typer.Typer) -> None:
    cli.command()(report)


@dataclass(frozen=True, slots=True)
class Wish:
    """Request from the command line."""

    name: str
    to: Sequence[str]
    options: Mapping[str, str]
    seconds: float


def report(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, as `--list` shows it.")] = "",
    to: Annotated[
        list[str] | None,
        typer.Option("--to", metavar="ADDRESS", help='A room, such as "slack:work/C1". Repeatable.'),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of the report. Repeatable."),
    ] = None,
    print_: Annotated[
        bool, typer.Option("--print", help="Print it here, without charts, instead of showing it in a room.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the reports with their options.")] = False,
    wait: Annotated[
        float, typer.Option("--wait", min=0, max=3600, metavar="SECONDS", help="How long to wait until it is shown.")
    ] = 60,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Make one of the built-in reports now. No model is called.

    Exit code: 0 shown, 1 failed, 3 waiting for an approval, 4 not shown within `--wait`, but still going on.
    """
    wish = Wish(name, to or [], _pairs(option or []), wait)
    _check(wish, is_list=list_, is_print=print_)
    settings = settings_of(context, config)
    if list_:
        _list(ask_operator(settings, lambda api: api.reports()), as_json)
    elif print_:
        _print(ask_operator(settings, lambda api: api.print_report(wish.name, wish.options)), as_json)
    else:
        _tell(ask_operator(settings, lambda api: _made(api, wish)), as_json)


def _check(wish: Wish, *, is_list: bool, is_print: bool) -> None:
    from bot.settings.schedules import reports

    if is_list and (wish.name or wish.to or is_print):
        raise ConfigError("--list takes nothing else: signalbox report --list")
    if not is_list and not wish.name:
        raise ConfigError("Which report? For example: signalbox report cost --print; or see: signalbox report --list")
    if not is_list and is_print == bool(wish.to):
        if wish.name not in (known := reports()):
            raise ConfigError(f"There is no report {wish.name!r}. There are: {', '.join(known)}.")
        raise ConfigError(
            f"Give either --to ADDRESS or --print, for example: signalbox report {wish.name} --to web:main/team42"
        )


def _pairs(options: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f'--option: "{text}" is not KEY=VALUE, such as hours=48')
        found[key.strip()] = value.strip()
    return found


async def _made(api: OperatorApi, wish: Wish) -> dict[str, Any]:
    """Have it made, and wait until it is known how it ended."""
    told = await api.make_report(wish.name, wish.to, wish.options)
    end = asyncio.get_running_loop().time() + wish.seconds
    while told["state"] == AT_WORK and told["runs"] and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(POLL_SECONDS)
        told = await api.report(told["id"])
    return dict(told)


def _list(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    if as_json:
        show_json(rows)
        return
    lines = [{**row, "options": [f"{key}={_plain(value)}" for key, value in row["options"].items()]} for row in rows]
    show_rows(lines, REPORT_COLUMNS, empty="There are no reports.")


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _print(told: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        show_json(told)
    else:
        show_markdown(told["text"])


def _tell(told: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        show_json(told)
    else:
        words, is_good = in_words(told)
        (typer.echo if is_good else tell)(clean(words))
    raise typer.Exit(code_of(told))


def in_words(told: Mapping[str, Any]) -> tuple[str, bool]:
    """Outcome in words; whether that is what was wanted."""
    name, rooms = told["name"], ", ".join(told["to"])
    match told["state"]:
        case "shown":
            return f"{name}: shown in {rooms}.", True
        case "failed":
            return f"{name}: couldn't be made. {told['reason']}", False
        case "stuck":
            return f"{name}: made, but it couldn't be shown everywhere: {told['reason']}", False
        case "waiting":
            return (
                as_called(f"{name}: waiting for an approval in {told['to'][0]}: signalbox approvals list"),
                False,
            )
        case _ if not told["runs"]:
            return f"{name}: no Signalbox is running with this data_dir. The next start shows it in {rooms}.", True
        case _:
            return (
                f"{name}: not shown everywhere yet ({told['shown']} of {told['wanted']}). Signalbox is still working on it.",
                False,
            )


def code_of(told: Mapping[str, Any]) -> int:
    match told["state"]:
        case "shown":
            return 0
        case "waiting":
            return WAITS
        case "failed" | "stuck":
            return EXIT_FAILED
        case _:
            return TIMED_OUT if told["runs"] else 0

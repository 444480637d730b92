"""`docs/commands.md`, made from the commands themselves: `python -m bot.reference.commands` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from typer.main import get_command

from bot.cli.root import cli

COMMANDS_PAGE: Final = Path(__file__).parents[2] / "docs" / "commands.md"
PROGRAM: Final = "signalbox"
INTRODUCTION: Final = """\
# Commands

This page is made from `bot/cli/` by `python -m bot.reference.commands`; a test fails when it is stale.

Commands read the same [settings](settings.md) as the process; `--config FILE` may stand before or after a command's
name. While a process runs with the same `data_dir`, commands ask that process; otherwise they open the store
themselves. Output is for people; with `--json` it is for programs. Errors are one sentence on standard error.
Commands that can't be undone ask first; without a terminal they need `--yes`.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed, as the sentence says; also `doctor` with a failed check, `audit verify` with a broken chain |
| 2 | wrong use, or wrong settings, or a data folder or port in use by another process |
| 3 | `ask`: the question waits for an approval |
| 4 | `ask`: no answer within `--timeout`; the work goes on while a process runs, else with the next start |
| 130 | interrupted by Ctrl-C |
"""

Command = Any
"""A click command: typer carries its own copy of click, which has no public name."""


def document() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(_section(path, command) for path, command in commands())])


def commands() -> Iterator[tuple[str, Command]]:
    """(what is typed, the command) of each command, in the order of `--help`."""
    yield from _below(PROGRAM, get_command(cli))


def _below(path: str, group: Command) -> Iterator[tuple[str, Command]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from _below(f"{path} {name}", command)
        else:
            yield f"{path} {name}", command


def _section(path: str, command: Command) -> str:
    arguments = [_typed(parameter) for parameter in command.params if _is_argument(parameter)]
    lines = [f"## `{' '.join([path, *arguments])}`", "", command.help.strip(), ""]
    rows = [_row(parameter) for parameter in command.params if not parameter.hidden and parameter.name != "config"]
    if rows:
        lines += ["| argument or option | meaning | default |", "| --- | --- | --- |", *rows, ""]
    return "\n".join(lines)


def _row(parameter: Any) -> str:
    shown = _typed(parameter) if _is_argument(parameter) else ", ".join(parameter.opts)
    if not _is_argument(parameter) and not parameter.is_flag:
        shown += f" {parameter.metavar or parameter.name.upper()}"
    default = "" if parameter.default in (None, "", False, []) or parameter.required else f"`{parameter.default}`"
    return "| " + " | ".join(_cell(text) for text in (f"`{shown}`", parameter.help or "", default)) + " |"


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _typed(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(document(), encoding="utf-8")

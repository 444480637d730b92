"""`signalbox reload`: the running process reads its settings again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json


def add_to(cli: typer.Typer) -> None:
    cli.command()(reload)


def reload(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Have the running process read its settings again: policy, people, prompt and log level, all or nothing."""
    told = ask_operator(settings_of(context, config), lambda api: api.reload())
    if as_json:
        show_json(told)
    else:
        typer.echo(as_called("\n".join(map(clean, in_words(told)))))


def in_words(told: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [f"Changed: {', '.join(told['changed'])}." if told["changed"] else "Nothing changed."]
    if told["restart"]:
        lines.append(f"Needs a restart: {', '.join(told['restart'])}.")
    return [*lines, *(f"Note: {note}." for note in told["notes"])]

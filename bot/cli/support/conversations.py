"""`signalbox conversations`: a conversation as a file, and from one."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.safety.audit_file import fresh_file
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, word
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from runtime.domain.copies.copy import ConversationCopy

commands = typer.Typer(no_args_is_help=True, help="Conversations: export one into a file, and import such a file.")
NOTHING_IMPORTED: Final = "Nothing was imported."


class CopyFormat(StrEnum):
    """Forms of an export."""

    JSON = "json"
    MARKDOWN = "markdown"


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="conversations")


@commands.command()
def export(
    context: typer.Context,
    room: Annotated[
        str, typer.Argument(metavar="ROOM", help="Its name, its title or its address, such as web:main/room12.")
    ],
    form: Annotated[
        CopyFormat, typer.Option("--format", help="json can be imported again, markdown is for people.")
    ] = CopyFormat.JSON,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="A new file. Without it the export is printed.")
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Export a conversation: what was said, files by name and digest, records of tool calls and approvals."""
    from runtime.domain.copies.copy import of_values, to_markdown

    values = ask_operator(settings_of(context, config), lambda api: api.copy_conversation(room))
    if not values["entries"]:
        raise ConfigError(f"{room}: nothing was said there, so there is nothing to export.")
    told = (
        to_markdown(of_values(values))
        if form is CopyFormat.MARKDOWN
        else f"{json.dumps(values, ensure_ascii=False, indent=1)}\n"
    )
    if output is None:
        typer.echo(told if form is CopyFormat.JSON else clean(told), nl=False)
        return
    with fresh_file(output, "w", encoding="utf-8") as file:
        file.write(told)
    typer.echo(f"{output} holds {len(values['entries']):,} entries of {word(values['title'])}.")


@commands.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export as JSON.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Import such a file into a new conversation of yours on the page. Nothing in it runs, waits or asks."""
    from runtime.domain.copies.copy import to_values

    values = to_values(_read(file))
    made = ask_operator(settings_of(context, config), lambda api: api.import_conversation(values))
    if as_json:
        show_json(made)
    else:
        typer.echo(f"{word(made['told'])} {clean(made['room'])}")


def _read(file: Path) -> ConversationCopy:
    """Errors: ConfigError in words, before a file beyond all bounds is read."""
    from runtime.domain.copies.copy import COPY_MAX_BYTES, CopyFault, parsed_copy

    try:
        with file.open("rb") as opened:
            data = opened.read(COPY_MAX_BYTES + 1)
        return parsed_copy(data)
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}. {NOTHING_IMPORTED}") from None
    except CopyFault as fault:
        raise ConfigError(f"{file}: {fault}. {NOTHING_IMPORTED}") from None

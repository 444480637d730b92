"""`signalbox knowledge`: packs of documents, and what a search finds in them."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows

commands = typer.Typer(
    no_args_is_help=True, help="Packs of documents: list them, show their documents, and search them."
)


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="knowledge")


PACK_COLUMNS: Final = {
    "pack": "Pack",
    "documents": "Documents",
    "characters": "Characters",
    "parts": "Parts",
    "vectors": "By meaning",
    "faults": "Faults",
    "read_at": "Read",
}
DOCUMENT_COLUMNS: Final = {
    "place": "Document",
    "title": "Title",
    "characters": "Characters",
    "parts": "Parts",
    "vectors": "By meaning",
    "read_at": "Read",
    "fault": "Fault",
}


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List packs whose documents have been read, with how many could not be."""
    rows = ask_operator(settings_of(context, config), lambda api: api.knowledge())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, PACK_COLUMNS, empty="No pack has been read. `[[knowledge]]` in the settings names packs.")


@commands.command()
def show(
    context: typer.Context,
    pack: Annotated[str, typer.Argument(show_default=False, help="Its name.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show the documents of a pack, and why one could not be read."""
    rows = ask_operator(settings_of(context, config), lambda api: api.knowledge_documents(pack))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, DOCUMENT_COLUMNS, empty="No documents.")


@commands.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(show_default=False, help="Words that the passage would have.")],
    pack: Annotated[str, typer.Option("--pack", help="Only this pack.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Search packs as an agent would, and print the best passages with their places."""
    rows = ask_operator(settings_of(context, config), lambda api: api.search_knowledge(query, pack))
    if as_json:
        show_json(rows)
        return
    if not rows:
        typer.echo("Nothing found.")
    for row in rows:
        heading = f" ({clean(row['heading'])})" if row["heading"] else ""
        typer.echo(f"[{clean(row['cited'])}]{heading}\n{clean(row['text'])}\n")

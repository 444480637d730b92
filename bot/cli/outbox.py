"""`signalbox outbox`: what is still to be shown, and what could not be."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import AsJson, ConfigFile, ask_office, settings_of
from bot.cli.output import clean, show_facts, show_json, show_rows

commands = typer.Typer(no_args_is_help=True, help="Messages on their way out: list, show, requeue and discard them.")

DeliveryArgument = Annotated[str, typer.Argument(metavar="ID", help="As `outbox list` shows it.")]
COLUMNS = {
    "id": "Id",
    "state": "State",
    "kind": "Kind",
    "attempts": "Attempts",
    "created_at": "Made",
    "address": "Room",
    "reason": "Reason",
}
FACTS = ("id", "state", "kind", "address", "origin", "attempts", "created_at", "settled_at", "not_before", "reason")
PART_COLUMNS = {
    "ordinal": "Part",
    "state": "State",
    "attempts": "Attempts",
    "marked_at": "Marked",
    "receipt": "Receipt",
}


@commands.command("list")
def list_(
    context: typer.Context,
    state: Annotated[str, typer.Option("--state", help="queued, open, shown, held, dead or discarded.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Deliveries, newest first."""
    rows = ask_office(settings_of(context, config), lambda office: office.deliveries(state))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, COLUMNS, empty="No deliveries.")


@commands.command()
def show(
    context: typer.Context, delivery: DeliveryArgument, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """One delivery with its parts and its text."""
    row = ask_office(settings_of(context, config), lambda office: office.delivery(delivery))
    if as_json:
        show_json(row)
        return
    show_facts((name, row[name]) for name in FACTS)
    typer.echo()
    show_rows(row["parts"], PART_COLUMNS, empty="Not rendered yet.")
    typer.echo(f"\n{clean(row['text'])}")


@commands.command()
def requeue(context: typer.Context, delivery: DeliveryArgument, config: ConfigFile = None) -> None:
    """Try again to show one that is on hold or dead."""
    made = ask_office(settings_of(context, config), lambda office: office.requeue(delivery))
    typer.echo(f"{delivery}: {made['state']}.")


@commands.command()
def discard(context: typer.Context, delivery: DeliveryArgument, config: ConfigFile = None) -> None:
    """Throw one away: it will not be shown."""
    made = ask_office(settings_of(context, config), lambda office: office.discard(delivery))
    typer.echo(f"{delivery}: {made['state']}.")

"""`signalbox outbox`: what is still to be shown, and what could not be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import (
    AsJson,
    ConfigFile,
    InRoom,
    Last,
    Which,
    WithIds,
    Yes,
    ask_about,
    ask_first,
    ask_operator,
    settings_of,
)
from bot.terminal.output import by_name, clean, show_facts, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Messages on their way out: list, show, requeue and discard them.")


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="outbox")


DeliveryArgument = Annotated[
    str,
    typer.Argument(
        metavar="[ID]", show_default=False, help="Its id, as `outbox list` shows it, or the first characters."
    ),
]
STUCK: Final = ("held", "dead")
UNSETTLED_STATES: Final = ("queued", "open", *STUCK)
DELIVERY_COLUMNS = {
    "id": "Id",
    "state": "State",
    "kind": "Kind",
    "attempts": "Attempts",
    "created_at": "Created",
    "room": "Room",
    "reason": "Reason",
}
FACTS = {
    "id": "Id",
    "state": "State",
    "kind": "Kind",
    "room": "Room",
    "address": "Address",
    "origin": "Origin",
    "attempts": "Attempts",
    "created_at": "Created",
    "settled_at": "Settled",
    "not_before": "Not before",
    "reason": "Reason",
}
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
    room: InRoom = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List deliveries, newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.deliveries(state, room=room))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, by_name(DELIVERY_COLUMNS, with_ids=ids), empty="No deliveries.")


@commands.command()
def show(
    context: typer.Context,
    delivery: DeliveryArgument = "",
    last: Last = False,
    room: InRoom = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one delivery with its parts and its text."""
    row = ask_about(context, config, _which(delivery, last, room), lambda api, one: api.delivery(one))
    if as_json:
        show_json(row)
        return
    show_facts((title, row[name]) for name, title in FACTS.items())
    typer.echo()
    show_rows(row["parts"], PART_COLUMNS, empty="Not rendered yet.")
    typer.echo(f"\n{clean(row['text'])}")


@commands.command()
def requeue(
    context: typer.Context,
    delivery: DeliveryArgument = "",
    last: Last = False,
    room: InRoom = "",
    config: ConfigFile = None,
) -> None:
    """Send a delivery again that is on hold or dead."""
    made = ask_about(context, config, _which(delivery, last, room, STUCK), lambda api, one: api.requeue(one))
    typer.echo(f"{made['id']}: {made['state']}.")


@commands.command()
def discard(
    context: typer.Context,
    delivery: DeliveryArgument = "",
    last: Last = False,
    room: InRoom = "",
    yes: Yes = False,
    config: ConfigFile = None,
) -> None:
    """Discard a delivery, so that it is never shown."""
    ask_first(yes, f"Discard {f'the delivery {delivery}' if delivery else 'the newest delivery'}")
    made = ask_about(context, config, _which(delivery, last, room, UNSETTLED_STATES), lambda api, one: api.discard(one))
    typer.echo(f"{made['id']}: {made['state']}.")


def _which(delivery: str, last: bool, room: str, states: Sequence[str] = ("",)) -> Which:
    """By its id, or the newest in one of `states`, in one room or anywhere."""

    async def newest(api: OperatorApi) -> list[View]:
        every = [row for state in states for row in await api.deliveries(state, 1, room)]
        return sorted(every, key=lambda row: (row["created_at"], row["id"]), reverse=True)

    return Which(delivery, last, "delivery", newest)

"""`signalbox tokens`: which programs may speak through the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.views import View

commands = typer.Typer(no_args_is_help=True, help="Tokens: let programs speak through the API, list and revoke them.")

TokenName = Annotated[str, typer.Argument(metavar="NAME", help="The program's name, such as build-server.")]
TOKEN_COLUMNS: Final = {
    "name": "Program",
    "role": "Role",
    "state": "State",
    "agents": "Agents",
    "rooms": "Rooms",
    "used_at": "Last use",
    "until": "Until",
    "made_by": "Made by",
}
SHOWN_ONCE: Final = "This is shown once. Send it as the header: Authorization: Bearer …"


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="tokens")


@commands.command()
def make(
    context: typer.Context,
    name: TokenName,
    role: Annotated[
        str, typer.Option("--role", help="user, or operator to decide approvals and see all work.")
    ] = "user",
    agent: Annotated[
        list[str] | None, typer.Option("--agent", help="An agent it may ask. Repeatable; without it all.")
    ] = None,
    rooms: Annotated[
        list[str] | None,
        typer.Option("--rooms", help="Rooms it may use: addresses, globs, or names of its own. Without it its own."),
    ] = None,
    until: Annotated[str, typer.Option("--until", help="Its end: 2027-01-31, or 90d. Without it for good.")] = "",
    per_minute: Annotated[str, typer.Option("--per-minute", help="Calls a minute; 60 without it.")] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Make a token for a program. It's shown once."""
    made = ask_operator(
        settings_of(context, config),
        lambda api: api.make_token(name, role, agent or [], rooms or [], until, per_minute),
    )
    if as_json:
        show_json(made)
        return
    typer.echo(made["token"])
    typer.echo(clean(SHOWN_ONCE), err=True)


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List tokens with their last use."""
    rows = ask_operator(settings_of(context, config), lambda api: api.tokens())
    if as_json:
        show_json(rows)
        return
    show_rows(
        [_in_words(row) for row in rows], TOKEN_COLUMNS, empty="No tokens yet. Make one: signalbox tokens make NAME"
    )


@commands.command()
def revoke(
    context: typer.Context, name: TokenName, yes: Yes = False, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Revoke a token. Its program is let in no more."""
    ask_first(yes, f"Revoke the token {name}")
    row = ask_operator(settings_of(context, config), lambda api: api.revoke_token(name))
    if as_json:
        show_json(row)
    else:
        typer.echo(clean(row["told"]))


def _in_words(row: View) -> View:
    """A row without empty cells: what a token doesn't narrow is all of it."""
    rooms = ", ".join(row["rooms"]) or ("all" if row["role"] == "operator" else "its own")
    return {**row, "agents": ", ".join(row["agents"]) or "all", "rooms": rooms}

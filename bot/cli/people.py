"""`signalbox people`: who may talk to the agent, and as what."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.options import AsJson, ConfigFile, ask_office, settings_of
from bot.cli.output import show_json, show_rows

commands = typer.Typer(
    no_args_is_help=True, help="People: list and add them, pair them, set their role, make their web link."
)

Name = Annotated[str, typer.Argument(metavar="NAME")]
RoleName = Annotated[str, typer.Argument(metavar="ROLE", help="viewer, user, operator or owner.")]
WAITING = {"name": "Calls themselves", "identity": "Identity", "address": "Room", "until": "Until"}
COLUMNS = {"name": "Name", "role": "Role", "identities": "Identities", "linked": "Has a link"}


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Everybody, by name."""
    rows = ask_office(settings_of(context, config), lambda office: office.people())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, COLUMNS, empty="Nobody yet.")


@commands.command()
def add(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option("--role", help="viewer, user, operator or owner.")] = "user",
    identity: Annotated[list[str] | None, typer.Option("--identity", help="Such as telegram:1001. Repeatable.")] = None,
    config: ConfigFile = None,
) -> None:
    """Add a person. For the web page, make them a link then."""
    made = ask_office(settings_of(context, config), lambda office: office.add_person(name, role, identity or []))
    typer.echo(f"{made['name']}: {made['role']}. For the web page: signalbox people link {made['name']!r}")


@commands.command()
def pair(
    context: typer.Context,
    code: Annotated[str, typer.Argument(metavar="CODE", help="What the person was sent: 8 letters and digits.")],
    name: Annotated[
        str, typer.Option("--name", help="Their name. Of somebody you know already: this is an account of theirs too.")
    ] = "",
    role: Annotated[
        str, typer.Option("--role", help="viewer, user, operator or owner. Without it a new person is a user.")
    ] = "",
    config: ConfigFile = None,
) -> None:
    """Make somebody known who wrote to the bot and was sent a pairing code."""
    typer.echo(ask_office(settings_of(context, config), lambda office: office.pair(code, name, role))["told"])


@commands.command()
def pending(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Who was sent a pairing code within the last hour, and waits for it to be entered."""
    rows = ask_office(settings_of(context, config), lambda office: office.pairings())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, WAITING, empty="Nobody waits for a pairing code to be entered.")


@commands.command()
def role(context: typer.Context, name: Name, role: RoleName, config: ConfigFile = None) -> None:
    """Change what a person may do."""
    made = ask_office(settings_of(context, config), lambda office: office.set_role(name, role))
    typer.echo(f"{made['name']}: {made['role']}.")


@commands.command()
def link(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Make a new link with which a person opens the web page. The old one stops working."""
    settings = settings_of(context, config)
    made = ask_office(settings, lambda office: office.link(name))
    typer.echo(made.get("url") or f"http://{settings.web.host}:{settings.web.port}{made['path']}")

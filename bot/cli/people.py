"""`signalbox people`: who may talk to the agent, and as what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.safety import invitations, personal_data
from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, expect_answer, settings_of
from bot.terminal.output import show_json, show_rows, tell
from runtime.domain.programs.token import is_vouched

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings

commands = typer.Typer(
    no_args_is_help=True,
    help="People: list, add, invite, pair, rename, merge, sign out, remove and forget them; set their role, make their web link, export what is known.",
)


def add_to(cli: typer.Typer) -> None:
    invitations.add_to(commands)
    personal_data.add_to(commands)
    cli.add_typer(commands, name="people")


Name = Annotated[str, typer.Argument(metavar="NAME")]
RoleName = Annotated[str, typer.Argument(metavar="ROLE", help="viewer, user, operator or owner.")]
UNTIL_ASKED = (
    " They come with the word of {called}: when it's asked the next time, their groups there decide again. To keep somebody "
    "out, add them to access.blocked."
)
PAIRING_COLUMNS = {"name": "Name given", "identity": "Identity", "address": "Room", "until": "Until"}
PEOPLE_COLUMNS = {"name": "Name", "role": "Role", "identities": "Identities", "linked": "Has a link"}


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List everybody, by name."""
    rows = ask_operator(settings_of(context, config), lambda api: api.people())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, PEOPLE_COLUMNS, empty="Nobody yet.")


@commands.command()
def add(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option("--role", help="viewer, user, operator or owner.")] = "user",
    identity: Annotated[
        list[str] | None, typer.Option("--identity", help="An account of theirs, such as telegram:1001. Repeatable.")
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Add a person. To let them use the web page, make them a link next."""
    made = ask_operator(settings_of(context, config), lambda api: api.add_person(name, role, identity or []))
    link = f"signalbox people link {quote(made['name'])}"
    typer.echo(f"{made['name']}: {made['role']}. For the web page: {as_called(link)}")


@commands.command()
def pair(
    context: typer.Context,
    code: Annotated[str, typer.Argument(metavar="CODE", help="The code they were sent: 8 letters and digits.")],
    name: Annotated[
        str, typer.Option("--name", help="Their name. A known name adds this account to that person.")
    ] = "",
    role: Annotated[
        str, typer.Option("--role", help="viewer, user, operator or owner. Without it a new person is a user.")
    ] = "",
    config: ConfigFile = None,
) -> None:
    """Let in somebody who wrote to the bot and was sent a pairing code."""
    typer.echo(ask_operator(settings_of(context, config), lambda api: api.pair(code, name, role))["told"])


@commands.command()
def pending(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List people with a pairing code from the last hour that nobody has entered yet."""
    rows = ask_operator(settings_of(context, config), lambda api: api.pairings())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, PAIRING_COLUMNS, empty="Nobody is waiting to be paired.")


@commands.command()
def role(context: typer.Context, name: Name, role: RoleName, config: ConfigFile = None) -> None:
    """Change what a person may do."""
    settings = settings_of(context, config)
    made = ask_operator(settings, lambda api: api.set_role(name, role))
    typer.echo(f"{made['name']}: {made['role']}.{_until_asked(settings, made)}")


def _until_asked(settings: Settings, made: View) -> str:
    """A warning about somebody whose role follows their groups."""
    if not settings.auth.is_on or made["role"] == "owner" or not any(map(is_vouched, made["identities"])):
        return ""
    return UNTIL_ASKED.format(called=settings.auth.called)


@commands.command()
def rename(
    context: typer.Context,
    name: Name,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Their new name.")],
    config: ConfigFile = None,
) -> None:
    """Give a person another name."""
    _tell(context, config, lambda api: api.rename_person(name, new))


@commands.command()
def merge(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="FROM", help="The person to merge; their name goes.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="The person to keep, with name, role and link.")],
    yes: Yes = False,
    config: ConfigFile = None,
) -> None:
    """Merge two people: the accounts, conversations, schedules and votes of FROM become INTO's. Says first what that means."""
    question = f"Merge {name} into {into}, for good"
    expect_answer(yes, question)
    told = ask_operator(settings_of(context, config), lambda api: api.merging(name, into))
    moved = ", ".join(f"{row['count']:,} {row['what']}" for row in told["moves"]) or "nothing"
    tell(f"{into} gets of {name}: {moved}.")
    for sentence in told["stays"]:
        tell(f"- {sentence}")
    ask_first(yes, question)
    _tell(context, config, lambda api: api.merge_people(name, into))


@commands.command("sign-out")
def sign_out(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Sign a person out of the web page everywhere. Their link stops working."""
    _tell(context, config, lambda api: api.sign_out(name))


@commands.command()
def remove(context: typer.Context, name: Name, yes: Yes = False, config: ConfigFile = None) -> None:
    """Forget a person: accounts, link, schedules, and what is remembered for them alone. What they said stays in the conversations and the audit."""
    ask_first(yes, f"Remove {name}, who will have to be let in again")
    _tell(context, config, lambda api: api.remove_person(name))


def _tell(context: typer.Context, config: Path | None, work: Callable[[OperatorApi], Awaitable[View]]) -> None:
    typer.echo(ask_operator(settings_of(context, config), work)["told"])


@commands.command()
def link(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Make a new web page link for a person. Their old one stops working."""
    typer.echo(ask_operator(settings_of(context, config), lambda api: api.link(name))["url"])

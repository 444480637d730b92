"""`signalbox people invite` and the commands about people who aren't in yet, and about browsers they are signed in with."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows, tell

INVITATION_COLUMNS: Final = {
    "id": "Invitation",
    "role": "Role",
    "state": "State",
    "until": "Until",
    "made_by": "Made by",
    "joined": "Who joined",
}
SESSION_COLUMNS: Final = {
    "id": "Id",
    "browser": "Browser",
    "issuer": "Signed in at",
    "since": "Since",
    "seen": "Last seen",
}
Name = Annotated[str, typer.Argument(metavar="NAME")]
Identity = Annotated[str, typer.Argument(metavar="IDENTITY", help="As `people pending` lists it: telegram:1001.")]


def add_to(commands: typer.Typer) -> None:
    for command in (invite, invitations):
        commands.command()(command)
    commands.command("revoke-invitation")(revoke_invitation)
    commands.command("let-in")(let_in)
    commands.command("turn-away")(turn_away)
    commands.command()(sessions)
    commands.command("end-session")(end_session)


def invite(
    context: typer.Context,
    role: Annotated[str, typer.Option("--role", help="viewer, user or operator.")] = "user",
    until: Annotated[str, typer.Option("--until", help="Its end: 2h, 3 days, 2027-01-31; a day without it.")] = "1d",
    qr: Annotated[bool, typer.Option("--qr", help="Draw a code for a phone's camera, too.")] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Make a link by which one person joins on the web page. It's shown once."""
    made = ask_operator(settings_of(context, config), lambda api: api.invite(role, until))
    if as_json:
        show_json(made)
        return
    typer.echo(made["url"] or made["path"])
    if made["note"]:
        tell(made["note"])
    if qr and made["url"]:
        import segno

        segno.make(made["url"], error="m", micro=False).terminal(compact=True)
    tell(f"It lets one person in, as {made['role']}, until {made['until']}. It's shown only now.")


def invitations(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List invitations: open ones, and those that ended within a month. Their links aren't kept."""
    rows = ask_operator(settings_of(context, config), lambda api: api.invitations())
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, INVITATION_COLUMNS, empty="No invitations. Make one: signalbox people invite")


def revoke_invitation(
    context: typer.Context,
    which: Annotated[str, typer.Argument(metavar="INVITATION", help="As `people invitations` lists it.")],
    config: ConfigFile = None,
) -> None:
    """End an invitation that nobody used. Its link lets nobody in any more."""
    typer.echo(ask_operator(settings_of(context, config), lambda api: api.revoke_invitation(which))["told"])


def let_in(
    context: typer.Context,
    identity: Identity,
    name: Annotated[
        str, typer.Option("--name", help="Their name. A known name adds this account to that person.")
    ] = "",
    role: Annotated[
        str, typer.Option("--role", help="viewer, user, operator or owner. Without it a new person is a user.")
    ] = "",
    config: ConfigFile = None,
) -> None:
    """Let in somebody who waits with a pairing code, without typing the code."""
    told = ask_operator(settings_of(context, config), lambda api: api.let_in(identity, name, role))["told"]
    typer.echo(clean(told))


def turn_away(context: typer.Context, identity: Identity, config: ConfigFile = None) -> None:
    """Refuse somebody who waits with a pairing code. They're told so, and may ask again in a day."""
    typer.echo(clean(ask_operator(settings_of(context, config), lambda api: api.turn_away(identity))["told"]))


def sessions(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List the browsers in which a person is signed in, by their link or by a provider."""
    rows = ask_operator(settings_of(context, config), lambda api: api.sessions(name))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, SESSION_COLUMNS, empty=f"{name} isn't signed in in any browser.")


def end_session(
    context: typer.Context,
    name: Name,
    browser: Annotated[str, typer.Argument(metavar="BROWSER", help="As `people sessions` lists it.")],
    config: ConfigFile = None,
) -> None:
    """Sign a person out in one browser."""
    typer.echo(ask_operator(settings_of(context, config), lambda api: api.end_session(name, browser))["told"])

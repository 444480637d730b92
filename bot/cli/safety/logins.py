"""`signalbox login`: sign-ins at issuers of tokens."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from bot.node.invocation import as_called
from bot.terminal.browsers import listen_for_address, show_login_page
from bot.terminal.options import AsJson, ConfigFile, Yes, ask_first, ask_operator, settings_of
from bot.terminal.output import clean, show_json, show_rows, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.settings.safety.logins import LoginTable
    from bot.settings.settings import Settings
    from runtime.oauth.client import DeviceCode

SIGN_IN_COMMAND: Final = "in"
LOGIN_COLUMNS: Final = {
    "name": "Name",
    "state": "State",
    "ends_at": "Token ends",
    "renews": "Renewed",
    "by": "Signed in by",
    "issuer": "Issuer",
}
NO_LOGINS: Final = "No sign-in is set. `[[logins]]` in the settings names issuers; docs/sign-ins.md says how."


class _ByName(TyperGroup):
    """`login NAME` is short for `login in NAME`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [SIGN_IN_COMMAND, *args]
        return super().resolve_command(ctx, args)


commands = typer.Typer(
    cls=_ByName, no_args_is_help=True, help="Sign-ins at issuers of tokens: `login NAME`, list them, sign out."
)
LoginName = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Its name in the settings.")]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="login")


@commands.command(SIGN_IN_COMMAND)
def sign_in(
    context: typer.Context,
    name: LoginName,
    browser: Annotated[
        bool, typer.Option("--browser", help="With a browser on this machine, where a code could be entered elsewhere.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Sign in at an issuer: enter a code on any device, or open the page it shows."""
    from bot.wiring.logins.parts import issuer_terms_of, login_sealer_of
    from bot.wiring.logins.signing_in import SigningIn
    from bot.wiring.logins.tokens import new_grant

    settings = settings_of(context, config, with_secrets=True)
    table = _table(settings, name)
    ask_operator(settings, lambda api: api.logins())  # before a person takes the trouble: can it be kept?
    signing = SigningIn(
        issuer_terms_of(table),
        now=lambda: datetime.now(UTC),
        show_code=_show_code,
        show_page=show_login_page,
        listen=listen_for_address,
        port=table.callback_port,
    )
    grant = asyncio.run(signing.grant(browser=browser))
    sealed = new_grant(login_sealer_of(settings)(), name, grant)
    fields = {
        "sealed": sealed.sealed,
        "ends_at": sealed.ends_at.isoformat() if sealed.ends_at else "",
        "renews": sealed.renews,
        "issuer": grant.issuer or grant.token_endpoint,
    }
    row = ask_operator(settings, lambda api: api.keep_login(name, fields))
    then = "It's renewed before its end." if row["renews"] else "It can't be renewed: sign in again then."
    until = f"good until {row['ends_at']}" if row["ends_at"] else "good until its issuer ends it"
    typer.echo(clean(f"Signed in at {name}. The token is sealed for all nodes, and {until}. {then}"))


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List sign-ins, and until when their tokens are good. Tokens are never shown."""
    rows = ask_operator(settings_of(context, config), lambda api: api.logins())
    if as_json:
        show_json(rows)
        return
    show_rows(rows, LOGIN_COLUMNS, empty=NO_LOGINS)
    for row in (one for one in rows if one["trouble"]):
        tell(clean(f"{row['name']}: {row['trouble']}"))


@commands.command("out")
def sign_out(context: typer.Context, name: LoginName, yes: Yes = False, config: ConfigFile = None) -> None:
    """Sign out: give the tokens back to their issuer, and forget them."""
    from bot.doctor.rows import SEALED_LOGINS, rows_of
    from bot.wiring.logins.signing_out import given_back

    ask_first(yes, f"Sign out of {name}, on all nodes")
    settings = settings_of(context, config, with_secrets=True)
    table = next((one for one in settings.logins if one.name == name), None)
    told = "Its issuer isn't in the settings, so it wasn't told."
    if table:
        [rows] = asyncio.run(rows_of(settings, SEALED_LOGINS))
        told = asyncio.run(given_back(settings, table, next((grant for one, grant in rows if one == name), "")))
    ask_operator(settings, lambda api: api.drop_login(name))
    typer.echo(clean(f"Signed out of {name}. {told}"))


def _table(settings: Settings, name: str) -> LoginTable:
    found = next((table for table in settings.logins if table.name == name), None)
    if found is None:
        known = ", ".join(table.name for table in settings.logins)
        raise ConfigError(f"There is no sign-in {name!r}. {f'There are {known}.' if known else NO_LOGINS}")
    return found


def _show_code(code: DeviceCode) -> None:
    tell("On any device, open this page and enter the code:")
    typer.echo(f"\n  {clean(code.page)}\n  {clean(code.shown)}\n")
    if code.whole:
        tell(f"Or open: {clean(code.whole)}")
    tell(as_called("I wait here until you've done that. Ctrl+C stops it."))

"""`signalbox mcp`: MCP servers of the settings, and logins at those that want one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.cli.mcp.serving import serve
from bot.terminal.browsers import listen_for_address, show_login_page
from bot.terminal.options import AsJson, ConfigFile, ask_operator, settings_of
from bot.terminal.output import show_facts, show_json, show_rows, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.settings.mcp import McpTable
    from bot.settings.settings import Settings

commands = typer.Typer(
    no_args_is_help=True, help="MCP servers: list them, log in at those that want it, and be one (serve)."
)
commands.command()(serve)

SERVER_COLUMNS: Final = {"name": "Server", "at": "At", "login": "Login", "ends": "Token ends"}
NO_SERVERS: Final = "No MCP server is set. `[[mcp]]` in the settings names them."
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Its name in the settings.")]


def add_to(cli: typer.Typer) -> None:
    cli.add_typer(commands, name="mcp")


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """List MCP servers, with their logins."""
    settings = settings_of(context, config)
    kept = _kept(settings)
    rows = [
        {name: facts.get(name, "") for name in SERVER_COLUMNS} for facts in (_facts(one, kept) for one in settings.mcp)
    ]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, SERVER_COLUMNS, empty=NO_SERVERS)


@commands.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show a server and its login. Tokens are never shown."""
    settings = settings_of(context, config)
    facts = _facts(_table(settings, name), _kept(settings))
    if as_json:
        show_json(facts)
    else:
        show_facts(facts.items())


@commands.command()
def login(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Log in at a server: open the page it shows in a browser."""
    from bot.wiring.logins.grants import mcp_login, sealed_grant
    from bot.wiring.logins.logging_in import log_in
    from bot.wiring.logins.parts import login_sealer_of

    settings = settings_of(context, config, with_secrets=True)
    table = _table(settings, name)
    ask_operator(settings, lambda api: api.logins())  # before a person takes the trouble: can it be kept?
    grant = asyncio.run(log_in(settings, table, show=show_login_page, listen=listen_for_address))
    if grant is None:
        tell(f"{name} wants no login.")
        return
    new = sealed_grant(login_sealer_of(settings)(), name, grant)
    fields = {
        "sealed": new.sealed,
        "ends_at": new.ends_at.isoformat() if new.ends_at else "",
        "renews": new.renews,
        "issuer": grant.issuer_name,
    }
    ask_operator(settings, lambda api: api.keep_login(mcp_login(name), fields))
    renewed = "renewed by itself" if grant.can_renew else f"used until {_time(grant.expires_at)}"
    issuer = grant.issuer_name or "its own login server"
    tell(f"Logged in at {name} through {issuer}. The token is sealed for all nodes, and {renewed}.")
    tell("A running Signalbox takes it up within a minute.")


@commands.command()
def logout(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Forget the login at a server, on all nodes."""
    from bot.wiring.logins.grants import mcp_login, old_file

    settings = settings_of(context, config)
    _table(settings, name)
    old_file(settings, name).remove()
    if mcp_login(name) not in _kept(settings):
        tell(f"There is no login at {name}.")
        return
    ask_operator(settings, lambda api: api.drop_login(mcp_login(name)))
    tell(f"Forgot the login at {name}. A running Signalbox forgets it with its next start.")


def _table(settings: Settings, name: str) -> McpTable:
    found = next((table for table in settings.mcp if table.name == name), None)
    if found is None:
        known = ", ".join(table.name for table in settings.mcp)
        raise ConfigError(f"There is no MCP server {name!r}. {f'There are {known}.' if known else NO_SERVERS}")
    return found


def _kept(settings: Settings) -> Mapping[str, Sequence[Any]]:
    """Facts of each sign-in by name, read beside whoever owns the store."""
    from bot.doctor.rows import LOGIN_FACTS, rows_of

    [rows] = asyncio.run(rows_of(settings, LOGIN_FACTS))
    return {row[0]: row for row in rows}


def _facts(table: McpTable, kept: Mapping[str, Sequence[Any]]) -> dict[str, object]:
    from bot.wiring.logins.grants import mcp_login

    facts: dict[str, object] = {"name": table.name, "at": table.url or table.command, "enabled": table.enabled}
    if not table.url:
        return {**facts, "login": "none: it is started here"}
    if table.token:
        return {**facts, "login": "none: it gets a token of the settings"}
    row = kept.get(mcp_login(table.name))
    if row is None:
        return {**facts, "login": "none"}
    _, ends_at, renews, issuer, trouble, _ = row
    how = "renews itself" if renews else "until it ends"
    told = {"login": trouble or how, "ends": _time(ends_at / 1_000_000 if ends_at else None)}
    return {**facts, **told, "issuer": issuer}


def _time(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes") if seconds else "never told"

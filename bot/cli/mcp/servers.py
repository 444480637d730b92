"""`signalbox mcp`: MCP servers of the settings, and logins at those that want one."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.cli.mcp.serving import serve
from bot.terminal.options import AsJson, ConfigFile, settings_of
from bot.terminal.output import clean, show_facts, show_json, show_rows, tell
from runtime.errors import ConfigError

if TYPE_CHECKING:
    from bot.settings.mcp import McpTable
    from bot.settings.settings import Settings
    from tools.mcp.oauth.browser import Callback

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
    rows = [_row(settings, table) for table in settings.mcp]
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, SERVER_COLUMNS, empty=NO_SERVERS)


@commands.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False, config: ConfigFile = None) -> None:
    """Show a server and its login. Tokens are never shown."""
    settings = settings_of(context, config)
    facts = _facts(settings, _table(settings, name))
    if as_json:
        show_json(facts)
    else:
        show_facts(facts.items())


@commands.command()
def login(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Log in at a server: open the page it shows in a browser."""
    from bot.wiring.logins.logging_in import log_in

    settings = settings_of(context, config, with_secrets=True)
    table = _table(settings, name)
    grant = asyncio.run(log_in(settings, table, show=_show, listen=_listen))
    if grant is None:
        tell(f"{name} wants no login.")
        return
    renewed = "renewed by itself" if grant.can_renew else f"used until {_time(grant.expires_at)}"
    tell(
        f"Logged in at {name} through {grant.issuer_name or 'its own login server'}. The token is sealed, and {renewed}."
    )
    tell("A running Signalbox takes it up within a minute.")


@commands.command()
def logout(context: typer.Context, name: Name, config: ConfigFile = None) -> None:
    """Forget the login at a server."""
    from bot.wiring.logins.grants import grant_at

    settings = settings_of(context, config)
    was_there = grant_at(settings, _table(settings, name)).file.remove()
    tell(
        f"Forgot the login at {name}. A running Signalbox forgets it with its next start."
        if was_there
        else f"There is no login at {name}."
    )


def _table(settings: Settings, name: str) -> McpTable:
    found = next((table for table in settings.mcp if table.name == name), None)
    if found is None:
        known = ", ".join(table.name for table in settings.mcp)
        raise ConfigError(f"There is no MCP server {name!r}. {f'There are {known}.' if known else NO_SERVERS}")
    return found


def _row(settings: Settings, table: McpTable) -> dict[str, object]:
    facts = _facts(settings, table)
    return {name: facts.get(name, "") for name in SERVER_COLUMNS}


def _facts(settings: Settings, table: McpTable) -> dict[str, object]:
    from bot.wiring.logins.grants import grant_at

    facts: dict[str, object] = {"name": table.name, "at": table.url or table.command, "enabled": table.enabled}
    if not table.url:
        return {**facts, "login": "none: it is started here"}
    if table.token:
        return {**facts, "login": "none: it gets a token of the settings"}
    grant = grant_at(settings, table).look()
    if grant is None or grant.url != table.url:
        return {**facts, "login": "none"}
    return {
        **facts,
        "login": "renews itself" if grant.can_renew else "until it ends",
        "ends": _time(grant.expires_at),
        "issuer": grant.issuer_name,
        "client_id": grant.client.get("client_id", ""),
        "scopes": grant.token.get("scope") or "",
    }


def _time(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes") if seconds else "never told"


def _show(address: str) -> None:
    tell("Open this page in a browser, and log in:")
    typer.echo(f"\n  {clean(address)}\n")
    if sys.stdin.isatty():
        tell("If the browser can't come back to this machine, paste the address where it ended here.")


def _listen(callback: Callback) -> None:
    """Take an address that somebody types, where a person is at this terminal."""
    if not sys.stdin.isatty():
        return
    loop = asyncio.get_running_loop()

    def typed() -> None:
        line = sys.stdin.readline()
        if not line:
            loop.remove_reader(sys.stdin.fileno())
        elif line.strip():
            try:
                tell(callback.take(line))
            except ValueError as error:
                tell(f"{error}.".capitalize())

    with suppress(OSError, ValueError):  # a terminal that can't be waited for
        loop.add_reader(sys.stdin.fileno(), typed)

"""`[[mcp]]`: one table for each MCP server whose tools the agent may call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from runtime.contract import Effect
from runtime.settings.types import Number, Place, Secret, Section, Switch, Text, Whole, is_http_address

if TYPE_CHECKING:
    from bot.settings.sources import Layers

SERVER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,23}")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FOR_PROGRAMS: Final = ("args", "env", "env_from", "env_secret", "cwd", "uid", "sandbox", "network")
FOR_ADDRESSES: Final = (
    *("headers", "token", "token_env"),
    *("client_id", "client_secret", "client_secret_env", "scopes", "callback_port"),
)
SECRET_SETTINGS: Final = ("headers", "token", "token_env", "client_secret", "client_secret_env")

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def _named(name: str) -> str:
    if not SERVER_NAME.fullmatch(name):
        raise ValueError('a name of at most 24 lowercase letters, digits and dashes, such as "tickets"')
    return name


def _variable(name: str) -> str:
    if not VARIABLE.fullmatch(name):
        raise ValueError('the name of a variable, such as "TICKETS_TOKEN"')
    return name


def _address(url: str) -> str:
    if url and not (is_http_address(url) and not urlsplit(url).password):
        raise ValueError('an address without a password in it, such as "https://tickets.example.org/mcp"')
    return url


Variable = Annotated[str, AfterValidator(_variable)]


class McpTable(Section):
    """An MCP server whose tools the agent may call, as `NAME_tool`: [mcp.md](mcp.md)."""

    name: Annotated[str, AfterValidator(_named)] = Field(
        description="Its name, with which its tools' names begin: lowercase letters, digits and dashes. Each server has its own."
    )
    enabled: Switch = Field(default=True, description="false: it is ignored, as if it weren't here.")
    command: str = Field(
        default="",
        description="Program to start, by path or from PATH; it speaks over standard input and output.",
    )
    args: tuple[str, ...] = Field(default=(), description="Arguments of `command`.")
    env: dict[Variable, str] = Field(
        default={}, description="Variables for it. Besides these it gets PATH, HOME and LANG, and none of Signalbox's."
    )
    env_from: tuple[Variable, ...] = Field(
        default=(), description="Names of variables or sealed secrets to pass to it, under the same names."
    )
    env_secret: dict[Variable, SecretStr] | None = Field(
        default=None, description="Like `env`, for secret values; better to name them in `env_from`."
    )
    cwd: Place | None = Field(
        default=None,
        description="Folder to start in, which it may write to. Default: its own folder in `data_dir`, which is its home too.",
    )
    uid: Whole | None = Field(
        default=None,
        ge=0,
        description="User to run as when Signalbox runs as root; 0: root. Default: `uid` of `[tools.shell]`.",
    )
    sandbox: Literal["auto", "bwrap", "external"] = Field(
        default="auto",
        description='"auto": in bubblewrap, or not at all; "bwrap": the same, and Signalbox does not start '
        'without it; "external": without a sandbox, because a container is the boundary, or because '
        "it may read everything its user can.",
    )
    network: Switch = Field(
        default=False,
        description="true: its sandbox has this machine's network, including loopback. Default: no network.",
    )
    url: Annotated[str, AfterValidator(_address)] = Field(
        default="", description="Instead of `command`: its address, for streamable HTTP."
    )
    headers: dict[str, SecretStr] | None = Field(
        default=None, description="Headers to send with each request; their values are secrets."
    )
    token: Secret = Field(default=None, description='Sent to it as "Authorization: Bearer".')
    token_env: str = Field(default="", description="Name of the variable or sealed secret that holds `token`.")
    client_id: str = Field(
        default="",
        description="For a server that wants a login: our id at its login server, or the https address of a document "
        "about us. Default: Signalbox registers itself.",
    )
    client_secret: Secret = Field(default=None, description="Secret that belongs to `client_id`.")
    client_secret_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `client_secret`."
    )
    scopes: tuple[Text, ...] = Field(
        default=(), description="Scopes to ask for at a login. Default: those that the server names."
    )
    callback_port: Whole = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port on this machine to which the browser returns after a login. 0: any free one.",
    )
    tools: tuple[Text, ...] = Field(default=("*",), description="Globs of its tools to take, by their own names.")
    effect: Effect = Field(default=Effect.WRITE, description="What its tools may do, where `effects` does not say.")
    effects: dict[str, Effect] = Field(
        default={}, description='What individual tools may do, by globs of their own names: `{"list_*" = "read"}`.'
    )
    trust_hints: Switch = Field(
        default=False,
        description="Believe the server about which of its tools only read or may be repeated. Only for a server of your own.",
    )
    timeout_seconds: Number = Field(default=60, gt=0, le=3600, description="Longest wait for the answer to one call.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


def handed_on(layers: Layers) -> Iterator[tuple[str, str]]:
    """Each server that is handed a variable of ours, as `mcp[1]`, and the variable's name."""
    for server, table in layers.tables("mcp"):
        names = table.get("env_from")
        if table.get("enabled") is False or not isinstance(table.get("env_secret", {}), dict):
            continue
        for name in names if isinstance(names, list | tuple) else ():
            if isinstance(name, str) and VARIABLE.fullmatch(name):
                yield server, name


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Faults that show only when the settings of a server, and of all servers, are looked at together."""
    first: dict[Any, str] = {}
    for server, table in layers.tables("mcp"):
        name = table.get("name")
        if isinstance(name, str) and name in first:
            yield f"{server}.name", f"{first[name]} has this name too; give each server its own"
        elif isinstance(name, str):
            first[name] = server
        yield from _ways(server, table)


def _ways(server: str, table: Mapping[str, Any]) -> Iterator[Fault]:
    command, url = table.get("command"), table.get("url")
    if not command and not url:
        yield f"{server}.command", "is missing; set it, or url for a server reached over HTTP"
    elif command and url:
        yield f"{server}.url", "is set, and command too; keep one of them"
    for name in FOR_ADDRESSES if command else FOR_PROGRAMS:
        if table.get(name) not in (None, "", [], {}, ()) and bool(command) != bool(url):
            what = "a server reached by url" if command else "a server that command starts"
            yield f"{server}.{name}", f"is only for {what}; remove it"
    if table.get("sandbox") == "external" and table.get("network") is False:
        yield f"{server}.network", 'only works in a sandbox; remove it, or set sandbox = "auto"'
    if isinstance(url, str) and is_open_to_all(url) and any(table.get(name) for name in SECRET_SETTINGS):
        yield f"{server}.url", "what is sent to it could be read on the way to another machine; use https://"


def is_open_to_all(url: str) -> bool:
    """True for an address on the way to which others can read what is sent."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:  # told with the setting itself
        return False
    if parts.scheme != "http" or host == "localhost":
        return False
    try:
        return not ip_address(host).is_loopback
    except ValueError:  # a name
        return True

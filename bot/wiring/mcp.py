"""MCP servers of the settings, and the agent's tools with theirs among them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog
from pydantic import SecretStr

from bot.secrets.chain import Bound
from bot.settings.mcp import McpTable
from bot.settings.settings import Settings
from bot.settings.sources import config_folder
from bot.wiring.engine import shell_of
from runtime.contract import Call, RunId, Tool, Turn
from runtime.errors import ConfigError, Rejected, StoreError
from tools.kit.placeholders import Filled, LentSecret, NoSecrets, SecretBook, names_in, objection
from tools.sandbox.sandbox import PATH

if TYPE_CHECKING:
    from bot.wiring.logins.grants import GrantsOf
    from tools.mcp.oauth.grants import Grants
    from tools.mcp.server import McpServer
    from tools.mcp.terms import Endpoint, Program, SandboxTerms, ServerTerms
    from tools.plugins.folder import FolderTools

MCP_FOLDER: Final = "mcp"
"""Of `data_dir`: a folder for each server that is started here, what each of them last offered, and its grant."""
RECONNECT_SECONDS: Final = 5.0  # seconds

SEEN_AGAIN: Final = timedelta(days=1)
"""A form that nobody sees for long is forgotten: retention.approvals_days."""

See = Callable[[str, str], Awaitable[str]]
"""A tool is offered in a form: what changed of it, where nobody was told yet."""
Told = Callable[[str, str], Awaitable[None]]
"""Operators were told."""
Tell = Callable[[str, str, str], Awaitable[None]]
"""Has operators read it."""
log = structlog.get_logger("mcp")

Wrap = Callable[[Mapping[str, Tool]], Mapping[str, Tool]]
NOTHING_BOUND: Final[Mapping[str, Bound]] = {}


def in_hand(table: McpTable) -> Grants:
    """No grant, until somebody signs in."""
    from bot.wiring.logins.grants import GrantInHand

    return GrantInHand()


@dataclass(frozen=True, slots=True)
class AtWork:
    """Loans for calls elsewhere: grants of MCP servers, and secrets for the hosts they are bound to."""

    grants: GrantsOf = in_hand
    secrets: SecretBook = field(default_factory=NoSecrets)
    bound: Mapping[str, Bound] = field(default_factory=dict, repr=False)


class Toolbox:
    """Tools of this build and of MCP servers. `tools` are the current ones, each in `wrap`."""

    def __init__(self, own: Mapping[str, Tool], wrap: Wrap) -> None:
        self._own = own
        self._wrap = wrap
        self._servers: Sequence[McpServer] = ()
        self._folder: FolderTools | None = None
        self._brought: Mapping[str, Tool] = {}
        self.tools = dict(wrap(own))
        self._renewed = asyncio.Event()
        self._logins: set[str] = set()

    def join(self, servers: Sequence[McpServer]) -> None:
        """From now on with their tools. Errors: ConfigError for a server whose tools would be called as ours are."""
        for server in servers:
            if alike := next((name for name in self._own if name.startswith(f"{server.name}_")), None):
                raise ConfigError(
                    f'[[mcp]] name = "{server.name}": its tools could get the name of a built-in one, {alike}. Give the '
                    "server another name."
                )
        self._servers = servers

    def watch_folder(self, folder: FolderTools) -> None:
        """From now on with tools of files."""
        self._folder = folder

    def bring(self, tools: Mapping[str, Tool]) -> None:
        """From now on with these beside our own, in place of what was brought before."""
        if tools.keys() != self._brought.keys():
            self._brought = tools
            self.renew()

    def add(self, tools: Mapping[str, Tool]) -> None:
        """From now on with these among our own, for the program around us."""
        self._own = {**self._own, **tools}
        self.renew()

    def renew(self) -> None:
        """The tools of a server or a file are others."""
        theirs: dict[str, Tool] = {tool.spec.name: tool for server in self._servers for tool in server.tools}
        asking = {tool.spec.name: tool for server in self._servers for tool in server.asking}
        known = {**self._own, **self._brought, **theirs, **asking}
        now = self._wrap({**known, **(self._folder.beside(known) if self._folder else {})})
        self.tools.clear()
        self.tools.update(now)
        self._renewed.set()

    async def next_call(self, run: RunId, turns: Sequence[Turn]) -> Call | None:
        """The call that a run makes next for a server that asks something in the middle of one."""
        for server in self._servers:
            if call := await server.held.next_call(run, turns):
                return call
        return None

    def needs_login(self, server: str) -> None:
        """A person must log in there."""
        self._logins.add(server)
        self._renewed.set()

    async def watch(self, see: See, tell: Tell, told: Told, tell_login: Callable[[str], Awaitable[None]]) -> None:
        """Have each form of a tool of others seen, anew each day, and tell of those that changed, and of servers that want
        a login. Never returns."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(SEEN_AGAIN.total_seconds()):
                    await self._renewed.wait()
            self._renewed.clear()
            try:
                for name, form in [(it.spec.name, it.spec.form) for it in self.tools.values() if it.spec.form]:
                    if changed := await see(name, form):
                        log.warning("a tool of an MCP server changed", tool=name, changed=changed)
                        await tell(name, form, changed)
                        await told(name, form)
                for server in sorted(self._logins):
                    await tell_login(server)
                    self._logins.discard(server)
            except (StoreError, Rejected) as error:
                log.warning("operators are not told yet", reason=str(error))
                self._renewed.set()
                await asyncio.sleep(RECONNECT_SECONDS)

    def duties(self) -> Sequence[Callable[[], Coroutine[Any, Any, None]]]:
        """Loops that keep the servers at work, one each, and the folder of files."""
        return [server.run for server in self._servers] + ([self._folder.run] if self._folder else [])


def toolbox_of(settings: Settings, own: Mapping[str, Tool], wrap: Wrap, at_work: AtWork | None = None) -> Toolbox:
    """Nothing is imported where no server is set. Errors: ConfigError."""
    toolbox, lent = Toolbox(own, wrap), at_work or AtWork()
    if tables := [table for table in settings.mcp if table.enabled]:
        from bot.wiring.logins.grants import sealer_of
        from bot.wiring.logins.sealed_files import SealedFolder
        from tools.mcp.server import McpServer

        folder, sealer = settings.data_dir / MCP_FOLDER, sealer_of(settings)
        toolbox.join(
            [
                McpServer(
                    replace(terms_of(settings, table, lent.grants, lent.bound), secrets=lent.secrets),
                    on_change=toolbox.renew,
                    keep=SealedFolder(folder / f"{table.name}.asked", sealer),
                    on_login=toolbox.needs_login,
                )
                for table in tables
            ]
        )
    return toolbox


async def check_sandboxes(settings: Settings) -> None:
    """Errors: ConfigError for a server that must have a sandbox where none can be made."""
    for table in settings.mcp:
        if table.enabled and table.command and table.sandbox == "bwrap":
            await _check_sandbox(settings, table)


async def _check_sandbox(settings: Settings, table: McpTable) -> None:
    from tools.mcp.errors import NoServer
    from tools.mcp.sandbox import sandbox_of

    program = _program(settings, table)
    try:
        await sandbox_of(program, program.sandbox or _sandbox_terms(settings, table))
    except NoServer as error:
        name = f'[[mcp]] name = "{table.name}"'
        raise ConfigError(f'{name}: sandbox = "bwrap" is required, but it cannot work here: {error}') from error


def terms_of(
    settings: Settings,
    table: McpTable,
    grants: GrantsOf = in_hand,
    bound: Mapping[str, Bound] = NOTHING_BOUND,
) -> ServerTerms:
    """Terms of a server; without `grants` it is reached without a login. `bound` fill the placeholders in its headers.

    Errors: ConfigError for a header with a secret that isn't for this server.
    """
    from tools.mcp.terms import ServerTerms

    return ServerTerms(
        name=table.name,
        way=_endpoint(table, grants, bound) if table.url else _program(settings, table),
        memory=settings.data_dir / MCP_FOLDER / f"{table.name}.json",
        effect=table.effect,
        effects=table.effects,
        trust_hints=table.trust_hints,
        wanted=table.tools,
        timeout=table.timeout,
    )


def _program(settings: Settings, table: McpTable) -> Program:
    from tools.mcp.terms import Program

    path = settings.chain.variables.get("PATH") or PATH
    uid = shell_of(settings).uid if table.uid is None else table.uid
    return Program(
        command=(table.command, *table.args),
        folder=settings.data_dir / MCP_FOLDER / table.name,
        env={"PATH": path, **table.env, **_open(table.env_secret)},
        cwd=table.cwd,
        uid=uid or None,
        hidden=tuple(_open(table.env_secret).values()),
        sandbox=None if table.sandbox == "external" else _sandbox_terms(settings, table),
    )


def _sandbox_terms(settings: Settings, table: McpTable) -> SandboxTerms:
    from tools.mcp.terms import SandboxTerms

    return SandboxTerms(tuple(secret_places(settings)), network=table.network)


def secret_places(settings: Settings) -> Iterator[Path]:
    """Files and folders that hold what is ours, whether they are there or not."""
    yield from (settings.data_dir, settings.workspace_dir)
    secrets = settings.secrets
    config = config_folder(settings.chain.variables)
    yield from filter(None, (settings.file, secrets.folder, secrets.file, secrets.passphrase_file, config))
    if database := settings.database_file:
        yield from (database.with_name(database.name + end) for end in ("", "-wal", "-shm", "-journal"))


def _endpoint(table: McpTable, grants: GrantsOf, bound: Mapping[str, Bound]) -> Endpoint:
    from bot.wiring.logins.grants import login_of
    from tools.mcp.terms import Endpoint

    token = {"Authorization": f"Bearer {table.token.get_secret_value()}"} if table.token else {}
    headers = {name: _header(table, value, bound) for name, value in _open(table.headers).items()}
    return Endpoint(table.url, {**token, **headers}, login_of(table, grants(table)))


def _header(table: McpTable, value: str, bound: Mapping[str, Bound]) -> str:
    """A header as it is sent. Without any `bound` nothing is sent."""
    if "{{" not in value or not bound:
        return value
    names = names_in(value)
    if why := objection(NoSecrets({name: secret.hosts for name, secret in bound.items()}), names, table.url):
        raise ConfigError(f'[[mcp]] name = "{table.name}": headers: {why}')
    return Filled([LentSecret(name, bound[name].value, ()) for name in names]).text(value)


def _open(values: Mapping[str, SecretStr] | None) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in (values or {}).items()}

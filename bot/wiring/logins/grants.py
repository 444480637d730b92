"""Grants of MCP servers in the data folder, and the login at one by a person in a terminal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.settings.mcp import McpTable
from bot.settings.settings import Settings
from bot.wiring.logins.sealed_files import MadeSealer, SealedFile
from bot.wiring.mcp import MCP_FOLDER
from bot.wiring.safety.guard import key_of
from runtime.guard.sealing import Sealer

if TYPE_CHECKING:
    from tools.mcp.oauth.grants import AskPerson, Grant, Login


@dataclass(frozen=True, slots=True)
class KeptGrant:
    """Implements `tools.mcp.oauth.grants.Grants` over one sealed file."""

    file: SealedFile

    async def read(self, url: str) -> Grant | None:
        grant = await asyncio.to_thread(self.look)
        return grant if grant and grant.url == url else None

    def look(self) -> Grant | None:
        """The grant, for whichever address. Blocks. Errors: StoreError."""
        from tools.mcp.oauth.grants import grant_of

        text = self.file.read()
        return grant_of(text) if text else None

    async def write(self, grant: Grant) -> None:
        await asyncio.to_thread(self.file.write, grant.text())


def sealer_of(settings: Settings) -> MadeSealer:
    return lambda: Sealer(key_of(settings.data_dir))


def grant_at(settings: Settings, table: McpTable) -> KeptGrant:
    path = settings.data_dir / MCP_FOLDER / f"{table.name}.grant"
    return KeptGrant(SealedFile(path, sealer_of(settings)))


def login_of(settings: Settings, table: McpTable, back: str = "", ask: AskPerson | None = None) -> Login | None:
    """Terms of the login at a server; None for one that gets a token of the settings. Errors: StoreError."""
    from tools.mcp.oauth.grants import BACK, Login

    if not table.url or table.token or any(name.lower() == "authorization" for name in table.headers or ()):
        return None
    return Login(
        table.name,
        grant_at(settings, table),
        client_id=table.client_id,
        client_secret=table.client_secret.get_secret_value() if table.client_secret else "",
        scopes=" ".join(table.scopes),
        back=back or BACK,
        ask=ask,
    )

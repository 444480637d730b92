"""Grants of MCP servers: in the table of sign-ins, which all nodes share, and in hand while a person signs in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from bot.settings.mcp import McpTable
from bot.settings.settings import Settings
from bot.wiring.logins.parts import STORE_TIME, login_sealer_of
from bot.wiring.logins.sealed_files import MadeSealer, SealedFile
from bot.wiring.mcp import MCP_FOLDER
from bot.wiring.safety.guard import key_of
from runtime.contract import NewId
from runtime.errors import StoreError
from runtime.guard.sealing import Sealer, Unsealable
from runtime.store.logins.rows import KeptLogin, NewGrant
from runtime.store.logins.store import LoginStore

if TYPE_CHECKING:
    from tools.mcp.oauth.grants import AskPerson, Grant, Grants, Login

log = structlog.get_logger("mcp")

MCP_LOGIN: Final = "mcp:"
"""Begins the names of sign-ins at MCP servers."""
GRANT_ENDING: Final = ".grant"
"""Of files in which earlier versions kept the grants of their node."""
RENEWED_WITHIN: Final = 30.0
"""Seconds in which another node may renew a grant before it is asked for anew."""
RENEWAL_STEP: Final = 0.2
"""Seconds between two looks at what another node stored."""
SIGN_IN_AT_SERVER: Final = "Its login server takes its token no more. Sign in again: signalbox mcp login {name}"
CUT_OFF_AT_SERVER: Final = (
    "A renewal was cut off before its answer was stored, and the old token isn't good any more. Sign in again: "
    "signalbox mcp login {name}"
)

HELD_TOKENS: Final = ("access_token", "refresh_token")
"""Names of the values in a grant that must not flow."""
Holds = Callable[[str, str], None]
"""Has the leak guard know a token, by a name."""


def held_by_nobody(_name: str, _token: str) -> None:
    """For a check, which says nothing to anybody."""


GrantsOf = Callable[[McpTable], "Grants"]
"""The grants of one server."""


def mcp_login(server: str) -> str:
    """The name of the sign-in at an MCP server."""
    return f"{MCP_LOGIN}{server}"


def mcp_place(server: str) -> str:
    """The place to which its sealed grant is bound."""
    return f"login {mcp_login(server)}"


class SharedGrant:
    """Implements `tools.mcp.oauth.grants.Grants` for one server over the table of all nodes."""

    def __init__(
        self,
        server: str,
        book: LoginStore,
        sealer: MadeSealer,
        *,
        new_id: NewId,
        old: SealedFile | None = None,
        holds: Holds = held_by_nobody,
    ) -> None:
        self._server = server
        self._book = book
        self._sealer = sealer
        self._new_id = new_id
        self._old = old
        self._holds = holds
        self._claim = ""
        self._was_unfinished = False

    async def read(self, url: str) -> Grant | None:
        kept = await self._kept()
        grant = self._opened(kept) if kept else None
        if grant:
            self._hold(grant)
        return grant if grant and grant.url == url else None

    def _hold(self, grant: Grant) -> None:
        for name in HELD_TOKENS:
            if token := str(grant.token.get(name) or ""):
                self._holds(mcp_place(self._server), token)

    async def write(self, grant: Grant) -> None:
        """Store a grant that was renewed. Whoever's claim has gone has been overtaken: another grant is there.

        The old refresh token is spent by now: a caller that goes away must not cost the login. Errors: StoreError.
        """
        self._hold(grant)
        writing = asyncio.ensure_future(self._stored(grant))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])
            if not writing.cancelled() and (error := writing.exception()):
                log.warning("a renewed token is not stored", server=self._server, reason=str(error))
            raise

    async def _stored(self, grant: Grant) -> None:
        """Nor must a store that is away for a moment: the claim is kept, and it's tried again as long as that is good."""
        until = time.monotonic() + STORE_TIME.total_seconds()
        while True:
            try:
                await self._put(grant)
            except StoreError as error:
                if time.monotonic() > until:
                    raise
                log.warning("a renewed token can't be stored yet", server=self._server, reason=str(error))
                await asyncio.sleep(RENEWAL_STEP)
            else:
                self._claim = ""
                return

    async def _put(self, grant: Grant) -> None:
        name = mcp_login(self._server)
        if self._claim:
            await self._book.renew_login(name, self._claim, self._new(grant))
        else:
            await self._book.keep_login(name, self._new(grant), grant.issuer_name, "")

    async def claim(self, known: Grant) -> bool:
        until = time.monotonic() + RENEWED_WITHIN
        while True:
            kept = await self._kept()
            if kept is None or self._opened(kept) != known:
                return False
            claim = self._new_id()
            if before := await self._book.claim_login(kept.name, kept.version, claim):
                self._claim, self._was_unfinished = claim, before.unfinished
                return True
            if time.monotonic() > until:
                return False
            await asyncio.sleep(RENEWAL_STEP)

    async def free(self, *, refused: bool) -> None:
        claim, self._claim = self._claim, ""
        if claim:
            words = (CUT_OFF_AT_SERVER if self._was_unfinished else SIGN_IN_AT_SERVER).format(name=self._server)
            name = mcp_login(self._server)
            await self._book.free_login(name, claim, words if refused else "", unfinished=not refused, dead=refused)

    async def _kept(self) -> KeptLogin | None:
        kept = await self._book.login(mcp_login(self._server))
        if kept is None and self._old is not None:
            await self._take_over(self._old)
            kept = await self._book.login(mcp_login(self._server))
        return kept

    async def _take_over(self, file: SealedFile) -> None:
        """Move a grant of an earlier version from its file into the table."""
        self._old = None
        if grant := await asyncio.to_thread(grant_in, file):
            await self._book.keep_login(mcp_login(self._server), self._new(grant), grant.issuer_name, "")
            await asyncio.to_thread(file.remove)

    def _opened(self, kept: KeptLogin) -> Grant | None:
        from tools.mcp.oauth.grants import grant_of

        try:
            return grant_of(self._sealer().open(kept.sealed, mcp_place(self._server)))
        except Unsealable:
            log.warning("a sign-in was sealed with another node's key", server=self._server)
            return None

    def _new(self, grant: Grant) -> NewGrant:
        return sealed_grant(self._sealer(), self._server, grant)


class GrantInHand:
    """Implements `tools.mcp.oauth.grants.Grants` for a person's login, whose grant is stored by whoever owns the store."""

    def __init__(self) -> None:
        self.grant: Grant | None = None

    async def read(self, url: str) -> Grant | None:
        return None

    async def write(self, grant: Grant) -> None:
        self.grant = grant

    async def claim(self, known: Grant) -> bool:
        return False

    async def free(self, *, refused: bool) -> None:
        pass


class LookedAt(GrantInHand):
    """A grant that is used as it is and never renewed: a check must not take part in renewals."""

    def __init__(self, sealer: MadeSealer, sealed: Mapping[str, str], server: str) -> None:
        super().__init__()
        self._sealer = sealer
        self._sealed = sealed.get(mcp_login(server), "")
        self._server = server

    async def read(self, url: str) -> Grant | None:
        from dataclasses import replace

        from tools.mcp.oauth.grants import grant_of

        try:
            grant = grant_of(self._sealer().open(self._sealed, mcp_place(self._server))) if self._sealed else None
        except Unsealable:
            return None
        if grant is None or grant.url != url:
            return None
        return replace(grant, token={name: value for name, value in grant.token.items() if name != "refresh_token"})


def sealed_grant(sealer: Sealer, server: str, grant: Grant) -> NewGrant:
    ends = datetime.fromtimestamp(grant.expires_at, UTC) if grant.expires_at else None
    return NewGrant(sealer.seal(grant.text(), mcp_place(server)), ends, grant.can_renew)


def grant_in(file: SealedFile) -> Grant | None:
    """A grant in a file. Blocks. Errors: StoreError."""
    from tools.mcp.oauth.grants import grant_of

    text = file.read()
    return grant_of(text) if text else None


def sealer_of(settings: Settings) -> MadeSealer:
    return lambda: Sealer(key_of(settings.data_dir))


def old_file(settings: Settings, server: str) -> SealedFile:
    """The file of an earlier version."""
    return SealedFile(Path(settings.data_dir) / MCP_FOLDER / f"{server}{GRANT_ENDING}", sealer_of(settings))


def shared_grants(settings: Settings, book: LoginStore, new_id: NewId, *, holds: Holds = held_by_nobody) -> GrantsOf:
    """Grants in the table of `book`."""
    sealer = login_sealer_of(settings)

    def grants_of(table: McpTable) -> SharedGrant:
        return SharedGrant(table.name, book, sealer, new_id=new_id, old=old_file(settings, table.name), holds=holds)

    return grants_of


def login_of(table: McpTable, grants: Grants, back: str = "", ask: AskPerson | None = None) -> Login | None:
    """Terms of the login at a server; None for one that gets a token of the settings."""
    from tools.mcp.oauth.grants import BACK, Login

    if not table.url or table.token or any(name.lower() == "authorization" for name in table.headers or ()):
        return None
    return Login(
        table.name,
        grants,
        client_id=table.client_id,
        client_secret=table.client_secret.get_secret_value() if table.client_secret else "",
        scopes=" ".join(table.scopes),
        back=back or BACK,
        ask=ask,
    )

"""The token of one sign-in, as it is used and renewed: by one node at a time, and stored before it is used."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

import structlog

from bot.wiring.logins.parts import STORE_TIME
from runtime.contract import NewId, Now, Probe, no_probe
from runtime.errors import StoreError
from runtime.guard.sealing import Sealer, Unsealable
from runtime.models.account.tokens import LoginFailed
from runtime.oauth.errors import IssuerAway, IssuerRefused
from runtime.oauth.grant import IssuerGrant, issuer_grant_of
from runtime.store.logins.rows import KeptLogin, NewGrant

if TYPE_CHECKING:
    from runtime.oauth.client import IssuerClient

log = structlog.get_logger("logins")

SIGN_IN: Final = "Sign in: signalbox login {name}"
SIGN_IN_AGAIN: Final = "Sign in again: signalbox login {name}"
NOT_SIGNED_IN: Final = "Nobody is signed in at {name}. " + SIGN_IN
OTHER_KEY: Final = (
    "The sign-in {name} was sealed with another node's key. Give all nodes one: copy guard.key from the node where you "
    "signed in, or set secrets.shared_key_env."
)
CUT_OFF: Final = (
    "A renewal of the sign-in {name} was cut off before its answer was stored, and its old token isn't good any more. "
    + SIGN_IN_AGAIN
)
REVOKED: Final = "The sign-in {name} has ended: its issuer {why}. " + SIGN_IN_AGAIN
NOT_RENEWED: Final = "The token of the sign-in {name} could not be renewed: its issuer {why}."
RAN_OUT: Final = "The token of the sign-in {name} has ended, and it can't be renewed. " + SIGN_IN_AGAIN
STILL_REFUSED: Final = "The token of the sign-in {name} was refused, also once it was renewed. " + SIGN_IN_AGAIN
JUST_REFUSED: Final = (
    "The token of the sign-in {name} was refused before its end, and it can't be renewed. " + SIGN_IN_AGAIN
)
DEAD: Final = "invalid_grant"
"""The issuer's word for a refresh token that it takes no more (RFC 6749, 5.2)."""
OTHERS_TIME: Final = timedelta(seconds=30)
"""Wait for another node that renews a token which is over."""
LOOK_AGAIN: Final = 0.2
"""Seconds between two looks at what another node stored, and between two tries to store a grant."""


class LoginBook(Protocol):
    """The store's part of sign-ins."""

    async def login(self, name: str) -> KeptLogin | None: ...

    async def claim_login(self, name: str, version: int, claim: str) -> KeptLogin | None: ...

    async def renew_login(self, name: str, claim: str, grant: NewGrant) -> bool: ...

    async def free_login(
        self, name: str, claim: str, trouble: str = "", *, unfinished: bool = False, dead: bool = False
    ) -> bool: ...

    async def refuse_login(self, name: str, version: int, trouble: str = "") -> int: ...


def place_of(name: str) -> str:
    """The place to which a sealed grant is bound."""
    return f"login {name}"


def new_grant(sealer: Sealer, name: str, grant: IssuerGrant) -> NewGrant:
    return NewGrant(sealer.seal(grant.text(), place_of(name)), grant.ends_at, grant.can_renew)


class LoginTokens:
    """Implements `runtime.models.account.tokens.KeyTokens` for one sign-in, for all nodes on one store."""

    def __init__(
        self,
        name: str,
        *,
        book: LoginBook,
        client: Callable[[], IssuerClient],
        sealer: Callable[[], Sealer],
        now: Now,
        new_id: NewId,
        probe: Probe = no_probe,
    ) -> None:
        self.name = name
        self._book = book
        self._client = client
        self._sealer = sealer
        self._now = now
        self._new_id = new_id
        self._probe = probe
        self.holds: Callable[[str, str], None] = lambda _name, _token: None
        """Has the leak guard know each token that is used here."""

    async def token(self) -> str:
        kept, grant = await self._read()
        if grant.is_due(self._now()):
            return await self._fresh(kept, grant)
        return grant.access_token

    async def refused(self, token: str, *, again: bool) -> str:
        kept, grant = await self._read()
        if grant.access_token != token:
            return grant.access_token  # another call or node has renewed it meanwhile
        can_renew = kept.renews and not again
        words = "" if can_renew else (STILL_REFUSED if again else JUST_REFUSED).format(name=self.name)
        count = await self._book.refuse_login(self.name, kept.version, words)
        log.warning("a token was refused", login=self.name, times=count, renewed=again)
        if not can_renew:
            raise LoginFailed(words)
        return await self._fresh(kept, grant, by_force=True)

    async def renew_if_due(self) -> datetime | None:
        """Renew it where that is due; the time of the next look, None where there is nothing to renew. Errors: LoginFailed."""
        kept, grant = await self._read()
        if not kept.renews:
            return None
        if grant.is_due(self._now()):
            await self._fresh(kept, grant)
            kept, grant = await self._read()
        return grant.due_at

    # ------------------------------------------------------------------------------------------------------- renewing

    async def _read(self) -> tuple[KeptLogin, IssuerGrant]:
        kept = await self._book.login(self.name)
        if kept is None:
            raise LoginFailed(NOT_SIGNED_IN.format(name=self.name))
        return kept, self._opened(kept)

    def _opened(self, kept: KeptLogin) -> IssuerGrant:
        try:
            grant = issuer_grant_of(self._sealer().open(kept.sealed, place_of(self.name)))
        except Unsealable:
            grant = None
        if grant is None:
            raise LoginFailed(OTHER_KEY.format(name=self.name))
        return self._held(grant)

    def _held(self, grant: IssuerGrant) -> IssuerGrant:
        for token in filter(None, (grant.access_token, grant.refresh_token)):
            self.holds(place_of(self.name), token)
        return grant

    async def _fresh(self, kept: KeptLogin, grant: IssuerGrant, *, by_force: bool = False) -> str:
        """A token that was renewed by us or by another node; the old one while that is good for a while yet."""
        if not kept.renews:
            if grant.is_over(self._now()):
                raise LoginFailed(kept.trouble or RAN_OUT.format(name=self.name))
            return grant.access_token
        claim = self._new_id()
        before = await self._book.claim_login(self.name, kept.version, claim)
        if before is None:
            return await self._of_another(kept, grant, by_force=by_force)
        # Whoever waits for the token may go away; the answer with the next refresh token must be stored all the same.
        renewing = asyncio.ensure_future(self._renewed(before, grant, claim, by_force=by_force))
        try:
            return await asyncio.shield(renewing)
        except asyncio.CancelledError:
            await asyncio.wait([renewing])
            if not renewing.cancelled() and (error := renewing.exception()):
                log.warning("a token was not renewed", login=self.name, reason=str(error))
            raise

    async def _renewed(self, before: KeptLogin, grant: IssuerGrant, claim: str, *, by_force: bool) -> str:
        try:
            fresh = await self._client().renewed(grant)
        except IssuerRefused as error:
            return await self._ended(before, grant, claim, error, by_force=by_force)
        except IssuerAway as error:
            await self._book.free_login(self.name, claim, unfinished=before.unfinished or error.sent)
            log.warning("a token was not renewed", login=self.name, reason=str(error))
            if by_force or grant.is_over(self._now()):
                raise LoginFailed(NOT_RENEWED.format(name=self.name, why=error), is_away=True) from None
            return grant.access_token
        self._probe("renewed")
        if not await self._stored(claim, new_grant(self._sealer(), self.name, fresh)):
            _, fresh = await self._read()  # somebody signed in meanwhile
        return self._held(fresh).access_token

    async def _stored(self, claim: str, grant: NewGrant) -> bool:
        """Store the issuer's answer; false where the claim is another's. The old refresh token is spent, so that a store
        which is away for a moment must not cost the sign-in."""
        until = time.monotonic() + STORE_TIME.total_seconds()
        while True:
            try:
                return await self._book.renew_login(self.name, claim, grant)
            except StoreError as error:
                if time.monotonic() > until:
                    raise
                log.warning("a renewed token can't be stored yet", login=self.name, reason=str(error))
                await asyncio.sleep(LOOK_AGAIN)

    async def _ended(
        self, before: KeptLogin, grant: IssuerGrant, claim: str, error: IssuerRefused, *, by_force: bool
    ) -> str:
        is_dead = error.code == DEAD
        words = (CUT_OFF if is_dead and before.unfinished else REVOKED).format(name=self.name, why=error)
        await self._book.free_login(self.name, claim, words, dead=is_dead)
        log.warning("a token was not renewed", login=self.name, reason=str(error))
        if by_force or grant.is_over(self._now()):
            raise LoginFailed(words)
        return grant.access_token

    async def _of_another(self, kept: KeptLogin, grant: IssuerGrant, *, by_force: bool) -> str:
        if not by_force and not grant.is_over(self._now()):
            return grant.access_token
        until = time.monotonic() + OTHERS_TIME.total_seconds()
        while time.monotonic() < until:
            now_kept, now_grant = await self._read()
            if now_kept.version != kept.version:
                return now_grant.access_token
            if not now_kept.claim:
                if now_kept.trouble:
                    raise LoginFailed(now_kept.trouble)
                break  # it gave up: the issuer is away
            await asyncio.sleep(LOOK_AGAIN)
        raise LoginFailed(NOT_RENEWED.format(name=self.name, why="gave another node no answer"), is_away=True)

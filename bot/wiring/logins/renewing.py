"""The duty that renews tokens before their end, whether anybody uses them or not; on each node, of which one gets to do it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.wiring.logins.tokens import LoginTokens
from runtime.contract import Now
from runtime.errors import Rejected, StoreError
from runtime.models.account.tokens import LoginFailed
from runtime.store.logins.rows import KeptLogin

log = structlog.get_logger("logins")

RENEWAL_LOOK: Final = timedelta(minutes=1)
"""Longest time between two looks: another node may keep a new sign-in, and an issuer that was away comes back."""
RENEWAL_REST: Final = timedelta(seconds=5)
"""Shortest one: an issuer may give tokens of a second."""

Ended = Callable[[str, str], Awaitable[None]]
"""Tells operators of a sign-in, and why only they can help. Errors: Rejected while they can't be told."""


class TokenRenewal:
    """Renews the tokens of all sign-ins of the settings."""

    def __init__(
        self,
        tokens: Mapping[str, LoginTokens],
        *,
        kept: Callable[[str], Awaitable[KeptLogin | None]],
        ended: Ended,
        now: Now,
    ) -> None:
        self._tokens = tokens
        self._kept = kept
        self._ended = ended
        self._now = now
        self._told: set[tuple[str, int]] = set()

    async def run(self) -> None:
        """Renew for ever."""
        while True:
            rest = await self.look()
            await asyncio.sleep(rest.total_seconds())

    async def look(self) -> timedelta:
        """Renew what is due; the time until the next look."""
        looks = [await self._one(name, tokens) for name, tokens in self._tokens.items()]
        now = self._now()
        waits = [at - now for at in looks if at]
        return max(RENEWAL_REST, min([RENEWAL_LOOK, *waits]))

    async def _one(self, name: str, tokens: LoginTokens) -> datetime | None:
        due = None
        try:
            due = await tokens.renew_if_due()
        except LoginFailed as error:
            log.debug("a token is not renewed", login=name, reason=str(error))
        except StoreError as error:
            log.debug("sign-ins can't be read right now", reason=str(error))
            return None
        try:
            await self._tell(name)
        except (StoreError, Rejected) as error:
            log.debug("operators are not told yet", login=name, reason=str(error))
        return due

    async def _tell(self, name: str) -> None:
        """Tell of trouble once: whoever posts it first has posted it for all nodes."""
        kept = await self._kept(name)
        if kept and kept.trouble and (name, kept.version) not in self._told:
            await self._ended(name, kept.trouble)
            self._told.add((name, kept.version))

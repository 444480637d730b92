"""Sign-ins over an engine."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from runtime.store.logins.rows import (
    KeptLogin,
    NewGrant,
    claim_login,
    drop_login,
    every_login,
    free_login,
    keep_login,
    one_login,
    refuse_login,
    renew_login,
)
from runtime.store.sql.base import Base

RENEWING_TIME: Final = timedelta(seconds=30)
"""A node that renews a grant has this long until another one may: longer than it waits for the issuer."""


class LoginStore(Base):
    """Grants of sign-ins, which all nodes share."""

    async def logins(self) -> list[KeptLogin]:
        return await self._driver.read(every_login)

    async def login(self, name: str) -> KeptLogin | None:
        return await self._driver.read(lambda: one_login(name))

    async def keep_login(self, name: str, grant: NewGrant, issuer: str, by: str) -> None:
        now = self.now()
        await self._driver.write(lambda: keep_login(name, grant, issuer, by, now))

    async def drop_login(self, name: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: drop_login(name, by, now))

    async def claim_login(self, name: str, version: int, claim: str) -> KeptLogin | None:
        now = self.now()
        return await self._driver.write(lambda: claim_login(name, version, claim, now + RENEWING_TIME, now))

    async def renew_login(self, name: str, claim: str, grant: NewGrant) -> bool:
        now = self.now()
        return await self._driver.write(lambda: renew_login(name, claim, grant, now))

    async def free_login(
        self, name: str, claim: str, trouble: str = "", *, unfinished: bool = False, dead: bool = False
    ) -> bool:
        now = self.now()
        return await self._driver.write(lambda: free_login(name, claim, trouble, unfinished, dead, now))

    async def refuse_login(self, name: str, version: int, trouble: str = "") -> int:
        now = self.now()
        return await self._driver.write(lambda: refuse_login(name, version, trouble, now))

"""Sign-ins for operators: until when each is good, and how one is kept and given up. Tokens stay sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.cluster.topics import COOLDOWNS
from runtime.contract import Now
from runtime.http.errors import Refusal
from runtime.store.logins.rows import KeptLogin, NewGrant
from runtime.store.logins.store import LoginStore

SEALED_MAX_CHARS: Final = 64 << 10
LOGIN_NAME_MAX_CHARS: Final = 60
NOT_SIGNED: Final = "not signed in"
LOGIN_WORKS: Final = "works"
LOGIN_ENDED: Final = "ended"
REFUSED_NOW: Final = "needs a sign-in"


@dataclass(frozen=True, slots=True)
class LoginOperations:
    """`named` are the sign-ins of the settings."""

    store: LoginStore
    named: Sequence[str]
    now: Now

    async def listed(self) -> list[View]:
        """Sign-ins that are kept, and those of the settings that nobody made yet."""
        kept = {one.name: one for one in await self.store.logins()}
        missing = [name for name in self.named if name not in kept]
        rows = [*map(self._view, kept.values()), *map(_missing, missing)]
        return sorted(rows, key=lambda row: str(row["name"]))

    async def keep(self, name: str, fields: Mapping[str, Any], actor: Actor) -> View:
        """Keep a grant that a command of this machine has sealed."""
        sealed, issuer, ends = (str(fields.get(field) or "") for field in ("sealed", "issuer", "ends_at"))
        if not (0 < len(name) <= LOGIN_NAME_MAX_CHARS and name.isprintable() and 0 < len(sealed) <= SEALED_MAX_CHARS):
            raise Refusal(400, "A sign-in has a name and a sealed grant.")
        try:
            ends_at = datetime.fromisoformat(ends) if ends else None
        except ValueError:
            raise Refusal(400, "`ends_at` must be a time.") from None
        if ends_at and ends_at.tzinfo is None:
            raise Refusal(400, "`ends_at` must have its offset.")
        grant = NewGrant(sealed, ends_at, fields.get("renews") is True)
        await self.store.keep_login(name, grant, issuer[:300], actor.person.name)
        return await self._one(name)

    async def drop(self, name: str, actor: Actor) -> View:
        if not await self.store.drop_login(name, actor.person.name):
            raise Refusal(404, f"Nobody is signed in at {name[:LOGIN_NAME_MAX_CHARS]}.")
        return {"name": name}

    async def _one(self, name: str) -> View:
        kept = await self.store.login(name)
        return self._view(kept) if kept else _missing(name)

    def _view(self, kept: KeptLogin) -> View:
        return {
            "name": kept.name,
            "state": _state(kept, self.now()),
            "ends_at": at(kept.ends_at),
            "renews": kept.renews,
            "issuer": kept.issuer,
            "by": kept.by,
            "at": at(kept.at),
            "renewed_at": at(kept.renewed_at),
            "refusals": kept.refusals,
            "trouble": kept.trouble,
        }


def _state(kept: KeptLogin, now: datetime) -> str:
    if kept.trouble:
        return REFUSED_NOW
    is_over = kept.ends_at is not None and kept.ends_at <= now
    return LOGIN_ENDED if is_over and not kept.renews else LOGIN_WORKS


def _missing(name: str) -> View:
    nothing = dict.fromkeys(("ends_at", "at", "renewed_at"))
    return {
        "name": name,
        "state": NOT_SIGNED,
        "renews": False,
        "issuer": "",
        "by": "",
        "refusals": 0,
        "trouble": "",
        **nothing,
    }


@by_role
class LoginsApi(PartialApi):
    """Sign-ins at issuers and MCP servers."""

    async def logins(self) -> list[View]:
        """Sign-ins at issuers and MCP servers, each with its end."""
        return await self._logins.listed()

    async def keep_login(self, name: str, fields: Mapping[str, Any]) -> View:
        kept = await self._logins.keep(name, fields, self.actor)
        for one in self._context.models():  # those that rested for want of a token are asked again
            if one.given.login == name and await self._store.cooldowns.clear(one.name, self.actor.person.name):
                self._context.notifier.notify(COOLDOWNS)
        return kept

    async def drop_login(self, name: str) -> View:
        return await self._logins.drop(name, self.actor)

    @property
    def _logins(self) -> LoginOperations:
        has = self._context
        return LoginOperations(has.store.logins, has.logins(), has.now)

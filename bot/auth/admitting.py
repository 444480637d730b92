"""Doorkeeper: from what a provider says to a person of ours, with a row in the audit for each who isn't let in."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from runtime.contract import Person, Role
from runtime.oauth.claims import Claims, role_of
from runtime.store.protocol import People
from runtime.store.protocol.people import Admission, Unadmitted

TURNED_AWAY_NOTED_EACH: Final = timedelta(minutes=10)
"""The same reason about the same person is in the audit that often: whoever repeats it can't fill that."""
TURNED_AWAY_IN_MIND: Final = 1_000


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Rules of the settings. `blocked` and `given` are names of the settings as they are now."""

    called: str
    roles: Mapping[Role, Sequence[str]]
    create: bool = True
    by_email: bool = False
    owners: bool = False
    blocked: Callable[[], Collection[str]] = tuple
    given: Callable[[], Collection[str]] = tuple


@dataclass(slots=True)
class Doorkeeper:
    people: People
    rules: AdmissionRules
    ticks: Callable[[], float] = time.monotonic
    _noted: dict[tuple[str, str], float] = field(default_factory=dict)

    async def let_in(self, claims: Claims, *, is_fresh: bool) -> Person | Unadmitted:
        """The person that somebody is here. `is_fresh`: the provider says so now."""
        rules = self.rules
        email = f"email:{claims.email}" if rules.by_email and claims.email else ""
        found = await self.people.admit(
            Admission(
                identity=claims.identity,
                name=claims.name,
                role=role_of(claims.groups or (), rules.roles),
                is_fresh=is_fresh,
                email=email,
                create=rules.create,
                owners=rules.owners,
                blocked=rules.blocked(),
                given=rules.given(),
            )
        )
        if isinstance(found, Unadmitted):
            await self.record(claims.identity, found)
        return found

    async def record(self, who: str, why: str) -> None:
        """Into the audit, unless it is there since a short while."""
        now = self.ticks()
        before = self._noted.get((who, why))
        if before is not None and now - before < TURNED_AWAY_NOTED_EACH.total_seconds():
            return
        if len(self._noted) >= TURNED_AWAY_IN_MIND:
            self._noted.clear()
        self._noted[who, why] = now
        await self.people.note_turned_away(who, why)

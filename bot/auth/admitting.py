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
FRESH_FOR: Final = timedelta(seconds=60)
"""Age of a word up to which it may raise a role, or make somebody."""
TOLD_IN: Final = timedelta(seconds=1)
"""Step in which tokens tell when they were made."""
HEARD_IN_MIND: Final = 1_000
NOBODY_NOTED_MAX: Final = 50
"""Reasons about nobody in that time. Anybody can come with a token or a page that has a new one."""


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
    _heard: dict[str, float] = field(default_factory=dict)

    async def let_in(self, claims: Claims, *, age: timedelta | None = None) -> Person | Unadmitted:
        """The person that somebody is here, by what the provider says now, or said in a token `age` ago."""
        rules = self.rules
        email = f"email:{claims.email}" if rules.by_email and claims.email else ""
        found = await self.people.admit(
            Admission(
                identity=claims.identity,
                name=claims.name,
                role=role_of(claims.groups or (), rules.roles),
                is_fresh=self._is_newest(claims.identity, age or timedelta()),
                sets=age is None or claims.groups is not None,
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

    def _is_newest(self, who: str, age: timedelta) -> bool:
        """True for a word that is young, and later than what was heard of somebody before: a group that was taken away
        meanwhile doesn't come back with a token of a moment earlier."""
        now = self.ticks()
        said_at, fresh_from = now - max(0.0, age.total_seconds()), now - FRESH_FOR.total_seconds()
        if said_at < fresh_from or said_at + TOLD_IN.total_seconds() < self._heard.get(who, said_at):
            return False
        if len(self._heard) >= HEARD_IN_MIND:
            self._heard = {one: at for one, at in self._heard.items() if at >= fresh_from}
        self._heard[who] = max(said_at, self._heard.get(who, said_at))
        return True

    async def record(self, who: str, why: str) -> None:
        """Into the audit, unless it is there since a short while, or too much is."""
        now = self.ticks()
        young = TURNED_AWAY_NOTED_EACH.total_seconds()
        self._noted = {key: at for key, at in self._noted.items() if now - at < young}
        alike = sum(bool(one) == bool(who) for one, _ in self._noted)
        if (who, why) in self._noted or alike >= (TURNED_AWAY_IN_MIND if who else NOBODY_NOTED_MAX):
            return
        self._noted[who, why] = now
        await self.people.note_turned_away(who, why)

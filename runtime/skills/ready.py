"""Skills that agents may have now: on a shelf, accepted by an owner, and with all that they need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from runtime.cluster.notifier import Listener
from runtime.contract import Now
from runtime.domain.agents.manifest import Manifest
from runtime.domain.skills.lock import Locked, Standing, lock_of, standing
from runtime.domain.skills.matching import uses
from runtime.domain.skills.skill import Skill
from runtime.skills.reading import FoundSkill
from runtime.skills.shelf import Shelf
from runtime.text.naming import listed

LOOK_AGE: Final = timedelta(seconds=3)
"""How old the last look at the folders may be when a message comes."""


class Locks(Protocol):
    """Decisions of owners, in the store."""

    async def skill_locks(self) -> Mapping[str, Locked]: ...


@dataclass(frozen=True, slots=True)
class Shelved:
    """A skill as it stands: `found` on disk, before its lock, what it `lacks` here, and the `agents` that have it."""

    found: FoundSkill
    standing: Standing
    lock: Locked | None = None
    lacks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def is_usable(self) -> bool:
        return self.found.skill is not None and self.standing.is_open and not self.lacks

    @property
    def why_not(self) -> str:
        """The reason for which no agent has it; empty where agents may."""
        if self.found.skill is None:
            return f"not readable: {'; '.join(self.found.wrong)}"
        if not self.standing.is_open:
            asked = (
                "an owner has not accepted it yet"
                if self.standing is Standing.NEW
                else "it changed since it was accepted"
            )
            return f"not loaded: {asked}"
        return f"not usable: needs {listed(self.lacks)}" if self.lacks else ""


class ReadySkills:
    """Looks at a shelf when a message comes and something may be another, and hands out what is accepted.

    `is_used` is False while there is no folder with a skill: then nothing is looked at, and nothing asked of the store.
    `rung` hears that an owner decided, here or at another node. `changed` is called when agents have others than before.
    """

    def __init__(
        self,
        *,
        shelf: Shelf,
        locks: Locks,
        lacks: Callable[[Skill], Sequence[str]],
        users: Callable[[Skill], Sequence[str]] = lambda _: (),
        rung: Listener,
        now: Now,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._shelf = shelf
        self._locks = locks
        self._lacks = lacks
        self._users = users
        self._rung = rung
        self._now = now
        self.changed = changed
        self.is_used = not shelf.is_empty()
        self._looked_at: datetime | None = None
        self._one = asyncio.Lock()
        self._all: Mapping[tuple[str, str], Shelved] = {}

    async def fresh(self) -> None:
        """Look again where the last look is old, or an owner decided since."""
        now = self._now()
        if not self._rung.heard and self._looked_at and timedelta() <= now - self._looked_at < LOOK_AGE:
            return
        await self.look()

    @asynccontextmanager
    async def unlooked(self) -> AsyncIterator[None]:
        """Nobody looks from here while a folder is written and accepted: else owners were asked about it in between."""
        async with self._one:
            yield
            self._looked_at = None

    def expire(self) -> None:
        """The next message looks again: an owner is deciding here."""
        self._looked_at = None

    async def look(self) -> Mapping[tuple[str, str], Shelved]:
        """Look at the folders and the locks, whatever was known. Errors: StoreError."""
        async with self._one:
            self._rung.forget()
            found = await asyncio.to_thread(self._shelf.look)
            locks = await self._locks.skill_locks() if found else {}
            now = {key: await asyncio.to_thread(self._shelved, one, locks) for key, one in found.items()}
            before, self._all, self._looked_at = self._all, now, self._now()
            self.is_used = bool(now)
            if _usable(before) != _usable(now):
                self.changed()
            return now

    def _shelved(self, found: FoundSkill, locks: Mapping[str, Locked]) -> Shelved:
        if found.skill is None:
            return Shelved(found, Standing.NEW)
        lacks = tuple(self._lacks(found.skill))
        users = tuple(self._users(found.skill))
        return Shelved(found, standing(found.skill, locks), lock_of(found.skill, locks), lacks, users)

    def of(self, manifest: Manifest) -> list[Skill]:
        """Skills that an agent has, by name. One of its own hides another by that name."""
        found: dict[str, Skill] = {}
        for (agent, name), one in sorted(self._all.items()):
            if (
                one.is_usable
                and one.found.skill
                and (not agent or agent == manifest.name)
                and uses(one.found.skill, manifest)
            ):
                found[name] = one.found.skill
        return [found[name] for name in sorted(found)]

    def why_not(self, name: str, manifest: Manifest) -> str:
        """The reason for which an agent hasn't got a skill that somebody named."""
        one = self._all.get((manifest.name, name)) or self._all.get(("", name))
        if one is None:
            return f"There is no skill {name[:64]}."
        if not one.is_usable:
            return f"The skill {name} is {one.why_not}."
        return f"{manifest.name} doesn't have the skill {name}."

    @property
    def names(self) -> list[str]:
        """Skills that some agent may have."""
        return sorted({name for _, name, _ in _usable(self._all)})

    @property
    def has_any(self) -> bool:
        """True if any agent may have any."""
        return any(one.is_usable for one in self._all.values())


def _usable(skills: Mapping[tuple[str, str], Shelved]) -> set[tuple[str, str, str]]:
    return {(*key, one.found.skill.digest) for key, one in skills.items() if one.is_usable and one.found.skill}

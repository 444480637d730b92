"""Adds to the summaries of people who turned theirs on, from what is kept for them alone, at most once a day.

A run in a private room of theirs finds that it is time; the call is made beside it, so nobody waits for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from runtime.agent.registry import Agent, Agents
from runtime.context.prompt.renewals import renewal_request
from runtime.contract import Address, ModelReply, Now, Person, PersonId, Usage
from runtime.domain.memory.summing_up import additions
from runtime.errors import ModelFailed, StoreError
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol.memory.memories import Renewal

log = structlog.get_logger("memory")

RENEWAL_TIME: Final = timedelta(seconds=60)
DUE_MAX: Final = 100
"""People who wait for it at one process; others are found again with their next message."""
LOOK_AGAIN: Final = timedelta(hours=1)
"""Between two looks at one summary, where there was nothing new to add."""


@dataclass(frozen=True, slots=True)
class Due:
    """A summary that may be renewed, and the private room where that was found, which pays for it."""

    person: Person
    agent: str
    room: Address


class DueSummaries:
    """Summaries that runs found to be due, each once an hour."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._noted: dict[tuple[PersonId, str], datetime] = {}
        self._waiting: list[Due] = []
        self._rung = asyncio.Event()

    def note(self, due: Due) -> None:
        now, whose = self._now(), (due.person.id, due.agent)
        noted = self._noted.get(whose)
        if len(self._waiting) >= DUE_MAX or (noted and now - noted < LOOK_AGAIN):
            return
        if len(self._noted) >= DUE_MAX:
            self._noted.clear()
        self._noted[whose] = now
        self._waiting.append(due)
        self._rung.set()

    def taken(self) -> list[Due]:
        """All that wait, which wait no more."""
        found, self._waiting = self._waiting, []
        self._rung.clear()
        return found

    async def wait(self) -> None:
        await self._rung.wait()


class Renewals(Protocol):
    """Summaries in the store."""

    async def begin_renewal(self, person: PersonId, agent: str) -> Renewal | None: ...

    async def end_renewal(self, begun: Renewal, added: list[str]) -> bool: ...


class Costs(Protocol):
    """Money of calls that belong to no run."""

    async def affords(self, agent: str, room: Address, person: PersonId | None) -> bool: ...

    async def charge(self, agent: str, room: Address, person: PersonId | None, used: Usage) -> None: ...


class SummaryRenewal:
    """Any number of nodes may do it: the store gives each summary to one of them, once a day."""

    def __init__(
        self, *, due: DueSummaries, summaries: Renewals, costs: Costs, agents: Agents, door: Callable[[], Door]
    ) -> None:
        self._due = due
        self._summaries = summaries
        self._costs = costs
        self._agents = agents
        self._door = door

    async def run(self) -> None:
        while True:
            await self._due.wait()
            await self.look()

    async def look(self) -> None:
        """Renew what waits, one after the other."""
        for due in self._due.taken():
            try:
                await self._renew(due)
            except (ModelFailed, StoreError, TimeoutError) as error:
                log.warning("a summary was not renewed", agent=due.agent, reason=str(error) or "it took too long")

    async def _renew(self, due: Due) -> None:
        agent, payer = self._agents.get(due.agent), (due.agent, due.room, due.person.id)
        if agent is None or not await self._costs.affords(*payer):
            return
        begun = await self._summaries.begin_renewal(due.person.id, due.agent)
        if begun is None:
            return
        reply = await self._asked(agent, due, begun)
        await self._costs.charge(*payer, reply.usage)
        door, room = self._door(), self._door().room(due.room)
        added = additions(reply.text, begun.own, [one.text for one in begun.rows])
        await self._summaries.end_renewal(begun, [door.clean(line, Gate.MEMORY_WRITE, room) for line in added])

    async def _asked(self, agent: Agent, due: Due, begun: Renewal) -> ModelReply:
        request = renewal_request(due.person.name, begun.own, begun.rows)
        async with asyncio.timeout(RENEWAL_TIME.total_seconds()):
            return await agent.model.reply(request, lambda _: None)

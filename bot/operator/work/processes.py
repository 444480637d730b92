"""Processes for operators: programs that agents started, where they run, and how they are ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.contract import Address
from runtime.contract.agents.processes import Process, ProcessEvent
from runtime.domain.agents.processes import SHORT_ID_CHARS
from runtime.http.errors import Refusal
from runtime.store.processes.store import ProcessStore
from runtime.text.words import marked

NAME_MIN_CHARS: Final = 4
NO_PROCESS: Final = marked("No process is called {name!r}. The end of its id is enough, four characters or more.")


@dataclass(frozen=True, slots=True)
class ProcessOperations:
    """Processes as operators call things."""

    processes: ProcessStore
    named: Named
    called: Named
    mask: Callable[[str], str]

    async def listed(self, room: Address | None) -> list[View]:
        """Newest first: of all rooms, or of one and its threads."""
        every = await self.processes.processes()
        return [self._view(one) for one in every if room is None or _is_in(one.by.room, room)]

    async def stopped(self, name: str, actor: Actor) -> View:
        """Have one end on its node, within a second or two."""
        found = await self.processes.processes_named(name) if len(name) >= NAME_MIN_CHARS else []
        if not found:
            raise Refusal(404, NO_PROCESS.format(name=name))
        reason = marked("Stopped by {name}.").format(name=actor.person.name)
        if not await self.processes.happen(found[0].id, ProcessEvent.STOP, None, reason):
            raise Refusal(409, marked("That process is over already."))
        return {**self._view(found[0]), "told": self.mask(f"It ends now: {found[0].command}")}

    def _view(self, one: Process) -> View:
        return {
            "id": one.id,
            "short": one.id[-SHORT_ID_CHARS:],
            "command": self.mask(one.command),
            "state": one.state,
            "agent": one.by.agent,
            "node": one.node,
            "room": self.called(one.by.room),
            "address": self.named(one.by.room),
            "run": one.by.run_id,
            "exit": one.exit,
            "reason": self.mask(one.reason),
            "started_at": at(one.started_at),
            "ended_at": at(one.ended_at),
        }


def _is_in(place: Address, room: Address) -> bool:
    return str(place) == str(room) or str(place).startswith(f"{room}/")


@by_role
class ProcessesApi(PartialApi):
    """Programs that agents started."""

    async def processes(self, room: str = "") -> list[View]:
        """Programs that agents started, newest first."""
        return await self._entitled(await self._processes.listed(await self._room_meant(room)))

    async def stop_process(self, name: str) -> View:
        return await self._processes.stopped(name, self.actor)

    @property
    def _processes(self) -> ProcessOperations:
        has = self._context
        return ProcessOperations(has.store.processes, has.named, has.called, has.mask)

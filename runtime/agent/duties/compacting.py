"""Condenses conversations for which people ask, when no run is at work there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from runtime.agent.duties.remembering import Remembering
from runtime.agent.registry import Agent, Agents
from runtime.agent.surroundings import specs_of
from runtime.cluster.notifier import Listener
from runtime.context.builder import RunFacts
from runtime.context.condenser import Condenser, Conversation, Whose
from runtime.context.heard import taint_of_texts
from runtime.context.prompt.proposals import Proposing
from runtime.contract import Address, NodeId, Probe, SignalId, Usage, no_probe
from runtime.contract.memory.facts import MemoryActor
from runtime.errors import StoreError
from runtime.store.protocol import Compacting, Runs, Summary

log = structlog.get_logger("agent")

COMPACT_INTERVAL: Final = timedelta(seconds=5)
"""Between two looks, where nobody rang: also for the end of a run that stands in the way."""
AT_ONCE: Final = 2
"""Conversations that one process condenses side by side."""


class Compactor:
    """Any number of nodes may look: the store gives each request to one of them, and to another where that one died."""

    def __init__(
        self,
        *,
        runs: Runs,
        agents: Agents,
        condenser: Condenser,
        node: Callable[[], NodeId | None],
        rung: Listener,
        lease_is_fresh: Callable[[], bool],
        nudge: Callable[[Address], object],
        remembering: Remembering | None = None,
        probe: Probe = no_probe,
        every: timedelta = COMPACT_INTERVAL,
    ) -> None:
        self._runs = runs
        self._agents = agents
        self._condenser = condenser
        self._node = node
        self._rung = rung
        self._lease_is_fresh = lease_is_fresh
        self._nudge = nudge
        self._remembering = remembering
        self._probe = probe
        self._every = every
        self._busy: set[SignalId] = set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await self._rung.within(self._every.total_seconds())
                for signal, node in await self._found():
                    self._busy.add(signal)
                    group.create_task(self._one(signal, node))

    async def look(self) -> None:
        """Do what is asked for, one after the other."""
        for signal, node in await self._found():
            await self._one(signal, node)

    async def _found(self) -> list[tuple[SignalId, NodeId]]:
        node = self._node()
        if node is None or not self._lease_is_fresh():
            return []
        try:
            found = await self._runs.to_compact(node)
        except StoreError as error:
            log.debug("requests to condense are not looked at yet", reason=str(error))
            return []
        free = [(one, node) for one in found if one not in self._busy]
        return free[: max(AT_ONCE - len(self._busy), 0)]

    async def _one(self, signal: SignalId, node: NodeId) -> None:
        try:
            if wanted := await self._runs.begin_compacting(signal, node):
                self._probe("compacting-begun")
                await self._compact(wanted, node)
        except StoreError as error:
            log.debug("not condensed yet", reason=str(error))  # the request is still ours: the next look takes it
        finally:
            self._busy.discard(signal)

    async def _compact(self, wanted: Compacting, node: NodeId) -> None:
        agent, end = self._agents[wanted.agent], _End(self._runs, wanted, node)
        read = partial(self._runs.history, wanted.session, wanted.since)
        if wanted.run:
            facts = RunFacts("", specs_of(agent))  # of a summary's request nothing else is part
            whose = Whose(wanted.session, wanted.run, agent.limits.rest)
            counted = partial(self._runs.counted, wanted.session, wanted.since)
            affords = partial(self._runs.affords, wanted.run)
            of = Conversation(
                *(whose, facts, agent.model, agent.limits.window, read, counted, end.keep, affords),
                proposing=self._proposing(wanted, agent),
            )
            await self._condenser.tidy(of)
        if not end.is_told:
            await end.keep(None, None)
        self._probe("compacted")
        self._nudge(wanted.address)

    def _proposing(self, wanted: Compacting, agent: Agent) -> Proposing | None:
        """Takes what the summary proposes to keep, for whoever asked for it."""
        if self._remembering is None:
            return None
        by = MemoryActor(wanted.agent, wanted.address, wanted.asker, wanted.session, wanted.run)
        return self._remembering.proposing(by, agent, partial(self._is_own, wanted))

    async def _is_own(self, wanted: Compacting) -> bool:
        """True if people of the conversation alone led to it: nothing in it is from outside."""
        heard = await self._runs.heard(wanted.session, wanted.since)
        return wanted.asker is not None and not taint_of_texts(heard.outside).active


class _End:
    """The one end of a request: its summary, or the word that there was nothing to condense."""

    def __init__(self, runs: Runs, wanted: Compacting, node: NodeId) -> None:
        self._runs = runs
        self._wanted = wanted
        self._node = node
        self.is_told = False

    async def keep(self, summary: Summary | None, usage: Usage | None) -> bool:
        """Implements `condenser.Keep`."""
        self.is_told = True
        return await self._runs.end_compacting(self._wanted, self._node, summary, usage)

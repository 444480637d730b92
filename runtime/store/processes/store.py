"""Processes as tools, commands and operators see them."""

from __future__ import annotations

from runtime.contract import NodeId, SessionKey
from runtime.contract.agents.processes import Process, ProcessEvent, ProcessId, Starter
from runtime.store.processes.rows import begin, happened, listed, named, to_stop
from runtime.store.sql.base import Base


class ProcessStore(Base):
    """Programs that agents started. Reading gives up those whose node is gone."""

    async def begin_process(self, command: str, by: Starter, node: NodeId, most: int) -> Process | None:
        """Note one before it is started; None where `most` of its conversation run."""
        now = self.now()
        return await self._driver.write(lambda: begin(command, by, node, most, now, self._new_id))

    async def happen(self, process: ProcessId, event: ProcessEvent, exit_code: int | None, reason: str) -> bool:
        """Note what befell one; false where it is over."""
        now = self.now()
        return await self._driver.write(lambda: happened(process, event, now, exit_code, reason))

    async def processes(self, session: SessionKey | None = None) -> list[Process]:
        """Newest first."""
        now = self.now()
        return await self._driver.write(lambda: listed(session, now))

    async def processes_named(self, name: str) -> list[Process]:
        """Processes with that id, or whose id ends so."""
        now = self.now()
        return await self._driver.write(lambda: named(name, now))

    async def to_stop(self, node: NodeId) -> list[tuple[ProcessId, str]]:
        """Processes of a node that are to end, and why."""
        return await self._driver.read(lambda: to_stop(node))

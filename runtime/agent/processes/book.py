"""Rows of processes for the tools that start them: commands pass the leak guard, and each row has its node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from runtime.contract import NodeId, SessionKey
from runtime.contract.agents.processes import Process, ProcessEvent, ProcessId, Starter
from runtime.domain.agents.processes import COMMAND_MAX_CHARS
from runtime.errors import ToolFailed, ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.text.glyphs import clip


class Stored(Protocol):
    """Processes in the store."""

    async def begin_process(self, command: str, by: Starter, node: NodeId, most: int) -> Process | None: ...

    async def happen(self, process: ProcessId, event: ProcessEvent, exit_code: int | None, reason: str) -> bool: ...

    async def processes(self, session: SessionKey | None = None) -> list[Process]: ...

    async def processes_named(self, name: str) -> list[Process]: ...

    async def to_stop(self, node: NodeId) -> list[tuple[ProcessId, str]]: ...


class NotedProcesses:
    """Implements `contract.ProcessBook`. `node` is this process's own, None while it is no node."""

    def __init__(self, store: Stored, node: Callable[[], NodeId | None], door: Callable[[], Door]) -> None:
        self._store = store
        self._node = node
        self._door = door

    async def begin(self, command: str, by: Starter, most: int) -> Process:
        node = self._node()
        if node is None:
            raise ToolFailed("This process of Signalbox is about to end, so nothing is started here. Try again.")
        words = self._door().clean(clip(command, COMMAND_MAX_CHARS), Gate.TOOL_ARGUMENTS, str(by.room))
        made = await self._store.begin_process(words, by, node, most)
        if made is None:
            raise ToolRetry(f"{most} processes of this conversation run already. Stop one first: process_list.")
        return made

    async def end(self, process: ProcessId, event: ProcessEvent, exit_code: int | None, reason: str = "") -> None:
        await self._store.happen(process, event, exit_code, reason)

    async def found(self, name: str, session: SessionKey) -> Process | None:
        every = await self._store.processes_named(name)
        return next((one for one in every if one.by.session == session), None)

    async def listed(self, session: SessionKey) -> Sequence[Process]:
        return await self._store.processes(session)

    async def stop(self, process: ProcessId, reason: str) -> bool:
        return await self._store.happen(process, ProcessEvent.STOP, None, reason)

    async def to_stop(self) -> Sequence[tuple[ProcessId, str]]:
        node = self._node()
        return await self._store.to_stop(node) if node else ()

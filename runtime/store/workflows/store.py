"""Workflows that were begun, for operators."""

from __future__ import annotations

from runtime.chat.views.workflows import Begun
from runtime.contract import Address, Call, RunId, SessionKey
from runtime.domain.runs import WaitKind
from runtime.domain.workflows.definition import STARTS_SPAN
from runtime.store.protocol import Below
from runtime.store.runs.steps import calls_of
from runtime.store.sql.base import Base
from runtime.store.workflows.cancelling import cancel, session_of
from runtime.store.workflows.standing import begun_since, called, newest, waiting_calls


class WorkflowStore(Base):
    """Workflows begun in this database; what they are stands in the calls of their runs."""

    async def begun(self) -> list[Begun]:
        """Newest first. At most 50."""
        return await self._driver.read(newest)

    async def begun_called(self, name: str) -> Begun | None:
        """The newest one with that id, or whose id ends so."""
        return await self._driver.read(lambda: called(name))

    async def begun_lately(self, room: Address) -> int:
        """Number of those begun in a room within STARTS_SPAN."""
        since = self.now() - STARTS_SPAN
        return await self._driver.read(lambda: begun_since(room, since))

    async def cancel(self, run: RunId, by: str) -> Below | None:
        """End a workflow's run with all that it handed on; None where it is over, or has not begun."""
        now = self.now()
        return await self._driver.write(lambda: cancel(run, by, now, self._new_id))

    async def session_of(self, run: RunId) -> SessionKey | None:
        """The session in which a run works; None for one that is not there."""
        return await self._driver.read(lambda: session_of(run))

    async def record(self, run: RunId) -> list[tuple[Call, str | None]]:
        """Calls of a run, each with its result; None while it has none."""
        return await self._driver.read(lambda: calls_of(run))

    async def waiting_calls(self, run: RunId) -> dict[str, WaitKind]:
        """Calls of a run that wait for a person or a time, by their ids."""
        return await self._driver.read(lambda: waiting_calls(run))

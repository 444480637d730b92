"""Takes back what approved calls did, where people want it: marked before, done once, told after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

import structlog

from runtime.agent.registry import Agents
from runtime.cluster.notifier import Listener
from runtime.contract import KEPT_MAX_CHARS, Address, Json, Probe, RunId, SessionKey, Tool, ToolContext, no_probe
from runtime.errors import StoreError, ToolError
from runtime.store.protocol import Approvals, Undoing
from runtime.text.words import marked

log = structlog.get_logger("agent")

UNDO_INTERVAL: Final = timedelta(seconds=5)
"""Between two looks, where nobody rang."""
UNDO_TIMEOUT: Final = timedelta(minutes=1)
SLOW: Final = marked("that took too long. Please check what happened.")
GONE: Final = marked("the tool no longer exists.")
BROKE: Final = marked("that failed unexpectedly. Please check what happened.")


async def kept_before(tool: Tool, arguments: Mapping[str, Json], context: ToolContext) -> str | None:
    """All that taking back a call needs, which is made after this; None where it cannot be taken back."""
    if tool.spec.undo is None:
        return None
    try:
        kept = await asyncio.to_thread(tool.spec.undo.keep, arguments, context)
    except Exception:
        # A bug in the way back must not stop the way there.
        log.exception("a call cannot be taken back", tool=tool.spec.name)
        return None
    return kept if kept is None or len(kept) <= KEPT_MAX_CHARS else None


class Undoer:
    """Any number of nodes may look: the store lets one of them begin each undo."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        agents: Agents,
        rung: Listener,
        lease_is_fresh: Callable[[], bool],
        nudge: Callable[[Address], object],
        probe: Probe = no_probe,
        every: timedelta = UNDO_INTERVAL,
        clean: Callable[[str], str] = str,
    ) -> None:
        """`clean`: takes out of a tool's words about an error what must not be stored."""
        self._clean = clean
        self._approvals = approvals
        self._agents = agents
        self._rung = rung
        self._lease_is_fresh = lease_is_fresh
        self._nudge = nudge
        self._probe = probe
        self._every = every

    async def run(self) -> None:
        while True:
            await self._rung.within(self._every.total_seconds())
            try:
                await self.look()
            except StoreError as error:
                log.debug("undos are not looked at yet", reason=str(error))

    async def look(self) -> None:
        """Take back what is wanted, and end what nobody pressed in time. Errors: StoreError."""
        found = await self._approvals.undos_to_do()
        for approval in found.wanted:
            if self._lease_is_fresh() and (undoing := await self._approvals.begin_undo(approval)):
                self._probe("undo-begun")
                why_not = await self._done(undoing)
                self._probe("undo-done")
                self._tell(await self._approvals.end_undo(approval, why_not))
        if found.to_close:
            self._tell(await self._approvals.close_undos())

    def _tell(self, rooms: tuple[Address, ...]) -> None:
        for room in rooms:
            self._nudge(room)

    async def _done(self, undoing: Undoing) -> str:
        """Take the call back; why it was not, in words for people."""
        approval, agent = undoing.approval, self._agents[undoing.agent]
        tool = agent.tools.get(approval.tool)
        if tool is None or tool.spec.undo is None:
            return GONE
        context = ToolContext(
            agent.workspaces.folder(approval.address),
            SessionKey(approval.session),
            RunId(approval.run_id),
            undoing.call_id,
            approval.address,
        )
        try:
            async with asyncio.timeout(UNDO_TIMEOUT.total_seconds()):
                told = await asyncio.to_thread(tool.spec.undo.take_back, undoing.kept, context)
                said = await told if isinstance(told, Awaitable) else told
        except ToolError as error:
            return self._clean(str(error))
        except TimeoutError:
            return SLOW
        except Exception:
            # A tool's bug must not end the process: people and the log are told.
            log.exception("an undo broke", tool=approval.tool)
            return BROKE
        log.info("call undone", tool=approval.tool, step=approval.step, said=said)
        return ""

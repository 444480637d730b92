"""Fan-out of the text that a scheduled run ends with: one report a destination, or silence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from runtime.contract import Address, Content, DeliveryId, FileRef, Job, Kind, NewId, RunId, ScheduleId, Thread
from runtime.domain.schedules import is_silent, origin_of
from runtime.markup import parse
from runtime.markup.headline import headline
from runtime.store.protocol import NewDelivery
from runtime.workspace.handing_over import PlacedFile, hand_over
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("reports")

MOST_FILES: Final = 10
"""Of one message: what the strictest platform takes."""

MakeContent = Callable[[Address, RunId, str], Awaitable[Content]]
FindRoot = Callable[[ScheduleId, Address], Awaitable[str]]


async def no_root(schedule: ScheduleId, address: Address) -> str:
    """Nothing was shown yet."""
    return ""


@dataclass(frozen=True, slots=True)
class Reporting:
    """Makes the deliveries of a scheduled run. `content` decides how a text is shown in a room.

    `root` finds the wire's id of the first message that a room got of a schedule, under which a running thread goes on.
    """

    workspaces: WorkspaceFolders
    new_id: NewId
    content: MakeContent
    root: FindRoot = no_root

    async def deliveries(self, job: Job, run: RunId, text: str, files: Sequence[FileRef]) -> list[NewDelivery]:
        """One a destination; none where the schedule is quiet and there is no news."""
        if is_silent(job.terms, text):
            return []
        return [await self._report(job, run, ordinal, text, files) for ordinal in range(len(job.to))]

    async def _report(self, job: Job, run: RunId, ordinal: int, text: str, files: Sequence[FileRef]) -> NewDelivery:
        to = job.to[ordinal]
        here = await asyncio.to_thread(self._brought, job.to[0], to, files[:MOST_FILES])
        own, running = (job.terms.thread is thread for thread in (Thread.OWN, Thread.RUNNING))
        content = await self.content(to, run, announced(job.name, text) if own else text)
        under = await self.root(job.schedule, to) if running else ""
        content = replace(
            content, files=tuple(here), threaded=own, under=under, schedule=job.name if job.schedule else ""
        )
        return NewDelivery(DeliveryId(self.new_id()), origin_of(job.occurrence), ordinal, Kind.REPORT, to, content)

    def _brought(self, home: Address, to: Address, files: Sequence[FileRef]) -> list[FileRef]:
        """The files in the workspace of another destination, which adapters of its platform read."""
        return list(files) if to == home else [file for file in files if self._is_brought(home, to, file)]

    def _is_brought(self, home: Address, to: Address, file: FileRef) -> bool:
        source, target = (PlacedFile(self.workspaces, room, file.path) for room in (home, to))
        try:
            hand_over(source, target, self.new_id())
        except (OSError, ValueError) as error:  # a full disk, or a tool took it away: the words are shown without it
            log.warning("a file does not reach a destination", file=file.path, to=str(to), reason=str(error))
            return False
        return True


def announced(name: str, text: str) -> str:
    """`text` with a first line for the room; one that begins with a table, a list or a picture gets the schedule's name."""
    above, _ = headline(parse(text))
    return text if above.blocks else f"# {name}\n\n{text}"

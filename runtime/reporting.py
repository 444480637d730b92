"""What becomes of the text that a scheduled run ends with: one report a destination, or silence."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from runtime.contract import Address, Content, DeliveryId, FileRef, Job, Kind, NewId, RunId
from runtime.schedules import is_silent
from runtime.store.jobs import origin_of
from runtime.store.protocol import NewDelivery
from runtime.workspaces import SessionWorkspaces

log = structlog.get_logger("reports")

MOST_FILES: Final = 10
"""Of one message: what the strictest platform takes."""

MakeContent = Callable[[Address, RunId, str], Awaitable[Content]]


@dataclass(frozen=True, slots=True)
class Reporting:
    """Makes the deliveries of a scheduled run. `content` decides how a text is shown in a room."""

    workspaces: SessionWorkspaces
    new_id: NewId
    content: MakeContent

    async def deliveries(self, job: Job, run: RunId, text: str, files: Sequence[FileRef]) -> list[NewDelivery]:
        """One a destination; none where the schedule is quiet and there is no news."""
        if is_silent(job.terms, text):
            return []
        return [await self._report(job, run, ordinal, text, files) for ordinal in range(len(job.to))]

    async def _report(self, job: Job, run: RunId, ordinal: int, text: str, files: Sequence[FileRef]) -> NewDelivery:
        to = job.to[ordinal]
        here = await asyncio.to_thread(self._brought, job.to[0], to, files[:MOST_FILES])
        content = await self.content(to, run, text)
        content = Content(content.text, content.buttons, tuple(here), content.text_file)
        return NewDelivery(DeliveryId(self.new_id()), origin_of(job.occurrence), ordinal, Kind.REPORT, to, content)

    def _brought(self, home: Address, to: Address, files: Sequence[FileRef]) -> list[FileRef]:
        """The files in the workspace of another destination, which adapters of its platform read."""
        return list(files) if to == home else [file for file in files if self._is_brought(home, to, file)]

    def _is_brought(self, home: Address, to: Address, file: FileRef) -> bool:
        arriving = self.workspaces.arriving(self.new_id())
        try:
            with self.workspaces.open(home, file.path) as source, arriving.open("wb") as target:
                shutil.copyfileobj(source, target)
            self.workspaces.keep(to, file.path, arriving)
        except (OSError, ValueError) as error:  # a full disk, or a tool took it away: the words are shown without it
            log.warning("a file does not reach a destination", file=file.path, to=str(to), reason=str(error))
            return False
        finally:
            arriving.unlink(missing_ok=True)
        return True

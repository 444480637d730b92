"""A run's last words: its answer, a long one as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import structlog

from runtime.agent.duties.attached import left_behind
from runtime.agent.run_state import LiveRun
from runtime.chat.agents import in_its_name
from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Fetch,
    FileRef,
    Kind,
    NewId,
    RunId,
)
from runtime.domain.agents.manifest import MAIN
from runtime.domain.agents.tasks import told_end
from runtime.domain.runs import RunState
from runtime.reports.fan_out import MOST_FILES, Reporting
from runtime.store.protocol import NewDelivery
from runtime.text.retold import retold
from runtime.workspace.handing_over import PlacedFile, hand_over
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("files")

FOLDER: Final = "replies"
NAME: Final = "reply.md"
FROM_AGENT: Final = "from-"
"""Begins the folder of a room for files that another agent than the main one posted there."""


class LongForm(StrEnum):
    """Form in which a long final text is shown."""

    PARTS = "parts"  # in as many messages as it takes
    FILE = "file"  # its begin, and a file with all of it, where the channel carries files


@dataclass(frozen=True, slots=True)
class LongText:
    """Makes a file of a final text of more than `characters`."""

    workspaces: WorkspaceFolders
    new_id: NewId
    files_of: Callable[[Address], Fetch | None] = lambda _: None
    form: LongForm = LongForm.PARTS
    characters: int = 12_000

    async def content(self, address: Address, run: RunId, text: str) -> Content:
        """`text` as what a delivery says. A repeat after a kill writes the same file again."""
        if self.form is LongForm.PARTS or len(text) <= self.characters or self.files_of(address) is None:
            return Content(text)
        try:
            return Content(text, text_file=await asyncio.to_thread(self._written, address, run, text))
        except OSError as error:  # a full disk, or a tool made a link of the folder: the text goes in parts
            log.warning("a long reply goes in parts", reason=str(error))
            return Content(text)

    def _written(self, address: Address, run: RunId, text: str) -> FileRef:
        path, arriving = f"{FOLDER}/{run}.md", self.workspaces.arriving(self.new_id())
        try:
            size = arriving.write_bytes(text.encode("utf-8", "replace"))
            self.workspaces.keep(address, path, arriving)
        finally:
            arriving.unlink(missing_ok=True)
        return FileRef(NAME, path, size)


class RunOutcome:
    """Makes them; nothing is stored here. `reporting` makes the deliveries of scheduled runs."""

    def __init__(
        self,
        *,
        new_id: NewId,
        long_replies: LongText | None,
        reporting: Reporting | None,
    ) -> None:
        self._new_id = new_id
        self._long_replies = long_replies
        self._reporting = reporting

    async def closing(self, run: LiveRun, state: RunState, text: str) -> Sequence[NewDelivery]:
        """Deliveries that end a run: its answer, or for scheduled work its reports; of work in the background that failed the store tells."""
        claim = run.claim
        if claim.child:  # whoever asked for it is told
            return []
        files = run.files if claim.agent == MAIN else await self._shown_files(run)
        if claim.job and self._reporting and state is RunState.DONE:
            return await self._reporting.deliveries(claim.job, claim.run_id, text, files)
        if (claim.job or claim.task) and state is RunState.FAILED:
            return []
        if state is RunState.FAILED:
            text = retold(text)
        elif state is RunState.STOPPED:  # what it had said stands above our own last words
            said, gap, ours = text.rpartition("\n\n")
            text = f"{said}{gap}{retold(ours)}"
        text = told_end(claim.task.title, state, text) if claim.task else text
        if len(files) < len(run.files):
            text = f"{text}\n\n{left_behind(run.files, files)}"
        content = Content(text)
        if self._long_replies:
            content = await self._long_replies.content(claim.address, claim.run_id, text)
        if claim.agent != MAIN:  # several speak in one account, each under its own name
            content = replace(content, text=in_its_name(run.agent.name, content.text), speaker=run.agent.name)
        content = replace(content, files=tuple(files[:MOST_FILES]), failed=state is RunState.FAILED)
        new, origin = DeliveryId(self._new_id()), f"run:{claim.run_id}"
        return [NewDelivery(new, origin, 0, Kind.FINAL, claim.address, content, reply_to=claim.reply_to)]

    async def _shown_files(self, run: LiveRun) -> Sequence[FileRef]:
        """Files of another agent than the main one, copied to the room's own workspace: there adapters read them."""
        if self._long_replies is None:
            return run.files
        shared = self._long_replies.workspaces
        copied = [await asyncio.to_thread(self._copied, run, file, shared) for file in run.files[:MOST_FILES]]
        return [file for file in copied if file]

    def _copied(self, run: LiveRun, file: FileRef, shared: WorkspaceFolders) -> FileRef | None:
        """A repeat after a kill copies it again, over the first."""
        own, address, path = run.agent.workspaces, run.claim.address, f"{FROM_AGENT}{run.agent.name}/{file.path}"
        try:
            hand_over(PlacedFile(own, address, file.path), PlacedFile(shared, address, path), self._new_id())
        except (OSError, ValueError) as error:  # a full disk, or a tool took it away: the words are shown without it
            log.warning("a file does not reach its room", file=file.path, agent=run.agent.name, reason=str(error))
            return None
        return replace(file, path=path)

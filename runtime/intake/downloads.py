"""Files that people sent, brought into the session's workspace before the model is asked; and voice notes, as words.

The transcript is the only memory: a file that is in its place was fetched, and what could not be done is a turn of its
own. So after a kill what is missing is fetched again, and nothing is told twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from mimetypes import guess_type
from pathlib import Path
from typing import Final

import structlog

from runtime.contract import (
    BOUNDLESS,
    Address,
    Fetch,
    FileRef,
    NewId,
    SessionKey,
    Space,
    Transcriber,
    Turn,
    UserTurn,
)
from runtime.domain.transcript import OURS, not_seen
from runtime.errors import ChannelError, Retryable, ToolError
from runtime.text.glyphs import bound
from runtime.workspace.handing_over import PlacedFile, hand_over
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("files")

DOWNLOADS_AT_ONCE: Final = 4
"""Files fetched side by side, of all conversations here: more would only share the same line."""

WAITS: Final = (timedelta(seconds=1), timedelta(seconds=3), timedelta(seconds=8))
"""Before the repeats of a fetch, where the platform names none."""

VOICE_NOTE_MAX_CHARS: Final = 20_000
"""Characters of a voice note: two hours of speech."""

LINK: Final = re.compile(r"\w+://\S+")

FilesOf = Callable[[Address], Fetch | None]
Senders = Callable[[SessionKey], Awaitable[Mapping[str, str]]]
"""The senders of the files in a session that the model has not seen yet: a person's id by the path of each."""


@dataclass(frozen=True, slots=True)
class FileBounds:
    """The largest file that is taken, the most of one message together, both in bytes, and the longest time of one."""

    file: int = 20 << 20
    message: int = 100 << 20
    time: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file that came with something the model has not seen. `most`: bytes that may be fetched of it.

    `sender` is the id of the person whose files it counts to, empty where nobody known sent it.
    """

    file: FileRef
    most: int
    sender: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Destination of files: the folder of an address, among its agent's workspaces."""

    workspaces: WorkspaceFolders
    address: Address

    @property
    def folder(self) -> Path:
        return self.workspaces.folder(self.address)


class Fetching:
    """Brings files of any channel that carries them. `files_of` gives the channel of an address, if it does.

    `senders` is asked only where a message came with files. Uploads on the page are in `shared`, the rooms' own workspaces,
    from where another agent than the main one is given a copy.
    """

    def __init__(
        self,
        *,
        files_of: FilesOf,
        senders: Senders,
        new_id: NewId,
        bounds: FileBounds = FileBounds(),
        transcriber: Transcriber | None = None,
        waits: Sequence[timedelta] = WAITS,
        space: Space = BOUNDLESS,
        shared: WorkspaceFolders | None = None,
    ) -> None:
        self._shared = shared
        self._files_of = files_of
        self._senders = senders
        self._new_id = new_id
        self._bounds = bounds
        self._transcriber = transcriber
        self._waits = waits
        self._space = space
        self._room = asyncio.Semaphore(DOWNLOADS_AT_ONCE)

    async def gather(
        self, session: SessionKey, address: Address, turns: Sequence[Turn], into: WorkspaceFolders
    ) -> list[str]:
        """Fetch what is missing of the files that the model has not seen yet; what it must be told of them, in order."""
        place = _Place(into, address)
        unseen = list(not_seen(turns))
        said = "\n".join(turn.text for turn in unseen)
        wanted = [one for turn in unseen for one in self._wanted(turn) if not _is_told(one.file, said)]
        senders = await self._senders(session) if any(one.file.remote for one in wanted) else {}
        wanted = [replace(one, sender=senders.get(one.file.path, "")) for one in wanted]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._one(place, one)) for one in wanted]
        return [text for task in tasks if (text := task.result())]

    def _wanted(self, turn: UserTurn) -> Iterator[_Wanted]:
        """The files of one message, those left out that are too much together with the ones before."""
        left = self._bounds.message
        for file in turn.files:
            if file.size > self._bounds.file:
                yield _Wanted(file, self._bounds.file)  # refused for its own size
            else:
                most = min(self._bounds.file, left) if file.size <= left else 0
                left -= min(file.size or most, most)
                yield _Wanted(file, most)

    async def _one(self, place: _Place, wanted: _Wanted) -> str | None:
        """Words for the model about this file; None when it is simply there."""
        file = wanted.file
        async with self._room:
            if not await asyncio.to_thread(place.workspaces.has, place.address, file.path):
                if not file.remote and not await self._is_copied(place, wanted):
                    return None  # an upload of long ago, which somebody removed
                if file.remote and (reason := await self._trouble(place, wanted)):
                    log.warning("a file was not fetched", file=file.path, reason=reason)
                    return f"{_missing(file)}{reason}"
            return await self._words(place, file)

    # ------------------------------------------------------------------------------------------------- the file

    async def _is_copied(self, place: _Place, wanted: _Wanted) -> bool:
        """True once an upload of the room is in the agent's own workspace too."""
        if self._shared is None or await self._space.shortage(place.folder, wanted.sender):
            return False
        path = wanted.file.path
        source, to = (PlacedFile(folders, place.address, path) for folders in (self._shared, place.workspaces))
        try:
            await asyncio.to_thread(hand_over, source, to, self._new_id())
        except (OSError, ValueError) as error:
            log.warning("an upload does not reach its agent", file=path, reason=str(error))
            return False
        return True

    async def _trouble(self, place: _Place, wanted: _Wanted) -> str | None:
        """Fetch it; what went wrong, in words that name no link: one may carry a token."""
        fetch = self._files_of(place.address)
        if fetch is None:
            return "no account here can fetch it now"
        if wanted.most == 0 or wanted.file.size > wanted.most:
            return too_large(wanted.file.size, wanted.most)
        if shortage := await self._space.shortage(place.folder, wanted.sender):
            return shortage.words
        arriving = place.workspaces.arriving(self._new_id())
        try:
            async with asyncio.timeout(self._bounds.time.total_seconds()):
                await self._fetch(fetch, wanted, arriving)
            return await self._keep(place, wanted, arriving)
        except TimeoutError:
            return f"it took longer than {self._bounds.time.total_seconds():g} seconds"
        except ChannelError as error:
            return LINK.sub("[link]", str(error))
        except OSError as error:
            return f"it could not be written ({error.strerror})"
        except Exception as error:
            # An adapter's bug: the message is answered without the file.
            log.exception("fetching broke", file=wanted.file.path)
            return f"it failed unexpectedly ({type(error).__name__})"
        finally:
            arriving.unlink(missing_ok=True)

    async def _fetch(self, fetch: Fetch, wanted: _Wanted, into: Path) -> None:
        for wait in (*self._waits, None):
            try:
                await fetch(wanted.file, into, most=wanted.most)
            except Retryable as error:
                if wait is None:
                    raise
                await asyncio.sleep((error.retry_after or wait).total_seconds())
            else:
                return

    async def _keep(self, place: _Place, wanted: _Wanted, arrived: Path) -> str | None:
        size = (await asyncio.to_thread(arrived.stat)).st_size
        if size > wanted.most:  # the adapter should have noticed
            return too_large(size, wanted.most)
        folder, sender, noted = place.folder, wanted.sender, False
        try:
            if self._space.add(folder, size, sender) and (short := await self._space.shortage(folder, sender)):
                return short.words
            await asyncio.to_thread(place.workspaces.keep, place.address, wanted.file.path, arrived)
            await self._space.keep(folder / wanted.file.path, size, sender)
            noted = True
        finally:
            if not noted:
                self._space.add(folder, -size, sender)
        return None

    # ------------------------------------------------------------------------------------------------ voice notes

    async def _words(self, place: _Place, file: FileRef) -> str | None:
        """Words of a voice note, where something here can hear it."""
        if self._transcriber is None or not is_voice(file):
            return None
        try:
            with place.workspaces.open(place.address, file.path) as recording:
                words = (await self._transcriber.transcribe(recording, file.name)).strip()
        except (ToolError, OSError) as error:
            log.warning("a voice note was not transcribed", file=file.path, reason=str(error))
            return f"{_not_heard(file)}{error}"
        return f"{_heard(file)}{bound(words, VOICE_NOTE_MAX_CHARS) or '(nothing is said in it)'}]"


def is_voice(file: FileRef) -> bool:
    """By what its platform calls it, else by its name."""
    return (file.mime or guess_type(file.name)[0] or "").startswith("audio/")


def too_large(size: int, most: int) -> str:
    if most == 0:
        return "together, the files in this message are too large"
    return f"it has {size:,} bytes; at most {most:,} are allowed"


def _missing(file: FileRef) -> str:
    return f"{OURS}The file {file.path} could not be fetched: "


def _heard(file: FileRef) -> str:
    return f"[voice note {file.path}: "


def _not_heard(file: FileRef) -> str:
    return f"{OURS}The voice note {file.path} could not be transcribed: "


def _is_told(file: FileRef, said: str) -> bool:
    """True if an earlier process got as far as telling the model."""
    return any(words(file) in said for words in (_missing, _heard, _not_heard))

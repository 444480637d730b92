"""The duty that reads packs again when they change: one node at a time, a document after another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Final, Protocol

import structlog

from runtime.contract import Now
from runtime.domain.ids import digest
from runtime.domain.memory.chunks import chunks, heading_of
from runtime.egress import NoAnswer, Refused
from runtime.errors import StoreError, ToolError
from runtime.knowledge.folders import Changing, FoundFile, TooLarge, files_of, read_file
from runtime.knowledge.packs import Pack, Packs, most_of
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Document, DocumentText, Knowledge
from runtime.workspace.safe_fs import BadPath

log = structlog.get_logger("knowledge")

KNOWLEDGE_ROLE: Final = "knowledge"
LOOKS_EVERY: Final = timedelta(seconds=5)
"""How often to look which pack is due, or was asked for."""
PAGE_TIMEOUT: Final = timedelta(seconds=30)
TITLE_MAX_CHARS: Final = 200
PAUSE: Final = timedelta(seconds=0.002)
"""Between two documents, so that people are served meanwhile."""
DROPPED_AT_ONCE: Final = 50
"""Documents that one transaction removes."""
ROOT: Final = "."
"""Place of the folder itself, where that is what can't be read."""
TOO_LARGE: Final = "It has more than {most} MB, which is the limit for one document."
NO_TEXT: Final = "It isn't a text that can be read here."
NOT_THERE: Final = "{error}: {folder}. Check `folder` of this pack; on several nodes the folder is needed on each."


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came. `tag` is its ETag or its time; `body` is None where it is the one with the tag that was asked about."""

    tag: str
    media: str
    body: bytes | None


class Pages(Protocol):
    """Fetches pages of packs. Errors: Refused, NoAnswer."""

    async def fetch(self, url: str, tag: str) -> Fetched: ...


TextOf = Callable[[bytes, str, str], Awaitable[str | None]]
"""The text of a document by its bytes, its media type or nothing, and its name or URL; None where it is no text."""


@dataclass(frozen=True, slots=True)
class Round:
    """Result of looking at a pack once."""

    read: int = 0
    same: int = 0
    faults: int = 0
    removed: int = 0


class _Fenced(Exception):
    """Another node has this duty now."""


class KnowledgeReader:
    """Reads the packs of the settings. `clean` is the leak guard's gate for what is kept."""

    def __init__(
        self,
        *,
        store: Knowledge,
        packs: Callable[[], Packs],
        pages: Pages,
        text_of: TextOf,
        clean: Callable[[str], str],
        take: Callable[[str], Awaitable[Duty | None]],
        now: Now,
        pause: timedelta = PAUSE,
    ) -> None:
        self._store, self._packs, self._pages = store, packs, pages
        self._text_of, self._clean, self._take, self._now = text_of, clean, take, now
        self._pause = pause
        self._read_at: dict[Pack, datetime] = {}

    async def run(self) -> None:
        """Read what is due until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                log.warning("packs could not be read yet", reason=str(error))
            await asyncio.sleep(LOOKS_EVERY.total_seconds())

    async def look(self) -> None:
        """Read the packs that are due, where this node has the duty. Errors: StoreError."""
        packs = self._packs()
        due = [pack for pack in packs.values() if self._is_due(pack)]
        if not due or (duty := await self._take(KNOWLEDGE_ROLE)) is None:
            return
        try:
            for pack in due:
                await self._one(duty, pack)
            for name in await self._store.other_packs(packs):
                await self._drop(duty, [one.id for one in await self._store.documents(name)])
        except _Fenced:
            log.info("packs are read by another node now")

    def _is_due(self, pack: Pack) -> bool:
        before = self._read_at.get(pack)
        return before is None or not timedelta() <= self._now() - before < pack.every

    async def _one(self, duty: Duty, pack: Pack) -> None:
        began = self._now()
        done = await self.round(duty, pack)
        self._read_at[pack] = began
        if done.read or done.removed or done.faults:
            log.info("pack read", pack=pack.name, read=done.read, faults=done.faults, removed=done.removed)

    async def round(self, duty: Duty, pack: Pack) -> Round:
        """Look at each document of a pack once. Errors: StoreError."""
        known = {one.place: one for one in await self._store.documents(pack.name)}
        try:
            files = await asyncio.to_thread(files_of, pack)
        except OSError as error:
            log.warning("the folder of a pack can't be read", pack=pack.name, reason=str(error))
            words = NOT_THERE.format(error=error.strerror, folder=pack.folder)
            await self._fault(duty, pack, ROOT, "", words)
            return Round(faults=1)
        results = [await self._file(duty, pack, file, known.get(file.place)) for file in files]
        results += [await self._page(duty, pack, url, known.get(url)) for url in pack.urls]
        there = {file.place for file in files}.union(pack.urls)
        gone = [one.id for place, one in known.items() if place not in there]
        await self._drop(duty, gone)
        return Round(results.count("read"), results.count("same"), results.count("fault"), len(gone))

    async def _file(self, duty: Duty, pack: Pack, file: FoundFile, known: Document | None) -> str:
        if known and known.tag == file.tag:
            return "same"
        if file.fault:
            return await self._fault(duty, pack, file.place, file.tag, file.fault)
        await asyncio.sleep(self._pause.total_seconds())
        try:
            data = await asyncio.to_thread(read_file, pack, file)
        except Changing:
            return "same"  # what was read before stands; its tag is another one the next time, too
        except TooLarge:
            return await self._fault(
                duty, pack, file.place, file.tag, TOO_LARGE.format(most=most_of(file.place) // 1_000_000)
            )
        except OSError as error:
            return await self._fault(duty, pack, file.place, "", error.strerror or str(error))
        except BadPath as error:
            return await self._fault(duty, pack, file.place, "", f"{error}. Rename it.")
        return await self._read(duty, pack, file.place, file.tag, data, "", known)

    async def _page(self, duty: Duty, pack: Pack, url: str, known: Document | None) -> str:
        try:
            page = await self._pages.fetch(url, known.tag if known else "")
        except (Refused, NoAnswer) as error:
            return await self._fault(duty, pack, url, "", str(error))
        if page.body is None:
            return "same"
        return await self._read(duty, pack, url, page.tag, page.body, page.media, known)

    async def _read(
        self, duty: Duty, pack: Pack, place: str, tag: str, data: bytes, media: str, known: Document | None
    ) -> str:
        try:
            text = await self._text_of(data, media, place)
        except ToolError as error:
            return await self._fault(duty, pack, place, tag, str(error))
        if text is None:
            return await self._fault(duty, pack, place, tag, NO_TEXT)
        text = await asyncio.to_thread(self._clean, text)
        mark = digest(text)
        if known and known.digest == mark:
            await self._sure(self._store.see_document(duty, known.id, tag))
            return "same"
        parts = await asyncio.to_thread(lambda: list(chunks(text)))
        new = DocumentText(pack.name, place, title_of(text, place), tag, mark, len(text))
        await self._sure(self._store.put_document(duty, new, parts))
        return "read"

    async def _fault(self, duty: Duty, pack: Pack, place: str, tag: str, words: str) -> str:
        await self._sure(self._store.note_document_fault(duty, pack.name, place, tag, self._clean(words)))
        return "fault"

    async def _drop(self, duty: Duty, gone: Sequence[str]) -> None:
        for first in range(0, len(gone), DROPPED_AT_ONCE):
            await self._sure(self._store.drop_documents(duty, gone[first : first + DROPPED_AT_ONCE]))

    async def _sure(self, writing: Awaitable[bool]) -> None:
        if not await writing:
            raise _Fenced


def title_of(text: str, place: str) -> str:
    """The first heading of a document, else the name of its file.

    >>> title_of("# Leave\\n\\nThirty days.", "handbook/leave.md")
    'Leave'
    """
    for line in text[:5_000].split("\n"):
        if found := heading_of(line):
            return found[1][:TITLE_MAX_CHARS]
    return PurePosixPath(place).name[:TITLE_MAX_CHARS] or place[:TITLE_MAX_CHARS]

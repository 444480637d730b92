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
from runtime.domain.memory.chunks import Chunk, chunks, heading_of
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
DOCUMENT_TIMEOUT: Final = timedelta(minutes=1)
"""Longest time to get the text of one document, and to cut it."""
TITLE_MAX_CHARS: Final = 200
PAUSE: Final = timedelta(seconds=0.002)
"""Between two documents, so that people are served meanwhile."""
DROPPED_AT_ONCE: Final = 50
"""Documents that one transaction removes."""
ROOT: Final = "."
"""Place of the folder itself, where that is what can't be read."""
TOO_LARGE: Final = "It has more than {most} MB, which is the limit for one document."
NO_TEXT: Final = "It isn't a text that can be read here."
TOO_SLOW: Final = "To read it took longer than a minute, so it was left out. Make it smaller, or split it."
BROKEN: Final = "It couldn't be read ({error}). The log has more. It's tried again once it changes."
NOT_KEPT: Final = "It couldn't be written into the database, and is tried again: {error}"
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


Fetch = Callable[[str, str], Awaitable[Fetched]]
"""A document by its place, and the tag that it had before. Errors: _Unreadable, Changing."""


class _Fenced(Exception):
    """Another node has this duty now."""


class _Unreadable(Exception):
    """A document can't be read, in words for its operator. Tried again once it changes, or in the next round."""

    def __init__(self, words: str, *, until_changed: bool = False) -> None:
        super().__init__(words)
        self.until_changed = until_changed


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
        try:
            done = await self.round(duty, pack)
        except (StoreError, _Fenced):
            raise
        except Exception:  # a bug of ours: the other packs don't wait for this one
            log.exception("a pack could not be read", pack=pack.name)
            done = Round()
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
        results += [await self._document(duty, pack, url, "", known.get(url), self._page) for url in pack.urls]
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

        async def fetch(place: str, tag: str) -> Fetched:
            return Fetched(file.tag, "", await asyncio.to_thread(_data_of, pack, file))

        return await self._document(duty, pack, file.place, file.tag, known, fetch)

    async def _document(
        self, duty: Duty, pack: Pack, place: str, tag: str, known: Document | None, fetch: Fetch
    ) -> str:
        """Read one document. Whatever is wrong with it is noted, so that the others don't wait. Errors: StoreError."""
        try:
            async with asyncio.timeout(DOCUMENT_TIMEOUT.total_seconds()):
                fetched = await fetch(place, known.tag if known else "")
                tag = fetched.tag
                if fetched.body is None:
                    return "same"
                text = await self._text(fetched.body, fetched.media, place)
                mark, parts = await asyncio.to_thread(lambda: (digest(text), list(chunks(text))))
        except Changing:
            return "same"  # what was read before stands; its tag is another one the next time, too
        except _Unreadable as error:
            return await self._fault(duty, pack, place, tag if error.until_changed else "", str(error))
        except TimeoutError:
            return await self._fault(duty, pack, place, tag, TOO_SLOW)
        except Exception as error:  # a reader may raise anything for what it is given
            log.warning("a document can't be read", pack=pack.name, place=place, exc_info=True)
            return await self._fault(duty, pack, place, tag, BROKEN.format(error=type(error).__name__))
        new = DocumentText(pack.name, place, title_of(text, place), tag, mark, len(text))
        try:
            return await self._kept(duty, new, parts, known)
        except StoreError as error:  # if it is away, the fault can't be noted either
            return await self._fault(duty, pack, place, "", NOT_KEPT.format(error=error))

    async def _page(self, url: str, tag: str) -> Fetched:
        try:
            return await self._pages.fetch(url, tag)
        except (Refused, NoAnswer) as error:
            raise _Unreadable(str(error)) from error

    async def _text(self, data: bytes, media: str, place: str) -> str:
        try:
            text = await self._text_of(data, media, place)
        except ToolError as error:
            raise _Unreadable(str(error), until_changed=True) from error
        if text is None:
            raise _Unreadable(NO_TEXT, until_changed=True)
        return await asyncio.to_thread(self._clean, text)

    async def _kept(self, duty: Duty, new: DocumentText, parts: Sequence[Chunk], known: Document | None) -> str:
        if known and known.digest == new.digest:
            await self._sure(self._store.see_document(duty, known.id, new.tag))
            return "same"
        await self._sure(self._store.put_document(duty, new, parts))
        return "read"

    async def _fault(self, duty: Duty, pack: Pack, place: str, tag: str, words: str) -> str:
        await self._sure(self._store.note_document_fault(duty, pack.name, place, tag, self._clean(words)))
        return "fault"

    async def _drop(self, duty: Duty, gone: Sequence[str]) -> None:
        """Remove these documents, and what stayed behind of others that were replaced."""
        for first in range(0, len(gone), DROPPED_AT_ONCE):
            await self._sure(self._store.drop_documents(duty, gone[first : first + DROPPED_AT_ONCE]))
        cleared = await self._store.clear_remains(duty)
        if cleared is None:
            raise _Fenced
        if cleared:
            await self._store.clear_traces()

    async def _sure(self, writing: Awaitable[bool]) -> None:
        if not await writing:
            raise _Fenced


def _data_of(pack: Pack, file: FoundFile) -> bytes:
    """Errors: _Unreadable, Changing."""
    try:
        return read_file(pack, file)
    except TooLarge:
        most = most_of(file.place) // 1_000_000
        raise _Unreadable(TOO_LARGE.format(most=most), until_changed=True) from None
    except OSError as error:
        raise _Unreadable(error.strerror or str(error)) from error
    except BadPath as error:
        raise _Unreadable(f"{error}. Rename it.") from error


def title_of(text: str, place: str) -> str:
    """The first heading of a document, else the name of its file.

    >>> title_of("# Leave\\n\\nThirty days.", "handbook/leave.md")
    'Leave'
    """
    for line in text[:5_000].split("\n"):
        if found := heading_of(line):
            return found[1][:TITLE_MAX_CHARS]
    return PurePosixPath(place).name[:TITLE_MAX_CHARS] or place[:TITLE_MAX_CHARS]

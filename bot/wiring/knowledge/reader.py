"""The reader of packs."""

from __future__ import annotations

import mimetypes
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from bot.settings.settings import Settings
from bot.wiring.knowledge.packs import packs_of
from bot.wiring.safety.egress import egress_of
from runtime.contract import Now
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.knowledge.packs import TEXT_MAX_BYTES
from runtime.knowledge.pages import PackPages
from runtime.knowledge.reading import KnowledgeReader
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import Knowledge
from tools.documents.kinds import is_document
from tools.documents.reader import DocumentReader
from tools.web.bodies import Body, text_of

PAGES: Final = ("text/html", "application/xhtml+xml")


def reader_of(
    settings: Settings, store: Knowledge, door: Door, take: Callable[[str], Awaitable[Duty | None]], now: Now
) -> KnowledgeReader:
    packs = packs_of(settings)
    return KnowledgeReader(
        store=store,
        packs=lambda: packs,
        pages=PackPages(egress_of(settings)),
        text_of=document_text,
        clean=partial(door.clean, gate=Gate.MEMORY_WRITE),
        take=take,
        now=now,
    )


async def document_text(data: bytes, media: str, place: str) -> str | None:
    """The text of a file or a page; None for what is no text. Errors: ToolFailed for a page or a document that can't be read."""
    if is_document(data, place, media):
        return await DocumentReader().read_bytes(data, place, media=media, most=TEXT_MAX_BYTES, headed=True)
    guessed = "" if media else mimetypes.guess_type(place)[0] or ""
    kind = media or (guessed if guessed in PAGES else "")
    return await text_of(Body.of(data, kind, place), most=TEXT_MAX_BYTES)

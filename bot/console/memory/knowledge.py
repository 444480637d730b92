"""The page of knowledge: packs, their documents with why one could not be read, and a search as an agent makes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlencode

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, moment, nothing, page, table
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible
from runtime.text.words import count, marked, say

KNOWLEDGE_PLACE: Final = "/console/knowledge"
PACK_HEADS: Final = (marked("Pack"), marked("Documents"), marked("Characters"), marked("Faults"), marked("Last read"))
DOCUMENT_HEADS: Final = (
    marked("Document"),
    marked("Title"),
    marked("Characters"),
    marked("State"),
    marked("Last read"),
)
NO_PACKS: Final = marked("No pack has been read. `[[knowledge]]` in the settings names folders and pages.")
QUERY_MAX_CHARS: Final = 1_000
DOCUMENTS_SHOWN: Final = 500
"""Documents of a pack on the page, those with faults first: `signalbox knowledge show` has all."""


async def knowledge(request: web.Request, do: Operations) -> Html:
    query, pack = request.query.get("q", "")[:QUERY_MAX_CHARS].strip(), request.query.get("pack", "")
    packs = await do.knowledge()
    if not packs:
        return page(say("Knowledge"), KNOWLEDGE_PLACE, nothing(say(NO_PACKS)))
    every = [tag("h2", say("Packs")), table(say("Packs"), PACK_HEADS, map(_pack, packs))]
    told = await _told(query, pack, do) if pack or query else every
    search = _search(query, pack)
    return page(say("Knowledge"), KNOWLEDGE_PLACE, _choice(packs, pack), search, *told, refreshed=not query)


async def _told(query: str, pack: str, do: Operations) -> list[Html]:
    """Passages that were looked for, or else the documents of a pack."""
    try:
        if query:
            return [*_found(await do.search_knowledge(query, pack))]
        return [*_documents(await do.knowledge_documents(pack))]
    except Refusal as error:
        return [nothing(str(error))]


def _choice(packs: Iterable[View], chosen: str) -> Html:
    names = ("", *(row["pack"] for row in packs))
    made = (
        tag("a", name or say("every pack"), href=_place(name), aria_current="page" if name == chosen else None)
        for name in names
    )
    return tag("nav", *made, class_="tabs", aria_label=say("Pack"))


def _search(query: str, pack: str) -> Html:
    return tag(
        "form",
        tag("label", say("Words to look for in {pack}", pack=pack or say("every pack")), for_="q"),
        tag("input", id="q", name="q", value=query, maxlength=str(QUERY_MAX_CHARS), required=True),
        tag("input", type="hidden", name="pack", value=pack) if pack else None,
        tag("div", tag("button", say("Search"), type="submit", class_="main"), class_="buttons"),
        method="get",
        action=KNOWLEDGE_PLACE,
        role="search",
    )


def _found(rows: Iterable[View]) -> Iterator[Html]:
    """Passages with their places, best first."""
    yield tag("h2", say("Found"))
    passages = [
        tag(
            "article",
            tag("h3", legible(f"{row['pack']}: {row['cited']}")),
            tag("p", legible(row["heading"]), class_="faint") if row["heading"] else None,
            tag("pre", row["text"]),
        )
        for row in rows
    ]
    yield from passages or [nothing(say("No passage has these words."))]


def _documents(rows: Iterable[View]) -> Iterator[Html]:
    """Documents by place, those that could not be read first."""
    every = sorted(rows, key=lambda row: (not row["fault"], row["place"]))
    yield tag("h2", say("Documents"))
    yield table(say("Documents"), DOCUMENT_HEADS, map(_document, every[:DOCUMENTS_SHOWN]))
    if len(every) > DOCUMENTS_SHOWN:
        yield tag("p", say("and {number} more", number=count(len(every) - DOCUMENTS_SHOWN)), class_="faint")


def _document(row: View) -> tuple[str, ...]:
    state = badge("failed" if row["fault"] else "read")
    told = tag("div", state, tag("p", legible(row["fault"]), class_="faint")) if row["fault"] else state
    return legible(row["place"]), legible(row["title"]) or "-", f"{row['characters']:,}", told, moment(row["read_at"])


def _pack(row: View) -> tuple[str, ...]:
    link = tag("a", row["pack"], href=_place(row["pack"]))
    told = tag("div", f"{row['faults']:,} ", badge("failed")) if row["faults"] else Html("0")
    return link, f"{row['documents']:,}", f"{row['characters']:,}", told, moment(row["read_at"])


def _place(pack: str) -> str:
    return f"{KNOWLEDGE_PLACE}?{urlencode({'pack': pack})}" if pack else KNOWLEDGE_PLACE

"""`[[knowledge]]`: folders and pages that agents search and cite."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from bot.settings.faults import nearest
from bot.settings.sources import Layers
from runtime.domain.agents.manifest import MAIN
from runtime.knowledge.packs import EVERY, INCLUDED, PACKS_MAX, Pack
from runtime.settings.accounts import AccountName
from runtime.settings.types import Number, Place, Section, Text, is_http_address

URLS_MAX: Final = 100


def _page(url: str) -> str:
    if not is_http_address(url):
        raise ValueError('the address of a page, such as "https://docs.example.org/faq"')
    return url


class KnowledgeTable(Section):
    """A pack of documents: [knowledge.md](knowledge.md)."""

    name: AccountName = Field(description="What it is called: lowercase letters, digits and dashes.")
    folder: Place | None = Field(
        default=None, description="Folder with its documents. On several nodes it is needed on each."
    )
    urls: tuple[Annotated[Text, AfterValidator(_page)], ...] = Field(
        default=(),
        max_length=URLS_MAX,
        description="Pages that belong to it. `egress.rules` see them as the tool `knowledge`.",
    )
    include: tuple[Text, ...] = Field(
        default=INCLUDED, description="Files of the folder, as globs of their names or paths."
    )
    every_minutes: Number = Field(
        default=EVERY.total_seconds() / 60,
        ge=1,
        le=10_080,
        description="Minutes between two looks for changed documents.",
    )
    agents: tuple[Text, ...] = Field(default=("*",), description="Agents that may search it, by name or glob.")
    rooms: tuple[Text, ...] = Field(
        default=("*",), description='Rooms where they may, as addresses or globs such as "slack:work/C-HR*".'
    )

    def pack(self) -> Pack:
        every = timedelta(minutes=self.every_minutes)
        return Pack(self.name, self.folder, self.urls, self.include, every, self.agents, self.rooms)


def faults_together(layers: Layers) -> Iterator[tuple[str, str]]:
    """Packs without documents or for agents that aren't there, and more of them than there may be."""
    tables: list[tuple[str, Any]] = list(layers.tables("knowledge"))
    agents = [MAIN, *(str(agent.get("name")) for _, agent in layers.tables("agents"))]
    for place, table in tables:
        if not table.get("folder") and not table.get("urls"):
            yield place, "has no documents; set folder, or urls"
        yield from _nobodys(place, table, agents)
    if len(tables) > PACKS_MAX:
        yield tables[PACKS_MAX][0], f"is one pack too many; there may be {PACKS_MAX}. Put several folders below one"


def _nobodys(place: str, table: Mapping[str, Any], agents: Collection[str]) -> Iterator[tuple[str, str]]:
    """Names in `agents` that no agent has."""
    given = table.get("agents")
    for glob in given if isinstance(given, list) else ():
        if isinstance(glob, str) and not fnmatch.filter(agents, glob):
            near = nearest(glob, agents)
            fix = f"did you mean {near}?" if near else f"there are: {', '.join(agents)}"
            yield f"{place}.agents", f'"{glob}" names no agent; {fix}'

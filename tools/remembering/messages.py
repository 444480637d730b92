"""The tool that looks for messages of earlier conversations."""

from __future__ import annotations

from typing import Annotated, Final

from runtime.contract import Carries, Effect, Flow, Reads, Tool, ToolContext
from runtime.contract.memory.facts import MemoryBook
from tools.kit.declare import tool
from tools.remembering import telling
from tools.remembering.actors import MEMORY_TIMEOUT, reader

SEARCHING: Final = Flow(
    Reads.PEOPLE, stays=True, carries={"query": Carries.WORDS, "room": Carries.DETAIL, "since": Carries.DETAIL}
)


def message_tools(book: MemoryBook) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=MEMORY_TIMEOUT, seldom=True, flow=SEARCHING)
    async def search_messages(
        query: Annotated[str, "Words that they have."],
        context: ToolContext,
        room: Annotated[str, "Only there; else wherever the person may read."] = "",
        since: Annotated[str, "Such as 2026-12-01."] = "",
    ) -> str:
        """Look for messages of earlier conversations."""
        found = await book.search_messages(query, reader(context), room=room.strip(), since=telling.moment_of(since))
        return telling.messages(found)

    return [search_messages]

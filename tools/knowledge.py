"""The tool that searches packs of documents: what was found, with the places to cite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import Carries, Effect, Flow, Reads, Tool, ToolContext
from runtime.contract.memory.facts import MemoryActor
from runtime.contract.memory.knowledge import KnowledgeBook, Passage
from runtime.errors import ToolRetry
from runtime.text.outside import material
from tools.kit.declare import tool

DOCS_TIMEOUT: Final = timedelta(seconds=20)
SHOWN_MAX: Final = 5
DOCS_BOUND: Final = 12_000
"""Characters of a result: five passages, each with its place."""
DOCS_FLOW: Final = Flow(Reads.PEOPLE, stays=True, carries={"query": Carries.WORDS, "pack": Carries.DETAIL})
"""Files are the operator's own; what a page says is fenced with its source."""
NO_PACKS: Final = "There are no documents to search in this room."


def knowledge_tools(book: KnowledgeBook) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=DOCS_TIMEOUT, output_bound=DOCS_BOUND, flow=DOCS_FLOW)
    async def docs_search(
        query: Annotated[str, "Words that the passage would have."],
        context: ToolContext,
        pack: Annotated[str, "One pack only."] = "",
    ) -> str:
        """Search this team's documents; cite the [place] of what you use."""
        packs = chosen(book, context, pack)
        return told(await book.search(query, packs, SHOWN_MAX, by=_asker(context)), query)

    return [docs_search]


def _asker(context: ToolContext) -> MemoryActor | None:
    return MemoryActor(context.agent, context.address, context.requester) if context.address else None


def chosen(book: KnowledgeBook, context: ToolContext, pack: str) -> Sequence[str]:
    """Packs to search. Errors: ToolRetry for one that isn't open here."""
    open_here = book.packs(context.agent, context.address)
    if not open_here:
        raise ToolRetry(NO_PACKS)
    if pack and pack not in open_here:
        raise ToolRetry(f"There is no pack {pack!r} here. There are: {', '.join(open_here)}.")
    return [pack] if pack else open_here


def told(found: Sequence[Passage], query: str) -> str:
    """Passages as the model reads them, each under its place."""
    if not found:
        return f"No document has anything on {query!r}. Say so rather than guess."
    return "\n\n".join(map(_passage, found))


def _passage(one: Passage) -> str:
    if one.is_outside:  # so are its headings
        return f"[{one.cited}]\n{material(_under(one.heading, one.text), one.place)}"
    heading = f" ({one.heading})" if one.heading else ""
    return f"[{one.cited}]{heading}\n{one.text}"


def _under(heading: str, text: str) -> str:
    return f"Under: {heading}\n{text}" if heading else text

"""Tools of a graph of names: how two things belong together, and everything that is kept about one."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from runtime.contract import Carries, Effect, Flow, Reads, Tool, ToolContext
from runtime.contract.memory.facts import MemoryBook, MemoryKind, MemoryRequest, ScopeKind
from runtime.errors import ToolRetry
from tools.kit.declare import tool
from tools.remembering import telling
from tools.remembering.actors import MEMORY_TIMEOUT, keeper, reader, trust_of

RELATING: Final = Flow(
    Reads.OURS,
    stays=True,
    carries={"a": Carries.WORDS, "kind": Carries.WORDS, "b": Carries.WORDS, "scope": Carries.DETAIL},
)
ASKING_ABOUT: Final = Flow(Reads.PEOPLE, stays=True, carries={"entity": Carries.WORDS, "depth": Carries.DETAIL})


def relation_tools(book: MemoryBook) -> list[Tool]:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=MEMORY_TIMEOUT, seldom=True, flow=RELATING)
    async def relate(
        a: Annotated[str, "A name."],
        kind: Annotated[str, "Such as works at."],
        b: Annotated[str, "Another name."],
        context: ToolContext,
        scope: Annotated[Literal["person", "room", "agent"], "See remember."] = "person",
    ) -> str:
        """Keep how two things belong together."""
        one, how, other = (" ".join(part.split()) for part in (a, kind, b))
        if not (one and how and other):
            raise ToolRetry("A relation needs two names and a kind.")
        wanted = MemoryRequest(
            f"{one} {how} {other}",
            ScopeKind(scope),
            MemoryKind.RELATION,
            subject=one,
            relation=how,
            object=other,
            trust=await trust_of(context),
        )
        return telling.kept(await book.remember(wanted, keeper(context, str(wanted))))

    @tool(effect=Effect.READ, timeout=MEMORY_TIMEOUT, seldom=True, flow=ASKING_ABOUT)
    async def about(
        entity: Annotated[str, "A name."],
        context: ToolContext,
        depth: Annotated[Literal[1, 2], "2: also of what belongs to it."] = 1,
    ) -> str:
        """List all that is kept about somebody or something."""
        return telling.listed(await book.about(entity.strip(), reader(context), depth=depth))

    return [relate, about]

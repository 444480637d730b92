"""Tools that keep, find and remove memories.

A person's memory is read in their private rooms alone, and a room's in that room: the book sees to it, whatever is asked.
To keep something for a room or an agent asks people first (`runtime.policy.rules.SHIPPED`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.contract.memory.facts import MemoryBook, MemoryRequest, ScopeKind
from tools.kit.declare import tool
from tools.remembering import telling
from tools.remembering.actors import MEMORY_TIMEOUT, keeper, reader, trust_of

RECALLED_MAX: Final = 10
KEEPING: Final = Flow(
    Reads.OURS,
    stays=True,
    carries={"text": Carries.WORDS, "subject": Carries.WORDS, "relation": Carries.WORDS, "scope": Carries.DETAIL},
)
"""What is kept after outside text is never believed, so that it stays as harmless as it is in the conversation."""
FINDING: Final = Flow(
    Reads.PEOPLE, stays=True, carries={"query": Carries.WORDS, "about": Carries.WORDS, "since": Carries.DETAIL}
)
REMOVING: Final = Flow(Reads.OURS, carries={"words": Carries.THING})
"""Nobody gets it back: so after outside text a person is to have named it."""
SEEN_BY: Final = {
    "room": "Everybody in this room, and in its threads, can have it used from now on.",
    "agent": "It is used in every room where this agent speaks, whoever is there.",
}


def memory_tools(book: MemoryBook) -> list[Tool]:
    """The three that keep, find and remove."""
    return [_keeping(book), *_finding(book)]


def wider_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The text, and who will have it read."""
    scope = str(arguments.get("scope", ScopeKind.PERSON))
    note = [CardNote(SEEN_BY[scope])] if scope in SEEN_BY else []
    return [CardText("text"), CardValue("scope"), *note]


def _keeping(book: MemoryBook) -> Tool:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=MEMORY_TIMEOUT, card=wider_card, flow=KEEPING)
    async def remember(
        text: Annotated[str, "One sentence that stands alone."],
        context: ToolContext,
        subject: Annotated[str, "Whom it's about."] = "",
        relation: Annotated[str, "What of them, such as birthday: a new one replaces it."] = "",
        scope: Annotated[Literal["person", "room", "agent"], "Wider ones only if asked for."] = "person",
    ) -> str:
        """Keep a fact for later conversations; only if somebody wants that."""
        wanted = MemoryRequest(
            text.strip(),
            ScopeKind(scope),
            subject=subject.strip(),
            relation=relation.strip(),
            trust=await trust_of(context),
        )
        return telling.kept(await book.remember(wanted, keeper(context, str(wanted))))

    return remember


def _finding(book: MemoryBook) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=MEMORY_TIMEOUT, flow=FINDING)
    async def recall(
        query: Annotated[str, "Words or a question."],
        context: ToolContext,
        about: Annotated[str, "Only of this subject."] = "",
        since: Annotated[str, "Such as 2026-12-01."] = "",
    ) -> str:
        """Look up what was kept."""
        found = await book.recall(
            query, reader(context), about=about.strip(), since=telling.moment_of(since), limit=RECALLED_MAX
        )
        return telling.listed(one.memory for one in found)

    @tool(effect=Effect.WRITE, timeout=MEMORY_TIMEOUT, seldom=True, flow=REMOVING)
    async def forget(words: Annotated[str, "Its id, or words that it has."], context: ToolContext) -> str:
        """Remove what was kept, for good."""
        return telling.forgotten(await book.forget(words.strip(), keeper(context, words)))

    return [recall, forget]

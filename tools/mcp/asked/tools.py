"""The two calls that a run makes for a server which asks in mid-call. No model is told of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from runtime.contract import Asking, CardNote, Effect, Flow, Json, Reads, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from tools.mcp.asked.held import ASKS, GO_ON, Held, Waiting
from tools.mcp.terms import ServerTerms

OBJECT: Final[Mapping[str, Json]] = {"type": "object"}
GONE: Final = "The call that asked isn't known here any more. Whether it was carried out is unknown."

Resume = Callable[[Waiting, Mapping[str, Json], ToolContext], Awaitable[str]]
"""Goes on with a call, given the answers by the server's keys. Errors: ToolError."""


class AskTool:
    """Implements `contract.Tool`: a question of a server, which a person answers in its place."""

    def __init__(self, terms: ServerTerms) -> None:
        self.spec = ToolSpec(
            f"{terms.name}_{ASKS}",
            f"Asks a person what the MCP server {terms.name} wants to know.",
            OBJECT,
            Effect.READ,
            asks=asked,
            untold=True,
            flow=Flow(Reads.OURS, stays=True, carries={}),
        )

    def caution(self) -> str:
        return ""

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise ToolFailed("A person answers this, so it cannot be called.")


class GoOnTool:
    """Implements `contract.Tool`: goes on with the call that asked. It is made once, as the call itself is."""

    def __init__(self, terms: ServerTerms, held: Held, resume: Resume) -> None:
        self.spec = ToolSpec(
            f"{terms.name}_{GO_ON}",
            f"Goes on with a call of the MCP server {terms.name} after a person answered.",
            OBJECT,
            Effect.WRITE,
            untold=True,
            timeout=terms.timeout,
            flow=Flow(source=terms.name),
            card=lambda _, __: [CardNote(f"server {terms.name}")],
        )
        self._held = held
        self._resume = resume

    def caution(self) -> str:
        return ""

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        waiting = self._held.of(str(arguments.get("call")))
        answers: Any = arguments.get("answers")
        if waiting is None or waiting.run != context.run_id or not isinstance(answers, dict):
            raise ToolFailed(GONE)
        return await self._resume(waiting, answers, context)


def asked(arguments: Mapping[str, Json]) -> Asking:
    options: Any = arguments.get("options")
    return Asking(str(arguments.get("question", "")), tuple(map(str, options or ())))

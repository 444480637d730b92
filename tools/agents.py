"""The tool by which an owner has an agent made in a chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Protocol

from runtime.contract import (
    Caller,
    CardContext,
    CardNote,
    CardPart,
    CardText,
    CardValue,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.errors import ToolError
from tools.kit.declare import tool

MAKING_TIMEOUT: Final = timedelta(seconds=60)
"""The settings of all agents are read again, and what is planned in them is looked at."""
MAKING: Final = Flow(Reads.OURS)
LEFT_OUT: Final[Mapping[str, str]] = {
    "model": "the usual model",
    "tools": "all tools within its effects",
    "effects": "effects: read",
    "rooms": "reached by its name",
    "budget_day": "no budget of its own",
}
"""Words on the card for settings that are left out."""


class NewAgents(Protocol):
    """Agents that are made while the process works. `table` is one as a file in `agents/` has it."""

    async def faults(self, table: Mapping[str, Json], by: Caller) -> str:
        """Everything that is wrong with such an agent, a line each; empty where it may be made."""

    async def make(self, table: Mapping[str, Json], by: Caller) -> str:
        """Make it; words about what is there now. Errors: ToolFailed, and then nothing is."""


def agent_tools(made: NewAgents) -> dict[str, Tool]:
    """The tool, by its name."""

    @tool(effect=Effect.DANGER, timeout=MAKING_TIMEOUT, seldom=True, card=drawn, flow=MAKING)
    async def agent_create(
        name: Annotated[str, "Small letters."],
        prompt: Annotated[str, "Its system prompt."],
        context: ToolContext,
        tools: Annotated[list[str] | None, "Names or globs."] = None,
        effects: Annotated[Literal["read", "write", "danger"], "The most it may do."] = "read",
        model: Annotated[str, "A configured name."] = "",
        rooms: Annotated[list[str] | None, "Addresses where it answers."] = None,
        delegates_to: Annotated[list[str] | None, "Agents."] = None,
        budget_day: Annotated[float, "US dollars."] = 0.0,
    ) -> str:
        """Make another agent, as an owner asks."""
        given: dict[str, Any] = {
            "tools": tools,
            "effects": effects,
            "model": model,
            "rooms": rooms,
            "delegates_to": delegates_to,
            "budget_day": budget_day,
        }
        return await made.make(table_of({"name": name, "prompt": prompt, **given}), caller_of(context))

    async def refusal(arguments: Mapping[str, Json], by: Caller) -> str:
        try:
            agent_create.check(arguments)
        except ToolError as error:
            return str(error)
        return await made.faults(table_of(arguments), by)

    return {"agent_create": replace(agent_create, spec=replace(agent_create.spec, refusal=refusal))}


def table_of(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """The agent of a call, with what it says alone, as a file has it."""
    given = {key: value for key, value in arguments.items() if value not in (None, "", [], 0)}
    return {**given, "effects": arguments.get("effects") or "read"}


def caller_of(context: ToolContext) -> Caller:
    return Caller(context.agent, context.requester, in_chat=not context.scheduled, session=context.session)


def drawn(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The call on its card: each setting, also where it is left out."""
    parts: list[CardPart] = [CardValue("name")]
    for setting, words in LEFT_OUT.items():
        parts.append(CardValue(setting) if arguments.get(setting) else CardNote(words))
    return [*parts, CardText("prompt")]

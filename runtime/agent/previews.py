"""Previews: what an agent would send to its model for the next message of a conversation, without sending it."""

from __future__ import annotations

import asyncio
from typing import Final

from runtime.agent.registry import Agents, facts_of
from runtime.chat.context_views import Measured
from runtime.context.builder import Budget, partitions
from runtime.context.condenser import Condenser
from runtime.context.condensing import Step
from runtime.context.measuring import Preview
from runtime.context.summaries import span
from runtime.contract import Address, ModelRequest
from runtime.store.protocol import History

WHOLE: Final = ""


class Previews:
    """Makes requests as the loop does, from the same facts and with the same bounds."""

    def __init__(self, agents: Agents, condenser: Condenser) -> None:
        self._agents = agents
        self._condenser = condenser

    def knows(self, name: str) -> bool:
        return any(agent.name == name for agent in self._agents)

    async def of(self, name: str, address: Address, history: History) -> Preview:
        """The next request of the agent `name` in a room. A window may have to be looked up in a long list."""
        return await asyncio.to_thread(self._of, name, address, history)

    def _of(self, name: str, address: Address, history: History) -> Preview:
        agent = self._agents.of(name)
        facts, window = facts_of(agent, address), agent.limits.window
        scale = self._condenser.scale_of(agent.model.name)
        parts = partitions(facts, history, Budget(window.tokens, scale))
        request = ModelRequest(parts.prompt, parts.history, facts.tools, facts.files)
        spare = span(history)
        return Preview(name, agent.model.name, window.tokens, window.source, parts, request, scale, spare)

    async def measured(self, name: str, address: Address, history: History) -> Measured:
        """Its sizes alone. Implements `protocol.Measure`."""
        return measured(await self.of(name, address, history))


def measured(made: Preview) -> Measured:
    step = made.parts.step
    word = WHOLE if step is Step.WHOLE else step.name.lower()
    return Measured(made.model, made.window, made.source, made.sizes, word, made.spare)

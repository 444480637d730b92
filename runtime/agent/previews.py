"""Previews: what an agent would send to its model for the next message of a conversation, without sending it."""

from __future__ import annotations

import asyncio
from typing import Final

from runtime.agent.registry import Agent, Agents
from runtime.agent.surroundings import Surroundings
from runtime.chat.views.context import Measured
from runtime.context.builder import Budget, RunFacts, partitions
from runtime.context.condenser import Condenser
from runtime.context.condensing import Step
from runtime.context.measuring import Preview
from runtime.context.summaries import span
from runtime.contract import RunId
from runtime.store.protocol import Conversed

WHOLE: Final = ""


class Previews:
    """Makes requests as the loop does, from the same facts and with the same bounds."""

    def __init__(self, agents: Agents, surroundings: Surroundings, condenser: Condenser) -> None:
        self._agents = agents
        self._surroundings = surroundings
        self._condenser = condenser

    def knows(self, name: str) -> bool:
        return name in self._agents

    async def of(self, conversed: Conversed) -> Preview:
        """The next request of a conversation. The size of a window may have to be looked up in a long list."""
        agent = self._agents[conversed.agent]
        facts = await self._surroundings.next(agent, conversed)
        return await asyncio.to_thread(self._of, agent, facts, conversed)

    def _of(self, agent: Agent, facts: RunFacts, conversed: Conversed) -> Preview:
        window, history = agent.limits.window, conversed.history
        scale = self._condenser.scale_of(conversed.session)
        parts = partitions(facts, history, Budget(window.tokens, scale))
        request, spare = parts.request(facts), span(history, RunId(""))
        return Preview(agent.name, agent.model.name, window.tokens, window.source, parts, request, scale, spare)

    async def measured(self, conversed: Conversed) -> Measured:
        """Its sizes alone. Implements `protocol.Measure`."""
        return measured(await self.of(conversed))


def measured(made: Preview) -> Measured:
    step = made.parts.step
    word = WHOLE if step is Step.WHOLE else step.name.lower()
    return Measured(made.model, made.window, made.source, made.sizes, word, made.spare)

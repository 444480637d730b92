"""Agents for operators: listed, suspended, resumed and ended."""

from __future__ import annotations

from bot.operator.agents import NO_AGENT, AgentLives, with_states
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.http.errors import Refusal
from runtime.text.words import say


@by_role
class AgentsApi(PartialApi):
    """Agents of the settings, and their lives."""

    async def agents(self) -> list[View]:
        """Agents of the settings, the main one first."""
        return with_states(self._context.agents(), await self._store.lives.rows())

    async def agent(self, name: str) -> View:
        rows = await self.agents()
        found = next((row for row in rows if row["name"] == name), None)
        if found is None:
            raise Refusal(404, say(NO_AGENT, name=name, names=", ".join(row["name"] for row in rows)))
        return found

    async def suspend_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.SUSPEND, reason)

    async def resume_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.RESUME, reason)

    async def terminate_agent(self, name: str, reason: str = "") -> View:
        return await self._lives.turn(name, AgentEvent.TERMINATE, reason)

    @property
    def _lives(self) -> AgentLives:
        return AgentLives(self._context, self.actor)

"""Life of agents over an engine."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from runtime.contract import Address, Person
from runtime.domain.agents.bounds import Bounds
from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.store.agents.bounds import keep_bounds
from runtime.store.protocol.agents import AgentRow, TurnedAgent
from runtime.store.schema import agents
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, moment

AGENT_ROWS = select(agents.c.name, agents.c.state, agents.c.reason, agents.c.changed_at).order_by(agents.c.name)


class AgentLifeStore(Base):
    """Implements `protocol.AgentLives`."""

    async def turn_agent(self, agent: str, event: AgentEvent, reason: str, by: str) -> TurnedAgent:
        from runtime.store.agents.lifecycle import turned  # seldom asked for, as what follows

        now = self.now()
        return await self._driver.write(lambda: turned(agent, event, reason, by, now, self._new_id))

    async def spawn_agent(self, agent: str, manifest: str, by: Person) -> bool:
        from runtime.store.agents.lifecycle import spawned

        now = self.now()
        return await self._driver.write(lambda: spawned(agent, manifest, by, now, self._new_id))

    async def keep_bounds(self, address: Address, bounds: Bounds) -> bool:
        now = self.now()
        return await self._driver.write(lambda: keep_bounds(address, bounds, now))

    async def rows(self) -> Sequence[AgentRow]:
        return await self._driver.read(_rows)


def _rows() -> Op[Sequence[AgentRow]]:
    return [AgentRow(name, AgentState(state), why, moment(at)) for name, state, why, at in (yield AGENT_ROWS, {})]

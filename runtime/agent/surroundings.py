"""What a run's next request is made of beside its conversation: the prompt of its room, the dashboard, and its tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from runtime.agent.offering import OFFERED_MAX, Denied, allowed, denied_by, offered
from runtime.agent.registry import Agent
from runtime.agent.run_state import LiveRun
from runtime.context import dashboard
from runtime.context.builder import RunFacts
from runtime.context.here import Here
from runtime.contract import Address, Effect, Now, ToolSpec, Turn
from runtime.policy.rules import Ask, Policy
from runtime.store.protocol import NO_BOARD, Board, Runs

USE_COUNTS_FOR: Final = timedelta(days=7)
USE_COUNTS_AGE: Final = timedelta(hours=1)
"""For how long it is believed which tools are called most; only where there are very many is it read at all."""


class Surroundings:
    """Gathers the facts of runs. What the store knows of a room came along with the claim; its questions are read once in a
    run, and only where there may be some."""

    def __init__(self, *, store: Runs, policy: Callable[[], Policy], named: Callable[[Address], str], now: Now) -> None:
        self._store = store
        self._policy = policy
        self._named = named
        self._now = now
        self._used: list[str] = []
        self._used_at: datetime | None = None

    async def of(self, run: LiveRun, turns: Sequence[Turn]) -> RunFacts:
        """The facts of a run whose conversation has these turns."""
        agent, claim = run.agent, run.claim
        specs = specs_of(agent)
        if run.board is None:
            run.board = await self._board(run, specs, turns)
        choice = offered(specs, self.denied(run), turns, await self._most_used(specs))
        prompt = agent.prompt(Here(claim.address, self._now(), claim.requester, claim.around, agent.name))
        return RunFacts(
            prompt.system,
            choice.tools,
            partial(agent.workspaces.open, claim.address),
            working=dashboard.told(prompt.asker, run.board, turns),
            withheld=choice.withheld,
        )

    def denied(self, run: LiveRun) -> Denied:
        """Reasons for which tools are of no use to a run."""
        claim, room = run.claim, self._named(run.claim.address)

        def ask(tool: ToolSpec) -> Ask:
            return Ask(tool.name, tool.effect, {}, run.agent.scope, room, claim.names)

        return denied_by(self._policy(), ask, claim.around.mode)

    def findable(self, run: LiveRun) -> list[ToolSpec]:
        """Tools that a run may perhaps call."""
        return allowed(specs_of(run.agent), self.denied(run))[0]

    async def _board(self, run: LiveRun, specs: Sequence[ToolSpec], turns: Sequence[Turn]) -> Board:
        claim = run.claim
        reads = frozenset(spec.name for spec in specs if spec.effect is Effect.READ and not spec.asks)
        if not (claim.around.parked or dashboard.may_hold(turns, reads)):
            return NO_BOARD
        return await self._store.board(claim.lane.session, claim.since)

    async def _most_used(self, specs: Sequence[ToolSpec]) -> Sequence[str]:
        """The most used first, read anew each hour; nothing where there are not so many that it matters."""
        if len(specs) <= OFFERED_MAX:
            return ()
        now = self._now()
        if self._used_at is None or not timedelta() <= now - self._used_at < USE_COUNTS_AGE:
            self._used, self._used_at = await self._store.tools_used(now - USE_COUNTS_FOR), now
        return self._used


def specs_of(agent: Agent) -> list[ToolSpec]:
    return [tool.spec for tool in agent.tools.values()]

"""Parts of a run's next request beside its conversation: the prompt of its room, the dashboard, and its tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from runtime.agent.offering import OFFERED_MAX, Denied, Offered, allowed, denied_by, offered, with_found
from runtime.agent.registry import Agent
from runtime.agent.run_state import LiveRun
from runtime.context import dashboard
from runtime.context.builder import RunFacts
from runtime.context.here import Here
from runtime.context.prompts import Prompted
from runtime.contract import Address, Effect, Now, ToolSpec, Turn
from runtime.policy.rules import Ask, Policy
from runtime.store.protocol import NO_BOARD, Runs

USE_COUNTS_FOR: Final = timedelta(days=7)
USE_COUNTS_AGE: Final = timedelta(hours=1)
"""For how long it is believed which tools are called most; only where there are very many is it read at all."""

STANDING_FOR: Final = timedelta(minutes=5)
"""For how long what is so in a room is not looked at again, unless the rules or the tools are others: its name, the day."""

STANDING_MAX: Final = 500
"""Conversations of which it is kept."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts that are the same in a conversation from message to message, for one who asks there."""

    policy: Policy
    specs: tuple[ToolSpec, ...]
    until: datetime
    prompt: Prompted
    offer: Offered
    writes: frozenset[str]


class Surroundings:
    """Gathers the facts of runs, and keeps what stands in a conversation for its next message. What the store knows of a
    room came along with the claim; its questions are read once in a run, and only where there may be some."""

    def __init__(self, *, store: Runs, policy: Callable[[], Policy], named: Callable[[Address], str], now: Now) -> None:
        self._store = store
        self._policy = policy
        self._named = named
        self._now = now
        self._standing: dict[object, Standing] = {}
        self._used: list[str] = []
        self._used_at: datetime | None = None

    async def of(self, run: LiveRun, turns: Sequence[Turn]) -> RunFacts:
        """The facts of a run whose conversation has these turns."""
        agent, claim, now = run.agent, run.claim, self._now()
        specs, policy = tuple([tool.spec for tool in agent.tools.values()]), self._policy()
        key = (agent.name, claim.address, claim.requester, claim.names, replace(claim.around, parked=0))
        here = self._standing.get(key)
        if here is None or here.policy is not policy or here.specs != specs or now >= here.until:
            self._standing[key] = here = await self._looked(run, specs, policy, now)
        if run.board is None:
            asked = not claim.resumed and dashboard.may_hold(turns, here.writes)  # else it reads the results anyway
            is_quiet = not (claim.around.parked or asked)
            run.board = NO_BOARD if is_quiet else await self._store.board(claim.lane.session, claim.since)
        tells = here.prompt.shared or run.board is not NO_BOARD
        offer = with_found(here.offer, turns) if here.offer.hidden else here.offer
        return RunFacts(
            here.prompt.system,
            offer.tools,
            partial(agent.workspaces.open, claim.address),
            working=dashboard.told(here.prompt.asker, run.board, turns) if tells else "",
            withheld=offer.withheld,
        )

    async def _looked(self, run: LiveRun, specs: tuple[ToolSpec, ...], policy: Policy, now: datetime) -> Standing:
        """The same, looked at anew."""
        if len(self._standing) >= STANDING_MAX:
            self._standing.clear()
        agent, claim = run.agent, run.claim
        prompt = agent.prompt(Here(claim.address, now, claim.requester, claim.around, agent.name))
        writes = frozenset(spec.name for spec in specs if spec.effect is not Effect.READ or spec.asks)
        offer = offered(specs, self.denied(run), await self._most_used(specs))
        return Standing(policy, specs, now + STANDING_FOR, prompt, offer, writes)

    def denied(self, run: LiveRun) -> Denied:
        """Reasons for which tools are of no use to a run."""
        claim, room = run.claim, self._named(run.claim.address)

        def ask(tool: ToolSpec) -> Ask:
            return Ask(tool.name, tool.effect, {}, run.agent.scope, room, claim.names)

        return denied_by(self._policy(), ask, claim.around.mode)

    def findable(self, run: LiveRun) -> list[ToolSpec]:
        """Tools that a run may perhaps call."""
        return allowed(specs_of(run.agent), self.denied(run))[0]

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

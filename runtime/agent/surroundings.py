"""What a run's next request is made of beside its conversation: the prompt of its room, the dashboard, and its tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from runtime.agent.offering import OFFERED_MAX, Denied, allowed, denied_by, offered
from runtime.agent.registry import Agent
from runtime.agent.run_state import LiveRun
from runtime.context import dashboard
from runtime.context.builder import RunFacts
from runtime.context.here import Here
from runtime.contract import Address, Effect, Now, Person, SessionKey, ToolSpec, Turn
from runtime.policy.rules import Ask, Policy
from runtime.store.protocol import NO_BOARD, Around, Board, Claim, Conversed, Runs

USE_COUNTS_FOR: Final = timedelta(days=7)
USE_COUNTS_AGE: Final = timedelta(hours=1)
"""For how long it is believed which tools are called most; only where there are very many is it read at all."""


@dataclass(frozen=True, slots=True)
class _Asker:
    """Facts of whoever asks, and of the place: what a prompt tells, and what policy goes by."""

    address: Address
    person: Person | None
    names: frozenset[str]
    around: Around


def _asker_of(claim: Claim) -> _Asker:
    return _Asker(claim.address, claim.requester, claim.names, claim.around)


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
        claim = run.claim
        if run.board is None:
            run.board = await self._board(run.agent, claim.lane.session, claim.since, claim.around, turns)
        return await self._facts(run.agent, _asker_of(claim), run.board, turns)

    async def next(self, agent: Agent, conversed: Conversed) -> RunFacts:
        """The facts of the run that the next message of a conversation would begin."""
        history, around = conversed.history, conversed.around
        board = await self._board(agent, conversed.session, history.since, around, history.turns)
        asker = _Asker(conversed.address, conversed.requester, conversed.names, around)
        return await self._facts(agent, asker, board, history.turns)

    async def _facts(self, agent: Agent, asker: _Asker, board: Board, turns: Sequence[Turn]) -> RunFacts:
        specs = specs_of(agent)
        choice = offered(specs, self._denied(agent, asker), turns, await self._most_used(specs))
        prompt = agent.prompt(Here(asker.address, self._now(), asker.person, asker.around, agent.name))
        return RunFacts(
            prompt.system,
            choice.tools,
            partial(agent.workspaces.open, asker.address),
            working=dashboard.told(prompt.asker, board, turns),
            withheld=choice.withheld,
        )

    def denied(self, run: LiveRun) -> Denied:
        """Reasons for which tools are of no use to a run."""
        return self._denied(run.agent, _asker_of(run.claim))

    def _denied(self, agent: Agent, asker: _Asker) -> Denied:
        room = self._named(asker.address)

        def ask(tool: ToolSpec) -> Ask:
            return Ask(tool.name, tool.effect, {}, agent.scope, room, asker.names)

        return denied_by(self._policy(), ask, asker.around.mode)

    def findable(self, run: LiveRun) -> list[ToolSpec]:
        """Tools that a run may perhaps call."""
        return allowed(specs_of(run.agent), self.denied(run))[0]

    async def _board(
        self, agent: Agent, session: SessionKey, since: int, around: Around, turns: Sequence[Turn]
    ) -> Board:
        reads = frozenset(spec.name for spec in specs_of(agent) if spec.effect is Effect.READ and not spec.asks)
        if not (around.parked or dashboard.may_hold(turns, reads)):
            return NO_BOARD
        return await self._store.board(session, since)

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

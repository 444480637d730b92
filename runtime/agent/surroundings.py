"""Parts of a run's next request beside its conversation: the prompt of its room, the dashboard, and its tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from runtime.agent.duties.remembering import Remembering
from runtime.agent.duties.skilled import Given, Skilled, narrowed
from runtime.agent.offering import (
    Denied,
    Offered,
    allowed,
    are_many,
    denied_by,
    kept_back,
    nothing_denied,
    offered,
    with_found,
)
from runtime.agent.registry import Agent
from runtime.agent.run_state import LiveRun
from runtime.context.builder import RunFacts
from runtime.context.prompt import dashboard
from runtime.context.prompt.here import Here
from runtime.context.prompt.prompts import Prompted
from runtime.contract import Address, Effect, Now, Person, ToolSpec, Turn
from runtime.domain.agents.manifest import Manifest
from runtime.policy.rules import Ask, Policy
from runtime.store.protocol import NO_BOARD, Around, Board, Conversed, Runs

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

    made_by: tuple[Manifest, Policy]
    specs: tuple[ToolSpec, ...]
    most_used: tuple[str, ...]
    until: datetime
    prompt: Prompted
    offer: Offered
    writes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Asker:
    """Facts of whoever asks, and of the place: what a prompt tells, and what policy goes by."""

    address: Address
    person: Person | None
    names: frozenset[str]
    around: Around


class Surroundings:
    """Gathers the facts of runs, and keeps what stands in a conversation for its next message. What the store knows of a
    room came along with the claim; its questions are read once in a run, and only where there may be some. So is what was kept
    and may matter, where something is."""

    def __init__(
        self,
        *,
        store: Runs,
        policy: Callable[[], Policy],
        named: Callable[[Address], str],
        now: Now,
        remembering: Remembering | None = None,
    ) -> None:
        self.skilled: Skilled | None = None
        """Looks at skills, where there may be some."""
        self._store = store
        self._remembering = remembering
        self._policy = policy
        self._named = named
        self._now = now
        self._standing: dict[object, Standing] = {}
        self._newest: dict[str, Standing] = {}
        self._undenied: dict[str, tuple[object, Offered]] = {}
        self._used: list[str] = []
        self._used_at: datetime | None = None

    async def of(self, run: LiveRun, turns: Sequence[Turn]) -> RunFacts:
        """The facts of a run whose conversation has these turns."""
        claim = run.claim
        asker = _Asker(claim.address, claim.requester, claim.names, claim.around)
        if self.skilled is not None and self.skilled.shelf.is_used and run.skills is None:
            run.skills = await self.skilled.given(claim, run.agent.manifest, turns)
            run.agent = narrowed(run.agent, run.skills)
        here = await self._here(run.agent, asker)
        if run.board is None:  # a resumed run reads the results of what was asked anyway
            asked = not claim.resumed and dashboard.may_hold(turns, here.writes)
            run.board = (
                await self._store.board(claim.lane.session, claim.since) if asked or asker.around.parked else NO_BOARD
            )
        if run.remembered is None:
            run.remembered = (
                await self._remembering.given(claim, turns, run.agent.manifest.memory) if self._remembering else ""
            )
        facts = _facts(run.agent, asker, here, run.board, turns)
        if run.remembered:
            facts = replace(facts, working=f"{facts.working}\n\n{run.remembered}".lstrip())
        return facts if run.skills is None else with_skills(facts, run.skills)

    async def next(self, agent: Agent, conversed: Conversed) -> RunFacts:
        """The facts of the run that the next message of a conversation would begin."""
        history = conversed.history
        asker = _Asker(conversed.address, conversed.requester, conversed.names, conversed.around)
        here = await self._here(agent, asker)
        asked = asker.around.parked or dashboard.may_hold(history.turns, here.writes)
        board = await self._store.board(conversed.session, history.since) if asked else NO_BOARD
        return _facts(agent, asker, here, board, history.turns)

    async def _here(self, agent: Agent, asker: _Asker) -> Standing:
        """Facts that stand for `asker`, looked at anew where they may have changed."""
        now, policy, specs = self._now(), self._policy(), tuple(specs_of(agent))
        around = asker.around
        key = (agent.name, replace(asker, around=replace(around, parked=0)) if around.parked else asker)
        here = self._standing.get(key)
        made_by = agent.manifest, policy
        if here is None or (here.made_by, here.specs) != (made_by, specs) or now >= here.until:
            if len(self._standing) >= STANDING_MAX:
                self._standing.clear()
            self._standing[key] = here = self._newest[agent.name] = await self._looked(agent, specs, asker, policy, now)
        return here

    async def _looked(
        self, agent: Agent, specs: tuple[ToolSpec, ...], asker: _Asker, policy: Policy, now: datetime
    ) -> Standing:
        """Facts as they are now; those of the last conversation where they are the same, as in most new ones."""
        prompt = agent.prompt(Here(asker.address, now, asker.person, asker.around, agent.name))
        denied, most_used = self._denied(agent, asker), tuple(await self._most_used(specs))
        newest = self._newest.get(agent.name)
        if newest and denied is nothing_denied and now < newest.until:
            known = newest.made_by, newest.specs, newest.most_used, newest.prompt, newest.offer.denied
            if known == ((agent.manifest, policy), specs, most_used, prompt, {}):
                return newest
        offer = self._offer(agent, denied, specs, most_used)
        kept = kept_back(offer.denied)
        prompt = replace(prompt, system=f"{prompt.system}\n{kept}") if kept else prompt
        here = Standing((agent.manifest, policy), specs, most_used, now + STANDING_FOR, prompt, offer, writing(specs))
        return shared(newest, here) if newest else here

    def _offer(self, agent: Agent, denied: Denied, specs: tuple[ToolSpec, ...], most_used: tuple[str, ...]) -> Offered:
        """Tools of a conversation; where nothing is denied they are those of the last one where nothing was."""
        given = specs, most_used
        if denied is not nothing_denied:
            return offered(specs, denied, most_used)
        if agent.name not in self._undenied or self._undenied[agent.name][0] != given:
            self._undenied[agent.name] = given, offered(specs, denied, most_used)
        return self._undenied[agent.name][1]

    def denied(self, run: LiveRun) -> Denied:
        """Reasons for which tools are of no use to a run."""
        claim = run.claim
        return self._denied(run.agent, _Asker(claim.address, claim.requester, claim.names, claim.around))

    def _denied(self, agent: Agent, asker: _Asker) -> Denied:
        room = self._named(asker.address)

        def ask(tool: ToolSpec) -> Ask:
            return Ask(tool.name, tool.effect, {}, agent.scope, room, asker.names)

        return denied_by(self._policy(), ask, asker.around.mode)

    def findable(self, run: LiveRun) -> list[ToolSpec]:
        """Tools that a run may perhaps call."""
        return allowed(specs_of(run.agent), self.denied(run))[0]

    async def _most_used(self, specs: Sequence[ToolSpec]) -> Sequence[str]:
        """The most used first, read anew each hour; nothing where there are not so many that it matters."""
        if not are_many(specs):
            return ()
        now = self._now()
        if self._used_at is None or not timedelta() <= now - self._used_at < USE_COUNTS_AGE:
            self._used, self._used_at = await self._store.tools_used(now - USE_COUNTS_FOR), now
        return self._used


def shared(other: Standing, here: Standing) -> Standing:
    """`here` with the other's tools where they are equal: lists of its own in each of 500 conversations took 4 MB."""
    if (other.specs, other.offer, other.writes) != (here.specs, here.offer, here.writes):
        return here
    return replace(here, specs=other.specs, offer=other.offer, writes=other.writes)


def writing(specs: Sequence[ToolSpec]) -> frozenset[str]:
    """Names of the tools that change something, or ask."""
    return frozenset(spec.name for spec in specs if spec.effect is not Effect.READ or spec.asks)


def with_skills(facts: RunFacts, given: Given) -> RunFacts:
    """`facts` with the list of skills, which lasts, and behind the conversation the texts of those that matter now."""
    working = "\n\n".join(filter(None, (facts.working, given.texts)))
    return replace(facts, skills=given.catalogue, working=working)


def _facts(agent: Agent, asker: _Asker, here: Standing, board: Board, turns: Sequence[Turn]) -> RunFacts:
    tells = here.prompt.shared or board is not NO_BOARD
    offer = with_found(here.offer, turns) if here.offer.hidden else here.offer
    return RunFacts(
        here.prompt.system,
        offer.tools,
        partial(agent.workspaces.open, asker.address),
        working=dashboard.told(here.prompt.asker, board, turns) if tells else "",
        withheld=offer.withheld,
    )


def specs_of(agent: Agent) -> list[ToolSpec]:
    return [spec for tool in agent.tools.values() if not (spec := tool.spec).untold]

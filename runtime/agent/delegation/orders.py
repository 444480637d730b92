"""Hands the calls of a run to other agents, and looks whether a child may do what it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import structlog

from runtime.agent.registry import Agent, Agents
from runtime.agent.run_state import LiveRun, own
from runtime.contract import Address, Child, Hands, Json, ModelReply, Order, Probe, TaskKind, ToolSpec, no_probe
from runtime.domain.agents import delegation
from runtime.domain.agents.capabilities import Capabilities, covers, of_manifest
from runtime.domain.agents.order_budgets import over_budget
from runtime.domain.transcript import ERROR
from runtime.errors import BudgetSpent, ToolError
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.policy.taint import Known
from runtime.store.protocol import Claim, Ordered, Runs, ToolStep
from runtime.text.words import marked
from runtime.workspace.outside_files import has_outside, note_outside

log = structlog.get_logger("agent")

Faults = Callable[[Mapping[str, Json], Mapping[str, Json]], str]
"""The first fault of values against a JSON schema, in a sentence; empty for none."""

ONLY_IN_A_CHAT: Final = f"Only a conversation can be told later: wait for it. {delegation.NOTHING_BEGUN}"


class Delegating:
    """Orders of a call become children of its run. `known` is what a run read so far, `ready` wakes whoever
    works on lanes, and `nudge` a room's courier."""

    def __init__(
        self,
        store: Runs,
        agents: Agents,
        door: Door,
        known: Callable[[LiveRun], Awaitable[Known]],
        ready: Callable[[], None],
        nudge: Callable[[Address], object],
        faults: Faults,
        probe: Probe = no_probe,
    ) -> None:
        self._store = store
        self._agents = agents
        self._door = door
        self._known = known
        self._ready = ready
        self._nudge = nudge
        self._faults = faults
        self._probe = probe

    async def hand(self, run: LiveRun, step: ToolStep, hands: Hands, arguments: Mapping[str, Json]) -> str | None:
        """Begin a child for each order of the call; the reason in words for the model where nothing was begun."""
        try:
            orders = [replace(one, agent=one.agent or run.agent.name) for one in hands(arguments)]
            orders = [narrowed(run, self._clean(run, one)) for one in orders]
            chain = self._chain(run)
            if why := await self._objection(run, chain, orders):
                return f"{ERROR}{why}"
            await self._give_files(run, orders)
        except ToolError as error:
            return f"{ERROR}{error}"
        taint = (await self._known(run)).taint
        sources = [one.name for one in taint.active]
        ordered = [Ordered(one, delegation.first_words(one, chain, sources)) for one in orders]
        lane, run_id = run.claim.lane, run.claim.run_id
        recorded = own(await self._store.spawn(lane, run_id, step.number, chain, ordered))
        self._probe("children-begun")
        run.obey(recorded.stop)  # nothing was begun then
        run.handed = run.handed or orders[0].awaits
        self._ready()
        for room in recorded.told:
            self._nudge(room)
        log.info("work handed on", step=step.number, to=[one.agent for one in orders])
        return None

    def lost_right(self, run: LiveRun, tool: ToolSpec) -> str:
        """The agent above a run that may not make such a call, or not any more; empty where all may."""
        if not run.claim.above or tool.hands or tool.untold:  # orders are looked at by themselves
            return ""
        for name in run.claim.above:
            if name not in self._agents:  # it is gone, and all that it might do
                return name
        chain = [self._agents[name].manifest for name in run.claim.above]
        return delegation.lost_right([*chain, run.agent.manifest], tool.name, tool.effect)

    async def look_at_budget(self, run: LiveRun, child: Child) -> None:
        """Errors: BudgetSpent where an order's budget, here or above, allows no further model call."""
        if child.budget_micros and (found := await self._store.over_budget_of(run.claim.run_id)):
            spent, is_own = found
            raise BudgetSpent(over_budget(spent, is_own=is_own), child.deadline)  # nothing gives it more

    def fault(self, run: LiveRun, reply: ModelReply) -> str:
        """The reason why a child's answer does not fit what its parent asked for; empty where it does."""
        if run.claim.child is None or not run.claim.child.schema:
            return ""
        found = delegation.read_answer(reply.text)
        return found if isinstance(found, str) else self._faults(run.claim.child.schema, found)

    # ------------------------------------------------------------------------------------------------------- may it be

    def _chain(self, run: LiveRun) -> tuple[str, ...]:
        return (*run.claim.above, run.agent.name)

    async def _objection(self, run: LiveRun, chain: Sequence[str], orders: Sequence[Order]) -> str:
        claim = run.claim
        if not orders:
            return f"There is nothing to hand on. {delegation.NOTHING_BEGUN}"
        if (claim.child or claim.job) and not all(one.awaits for one in orders):
            return ONLY_IN_A_CHAT
        brood = await self._store.brood(claim.run_id)
        most = delegation.MOST_IN_A_GOAL if is_goal(run) else delegation.MOST_IN_A_RUN
        return delegation.objection(run.agent.manifest, chain, orders, brood, most) or self._excess(chain, orders)

    def _excess(self, chain: Sequence[str], orders: Sequence[Order]) -> str:
        """Words about the first order whose agent may do more than one above it."""
        for order in orders:
            if order.agent not in self._agents:
                return f"There is no agent {order.agent!r} here. {delegation.NOTHING_BEGUN}"
            for name in chain:
                most = replace(self._capabilities(name), depth=0)  # the depth was looked at already
                wanted = replace(self._capabilities(order.agent), depth=0, money=most.money)
                if excess := covers(most, wanted):
                    return f"{excess}. {delegation.NOTHING_BEGUN}"
        return ""

    def _capabilities(self, name: str) -> Capabilities:
        return of_manifest(self._agents[name].manifest, self._agents.main.tools)

    # ----------------------------------------------------------------------------------------------------- what it gets

    def _clean(self, run: LiveRun, order: Order) -> Order:
        room = self._door.room(run.claim.address)
        goal, criteria = (str(self._door.clean(text, Gate.HANDED_ON, room)) for text in (order.goal, order.criteria))
        return replace(order, goal=goal, criteria=criteria)

    async def _give_files(self, run: LiveRun, orders: Sequence[Order]) -> None:
        """Copy the files that orders name, where the other agent has a folder of its own. Errors: ToolRetry."""
        for order in orders:
            to = self._agents[order.agent]
            for path in order.files:
                await asyncio.to_thread(_give, run.agent, to, run.claim.address, path)


def is_goal(run: LiveRun) -> bool:
    return run.claim.job is not None and run.claim.job.task.kind is TaskKind.GOAL


def narrowed(run: LiveRun, order: Order) -> Order:
    """An order of a run that only reads is for one that only reads, too."""
    return replace(order, reads_only=True) if run.claim.child and run.claim.child.reads_only else order


def asked_for(claim: Claim) -> str:
    """A sentence for a card about work of others: who asks, and for whom, up to the agent with which people spoke."""
    others = [
        name for name in dict.fromkeys(reversed(claim.above)) if name != claim.agent
    ]  # it may have gone to and fro
    return (
        marked("{agent} asks this for {others}.").format(agent=claim.agent, others=", for ".join(others))
        if others
        else ""
    )


def _give(giver: Agent, to: Agent, address: Address, path: str) -> None:
    """Copy one file, and with it the note that it has words from outside. Errors: ToolFailed."""
    try:
        if giver.name != to.name:
            _copy(giver, to, address, path)
        elif not giver.workspaces.has(address, path):
            raise FileNotFoundError
    except (OSError, ValueError) as error:
        raise ToolError(
            f"The file {path!r} can't be given ({type(error).__name__}). {delegation.NOTHING_BEGUN}"
        ) from None


def _copy(giver: Agent, to: Agent, address: Address, path: str) -> None:
    arriving = to.workspaces.arriving(f"{to.name}-{address.room}-{path}".replace("/", "-")[-100:])
    try:
        with giver.workspaces.open(address, path) as found:
            arriving.write_bytes(found.read())
        to.workspaces.keep(address, path, arriving)
    finally:
        arriving.unlink(missing_ok=True)
    if has_outside(giver.workspaces, address, path):
        note_outside(to.workspaces, address, path)

"""Runs as their workers see them. Every write of a lane's owner repeats the fence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial

from runtime.chat.audience import Audience
from runtime.contract import (
    Address,
    Busy,
    Call,
    Child,
    FileRef,
    ModelReply,
    NodeId,
    Person,
    PersonId,
    RunId,
    SessionKey,
    SignalId,
    Turn,
    Usage,
)
from runtime.domain.agents.bounds import Bounds
from runtime.domain.agents.delegation import Brood
from runtime.domain.agents.order_budgets import Purse
from runtime.domain.approvals import Rights, Voter
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState
from runtime.domain.triggers.kept import KeptTrigger
from runtime.policy.budgets import Allowance
from runtime.policy.grants import GrantId, Sought
from runtime.policy.limits import Limit
from runtime.policy.modes import RoomMode
from runtime.store.agents.bounds import bounds_of
from runtime.store.agents.supervising import watched
from runtime.store.approvals.audience import audience, called, speakers
from runtime.store.approvals.granted.rows import allowing
from runtime.store.approvals.modes import mode_at, voter
from runtime.store.budgets.counters import Moment
from runtime.store.budgets.reserving import affords, again, claiming, ending, recording
from runtime.store.common import owned
from runtime.store.delegation.costs import over_budget_of
from runtime.store.delegation.handing_over import hand_over
from runtime.store.delegation.rows import brood, children_of
from runtime.store.delegation.spawning import spawn
from runtime.store.delegation.stopping import stop_child
from runtime.store.delegation.sweeping import end_left, left
from runtime.store.protocol import (
    Below,
    Board,
    Claim,
    Compacting,
    Conversed,
    Counted,
    HandedOver,
    HandOver,
    Heard,
    History,
    Lane,
    Lease,
    NewDelivery,
    NewStep,
    Ordered,
    Question,
    Recorded,
    Released,
    Summary,
)
from runtime.store.runs.board import board, tools_used
from runtime.store.runs.claims import claim, claim_suspect, lanes_of, steer
from runtime.store.runs.compacting import begin_compacting, end_compacting, to_compact
from runtime.store.runs.limits import until_agent_may, until_room
from runtime.store.runs.run_end import finish, park, release
from runtime.store.runs.steps import Finished, calls_of, finish_tool, mark_tool, note, record_model, refuse_tool
from runtime.store.runs.summaries import conversation, keep_summary
from runtime.store.runs.suspects import keep_unread
from runtime.store.runs.tool_forms import accept_form, accepted_form, see_form, told_form
from runtime.store.runs.turns import counted, heard, history, senders, transcript
from runtime.store.runs.waiting.timers import due, sleep, wake
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op


class RunStore(Base):
    """Implements `protocol.Runs`."""

    async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        work = partial(claim, lease, busy, at.now)
        made = await self._driver.write(lambda: claiming(work(), at) if at.rules.is_set else work())
        return self._claimed(made)

    async def claim_suspect(self, lease: Lease, busy: Busy | BusyRules, *, most: int) -> Claim | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return self._claimed(await self._driver.write(lambda: claiming(claim_suspect(lease, busy, most, at.now), at)))

    def _claimed(self, claim: Claim | None) -> Claim | None:
        if claim:
            self._observer.claimed(claim)
        return claim

    async def keep_unread(self, session: SessionKey, node: NodeId, reason: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: keep_unread(session, node, reason, now))

    async def lanes_of(self, lease: Lease) -> list[Lane]:
        return await self._driver.read(lambda: lanes_of(lease))

    async def turns(self, session: SessionKey, since: int | None = None) -> list[Turn]:
        return await self._driver.read(lambda: transcript(session, since))

    async def bounds_of(self, address: Address) -> Bounds | None:
        return await self._driver.read(lambda: bounds_of(address))

    async def history(self, session: SessionKey, since: int) -> History:
        return await self._driver.read(lambda: history(session, since))

    async def conversation(self, agent: str, address: Address) -> Conversed:
        now = self.now()
        return await self._driver.read(lambda: conversation(agent, address, now))

    async def counted(self, session: SessionKey, since: int) -> Counted | None:
        return await self._driver.read(lambda: counted(session, since))

    async def keep_summary(self, run: RunId, lane: Lane | None, summary: Summary, usage: Usage | None) -> bool:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return await self._driver.write(lambda: keep_summary(run, lane, summary, usage, at))

    async def to_compact(self, node: NodeId) -> Sequence[SignalId]:
        return await self._driver.read(lambda: to_compact(node))

    async def begin_compacting(self, signal: SignalId, node: NodeId) -> Compacting | None:
        return await self._driver.write(lambda: begin_compacting(signal, node))

    async def end_compacting(self, of: Compacting, node: NodeId, summary: Summary | None, usage: Usage | None) -> bool:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return await self._driver.write(lambda: end_compacting(of, node, summary, usage, at))

    async def senders(self, session: SessionKey) -> dict[str, str]:
        return await self._driver.read(lambda: senders(session))

    async def record_model(
        self, lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep]
    ) -> Recorded | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        work = partial(record_model, lane, run, number, reply, calls, at.now)
        recorded = await self._driver.write(
            lambda: recording(work(), run, reply.usage, at) if at.rules.is_set else work()
        )
        if recorded:
            self._observer.recorded(calls)
        return recorded

    async def reserve(self, lane: Lane, run: RunId) -> Allowance | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return await self._driver.write(lambda: again(owned(lane), run, at))

    async def affords(self, run: RunId) -> bool:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return not at.rules.is_set or await self._driver.read(lambda: affords(run, at))

    async def calls_of(self, run: RunId) -> list[tuple[Call, str | None]]:
        return await self._driver.read(lambda: calls_of(run))

    async def heard(self, session: SessionKey, since: int) -> Heard:
        return await self._driver.read(lambda: heard(session, since))

    async def board(self, session: SessionKey, since: int) -> Board:
        return await self._driver.read(lambda: board(session, since))

    async def tools_used(self, since: datetime) -> list[str]:
        return await self._driver.read(lambda: tools_used(since))

    async def until_room(self, agent: str, tool: str, person: PersonId | None, limit: Limit) -> timedelta | None:
        now = self.now()
        return await self._driver.read(lambda: until_room(agent, tool, person, limit, now))

    async def until_agent_may(self, agent: str, limit: Limit) -> timedelta | None:
        now = self.now()
        return await self._driver.read(lambda: until_agent_may(agent, limit, now))

    async def granted(self, call: Sought, rights: Rights) -> GrantId | None:
        now = self.now()
        return await self._driver.read(lambda: allowing(call, rights, now))

    async def mark_tool(self, lane: Lane, run: RunId, number: int, *, changes: bool = False) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: mark_tool(lane, run, number, now, changes=changes))

    async def refuse_tool(
        self, lane: Lane, run: RunId, number: int, result: str, whose: str, reason: str = ""
    ) -> Recorded | None:
        now = self.now()
        return await self._driver.write(
            lambda: refuse_tool(lane, run, number, result, whose, reason, now, self._new_id)
        )

    async def finish_tool(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        result: str,
        files: Sequence[FileRef] = (),
        kept: str | None = None,
    ) -> Recorded | None:
        now = self.now()
        finished = Finished(result, files, kept)
        recorded = await self._driver.write(lambda: finish_tool(lane, run, number, finished, now, self._new_id))
        if recorded:
            self._observer.tool_finished()
        return recorded

    async def steer(self, lane: Lane, run: RunId) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: steer(lane, run, now))

    async def note(self, lane: Lane, run: RunId, text: str) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: note(lane, run, text, now))

    async def audience(self, run: RunId, address: Address, approvers: Collection[str]) -> Audience:
        now = self.now()
        return await self._driver.read(lambda: audience(run, address, approvers, now))

    async def mode_at(self, agent: str, address: Address) -> RoomMode:
        now = self.now()
        return await self._driver.read(lambda: mode_at(agent, address, now))

    async def voter(self, person: PersonId, address: Address) -> Voter | None:
        return await self._driver.read(lambda: voter(person, address))

    async def speakers(self, run: RunId) -> frozenset[PersonId]:
        return await self._driver.read(lambda: speakers(run))

    async def person_called(self, name: str) -> Person | None:
        return await self._driver.read(lambda: called(name))

    async def brood(self, run: RunId) -> Brood:
        return await self._driver.read(lambda: brood(run))

    async def children_of(self, run: RunId) -> list[Child]:
        return await self._driver.read(lambda: children_of(run))

    async def spawn(
        self, lane: Lane, run: RunId, number: int, chain: Sequence[str], ordered: Sequence[Ordered]
    ) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: spawn(lane, run, number, chain, ordered, now, self._new_id))

    async def sleep(
        self, lane: Lane, run: RunId, number: int, until: datetime, trigger: KeptTrigger | None = None
    ) -> Recorded | None:
        now = self.now()
        return await self._driver.write(lambda: sleep(lane, run, number, until, trigger, now))

    async def wake(self) -> bool:
        now = self.now()
        return bool(await self._driver.read(lambda: due(now))) and await self._driver.write(lambda: wake(now))

    async def hand_conversation(self, wanted: HandOver) -> HandedOver:
        now = self.now()
        return await self._driver.write(lambda: hand_over(wanted, now, self._new_id))

    async def over_budget_of(self, run: RunId) -> tuple[Purse, bool] | None:
        return await self._driver.read(lambda: over_budget_of(run))

    async def stop_child(self, parent: RunId, child: RunId, by: str) -> Below | None:
        now = self.now()
        return await self._driver.write(lambda: stop_child(parent, child, by, now, self._new_id))

    async def end_left_children(self) -> Below:
        now = self.now()
        if not any(await self._driver.read(lambda: left(now))):
            return Below()
        return await self._driver.write(lambda: end_left(now, self._new_id))

    async def park(
        self, lane: Lane, run: RunId, questions: Sequence[Question], *, works_on: bool = False
    ) -> Released | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        work = partial(park, lane, run, questions, at.now, self._new_id, works_on=works_on)
        released = await self._driver.write(lambda: ending(work(), run, None, at) if at.rules.is_set else work())
        if released:
            self._observer.parked(run, questions, released)
        return released

    async def finish(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        reply: ModelReply | None,
        state: RunState,
        text: str,
        deliveries: Sequence[NewDelivery],
        until: datetime | None = None,
        *,
        valid: bool = True,
    ) -> Released | None:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        used = reply.usage if reply else None
        work: Callable[[], Op[Released | None]] = partial(
            finish, lane, run, number, reply, state, text, deliveries, at.now, self._new_id, until, valid=valid
        )
        if state is RunState.FAILED and until is None:  # a budget that is spent is no failure of the agent's
            work = partial(watched, work, lane, text, at.now, self._new_id)
        released = await self._driver.write(lambda: ending(work(), run, used, at) if at.rules.is_set else work())
        if released:
            self._observer.finished(run, reply, state, deliveries, released)
        return released

    async def release(self, lane: Lane) -> None:
        await self._driver.write(lambda: release(lane))

    async def accepted_form(self, tool: str, form: str) -> str:
        now = self.now()
        return await self._driver.write(lambda: accepted_form(tool, form, now))

    async def see_form(self, tool: str, form: str) -> str:
        now = self.now()
        return await self._driver.write(lambda: see_form(tool, form, now))

    async def told_form(self, tool: str, form: str) -> None:
        now = self.now()
        await self._driver.write(lambda: told_form(tool, form, now))

    async def accept_form(self, tool: str, form: str, by: str) -> None:
        now = self.now()
        await self._driver.write(lambda: accept_form(tool, form, by, now))

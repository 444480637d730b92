"""Asks the rules about calls, with the facts that they go by: each is looked up only where it may matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.agent.run_state import LiveRun
from runtime.context.heard import said_in, taint_in, taint_of_texts, with_listed
from runtime.contract import ApprovalId, ApprovalKind, Call, Effect, Now, PersonId, Tool
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, entitled
from runtime.domain.ids import digest
from runtime.policy.grants import GrantId, Sought, form_of, grantable
from runtime.policy.limits import Limit, soon
from runtime.policy.modes import Mode, RoomMode
from runtime.policy.named import Named
from runtime.policy.rules import DENYING, Ask, By, Facts, Policy, Ruled, Ruling, rule
from runtime.policy.taint import CarriedCall, Known, tainted_ruling
from runtime.policy.terms import Terms
from runtime.store.protocol import Runs

log = structlog.get_logger("agent")

READS_ONLY: Final = RoomMode(Mode.READ_ONLY)
"""Mode of work that was handed on so that it changes nothing."""
CLEANLY: Final = Known()
"""Of a run that has read nothing from outside: all that people named is not looked at."""


@dataclass(slots=True)
class Answer:
    """Facts that the calls of one answer share. `calls` are those of it that were let through, by tool,
    and `sorted` is how many were looked at."""

    mode: RoomMode | None = None
    calls: Counter[str] = field(default_factory=Counter)
    sorted: int = 0


class Rulings:
    """Looks things up for the rules; `rights` are the settings' of this moment."""

    def __init__(self, *, store: Runs, policy: Callable[[], Policy], rights: Callable[[], Rights], now: Now) -> None:
        self._store = store
        self._policy = policy
        self._rights = rights
        self.now = now

    async def too_many(self, run: LiveRun, most: int, answer: Answer) -> str:
        """The reason for which the run's agent, which makes `most` calls a minute, makes no further one; empty where it may.

        Those of this answer are not recorded yet.
        """
        agent, limit, more = run.agent.name, Limit(most, "minute"), answer.calls.total()
        left = limit.count - more
        wait = await self._store.until_agent_may(agent, replace(limit, count=left)) if left > 0 else limit.span
        return f"the agent {agent} makes at most {limit.words}. There is room again in {soon(wait)}." if wait else ""

    async def first(self, run: LiveRun, ask: Ask, answer: Answer) -> tuple[Ruled, Facts]:
        """The ruling by roles, vetoes, limits, the mode and the rules, and the facts that it goes by."""
        policy, requester = self._policy(), run.claim.requester
        facts = Facts(role=requester.role if requester else None)
        ruled = rule(policy, ask, facts)
        if ruled.result not in DENYING and ruled.rule and ruled.rule.limit:
            facts = replace(facts, wait=await self._wait(run, ask.tool, ruled.rule.limit, answer.calls[ask.tool]))
        if ask.effect is not Effect.READ:
            facts = replace(facts, mode=(await self._mode(run, answer)).mode)
        return rule(policy, ask, facts), facts

    async def answered(self, run: LiveRun, tool: Tool, call: Call, ask: Ask, facts: Facts, answer: Answer) -> Ruled:
        """The ruling once `facts` tell whether the tool has changed: a grant or trust may answer a question."""
        policy = self._policy()
        ruled = rule(policy, ask, facts)
        if ruled.result is not Ruling.ASK or ruled.by not in (By.RULE, By.EFFECT):
            return ruled
        terms = policy.terms(ask)
        facts = replace(facts, grant=await self._granted(run, tool, ask, terms))
        if not facts.grant and ask.effect is Effect.WRITE and facts.mode is Mode.TRUSTED:
            facts = replace(facts, trusted=await self._trusted(run, call, terms, await self._mode(run, answer)))
        return rule(policy, ask, facts)

    async def tainted(self, run: LiveRun, tool: Tool, ask: Ask, ruled: Ruled, made: Call) -> tuple[Ruled, str]:
        """The ruling after outside text, and words about that for the card. What was allowed may ask, nothing gets weaker."""
        if run.maker and run.maker.is_fixed(made.id):
            return ruled, ""  # no model reads anything there, and the words are those of whoever wrote the rules
        known = await self.known(run)
        if not known.taint.active:
            return ruled, ""
        allows = ruled.rule if ruled.by is By.RULE else None  # trust was given to what people ask for
        call = CarriedCall(ask.effect, ask.arguments, tool.spec.flow, is_sealed=bool(made.sealed))
        found = tainted_ruling(ruled.result, call, replace(known, named=with_listed(known.named, ask, allows)), allows)
        if found.ruling is ruled.result:
            return ruled, found.why and found.caution
        if ruled.by is By.GRANT and (
            grant := await self._granted(run, tool, ask, self._policy().terms(ask), tainted=True)
        ):
            return replace(ruled, name=grant), ""
        log.info("call asked after outside text", tool=ask.tool, sources=[one.name for one in known.taint.active])
        return Ruled(found.ruling, By.TAINT, found.why, ruled.rule), found.caution

    async def known(self, run: LiveRun) -> Known:
        """Sources and people's words of what the model read. Where that is at hand, whole and without a source, nothing is
        looked up."""
        if run.known is None:
            turns = run.history.turns if run.history else ()
            taint = taint_in(turns)
            if run.history and not run.history.summary and not taint.active:
                run.known = CLEANLY
            else:
                heard = await self._store.heard(run.claim.lane.session, run.claim.since)
                named = Named((*said_in(turns), *heard.approved))
                run.known = Known(taint_of_texts(heard.outside, taint), named)
        return run.known

    async def own_words(self, run: LiveRun) -> bool:
        """True if people of the conversation alone led to what a run does: no child, no schedule, nothing from outside."""
        claim = run.claim
        if claim.requester is None or claim.child or claim.job or claim.task:
            return False
        return not (await self.known(run)).taint.active

    async def _wait(self, run: LiveRun, tool: str, limit: Limit, more: int) -> timedelta | None:
        """Time until one more call is within the limit, beside `more` of this answer; None where it is."""
        if more >= limit.count:
            return limit.span
        requester = run.claim.requester
        return await self._store.until_room(
            run.claim.agent, tool, requester.id if requester else None, replace(limit, count=limit.count - more)
        )

    async def _mode(self, run: LiveRun, answer: Answer) -> RoomMode:
        if run.claim.child and run.claim.child.reads_only:
            return READS_ONLY
        if answer.mode is None:
            answer.mode = await self._store.mode_at(run.claim.spoken_to, run.claim.address)
        return answer.mode

    async def _granted(
        self, run: LiveRun, tool: Tool, ask: Ask, terms: Terms, *, tainted: bool = False
    ) -> GrantId | None:
        """A standing yes to such a call, where people would be asked; after outside text, where that is `tainted`."""
        if not grantable(terms):
            return None
        requester, room = run.claim.requester, str(run.claim.address.whole_room)
        call = Sought(
            run.claim.agent,
            ask.tool,
            ask.effect,
            form_of(tool.spec, tool.caution()),
            ask.arguments,
            run.claim.lane.session,
            room,
            requester.id if requester else None,
            terms,
            run=run.claim.run_id,
            tainted=tainted,
        )
        return await self._store.granted(call, self._rights())

    async def _trusted(self, run: LiveRun, call: Call, terms: Terms, mode: RoomMode) -> str:
        """Name of whoever is trusted, where their one yes would settle the question; else nothing."""
        giver = await self._giver(run, mode.person) if mode.person else None
        may_decide = giver and entitled(self._question(run, call, terms), giver, self._rights())
        return giver.person.name if giver and may_decide else ""

    async def _giver(self, run: LiveRun, trusted: PersonId) -> Voter | None:
        """Return the trusted person, if they asked for all that the run does and no words of others came into it."""
        requester = run.claim.requester
        if run.claim.job is not None or run.claim.handed_by or requester is None or requester.id != trusted:
            return None
        is_alone = await self._store.speakers(run.claim.run_id) <= {trusted}
        return await self._store.voter(trusted, run.claim.address) if is_alone else None

    def _question(self, run: LiveRun, call: Call, terms: Terms) -> Approval:
        """The question that a call that writes would be."""
        now, requester = self.now(), run.claim.requester
        return Approval(
            id=ApprovalId(""),
            kind=ApprovalKind.CALL,
            state=ApprovalState.PENDING,
            run_id=run.claim.run_id,
            step=0,
            session=run.claim.lane.session,
            address=run.claim.address,
            tool=call.tool,
            effect=Effect.WRITE,
            arguments=call.arguments,
            arguments_hash=digest(call.arguments),
            policy_version="",
            requester=requester.id if requester else None,
            asked_at=now,
            expires_at=now,
            terms=terms,
        )

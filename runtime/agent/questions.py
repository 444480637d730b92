"""Builds the questions of a run: what is asked, on which terms, and the card that asks it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import structlog

from runtime.agent.asking import asked_person, asking_of, to_person
from runtime.agent.offers import offering, together
from runtime.agent.run_state import LiveRun
from runtime.agent.tool_calls import parsed
from runtime.chat.audience import Audience, Places, Reach, mentions, reach
from runtime.chat.cards import card_facts, listing, open_cards
from runtime.chat.cards.calls import ShownCall, shown_call
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Asking,
    Call,
    CardContext,
    DeliveryId,
    Kind,
    NewId,
    Now,
    PersonId,
    RunId,
    TaskKind,
    Turn,
)
from runtime.domain.approvals import Approval, ApprovalState, Home, Rights
from runtime.domain.runs import StepState
from runtime.policy.rules import Policy
from runtime.policy.terms import Terms
from runtime.store.protocol import Further, NewDelivery, Question, Runs, ToolStep
from runtime.text.words import said_at

log = structlog.get_logger("agent")

WORK_WORDS: Final = {TaskKind.WORKFLOW: "workflow", TaskKind.GOAL: "goal"}
"""Words of cards for work that no person asks for in a message; else it is a schedule's."""

CARD_TIMEOUT: Final = timedelta(seconds=5)
"""For a tool to say how its call is shown."""


OwnCall = Callable[[RunId, Sequence[Turn]], Awaitable[Call | None]]
"""Names the call that a run makes next on its own account, given its conversation; None where there is none."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """Process of questions, as far as they need it. `rights` are the settings' as of now. `own_call` is for those that
    others than a model have put to people."""

    rights: Callable[[], Rights] = Rights
    places: Places = field(default_factory=Places)
    own_call: OwnCall | None = None


class Questions:
    """Makes them; nothing is stored here."""

    def __init__(
        self, *, store: Runs, policy: Callable[[], Policy], now: Now, new_id: NewId, context: QuestionContext
    ) -> None:
        self._store = store
        self._policy = policy
        self._now = now
        self._new_id = new_id
        self._context = context

    async def of(self, run: LiveRun, asked: Sequence[tuple[ToolStep, Terms]]) -> list[Question]:
        """Questions about the calls, one a card, all with what one look into the store tells."""
        rights = self._context.rights()
        audience = await self._store.audience(run.claim.run_id, run.claim.address, rights.approvers)
        made, approvals, calls = list[Question](), list[Approval](), dict[ApprovalId, ShownCall]()
        for step, terms in asked:
            approval = self._approval(run, step, terms, audience)
            if asking := asking_of(run, step):
                made.append(await self._to_person(run, approval, asking, audience, rights))
            else:
                approvals.append(approval)
                calls[approval.id] = await _shown(run, step)
        groups = listing.on_cards(approvals, audience.open_cards, is_plan=audience.plan is not None)
        others = together(approvals, audience, rights) if len(groups) == len(approvals) else {}
        return [*made, *(self._about_calls(run, group, calls, audience, rights, others) for group in groups)]

    def _about_calls(
        self,
        run: LiveRun,
        group: Sequence[Approval],
        calls: Mapping[ApprovalId, ShownCall],
        audience: Audience,
        rights: Rights,
        together: Mapping[ApprovalId, Sequence[str]],
    ) -> Question:
        lead = listing.leading(group)
        to = reach(lead, audience, rights, self._context.places)
        if to.home is Home.TOLD and not to.copies:
            log.warning("nobody reached", approval=lead.id, tool=lead.tool, rule=lead.terms.rule)
        plan = audience.plan or "" if listing.may_be_planned(lead) else ""
        frozen = listing.frozen(group, self._circumstances(run, audience, to), calls, plan)
        lead, *others = sorted(frozen, key=lambda one: one.id != lead.id)
        if not others and lead.lead is None:
            lead = offering(lead, run, audience, rights, to, together.get(lead.id, ()))
        further = tuple(Further(one.id, one.step, one.caution, one.card) for one in others)
        return replace(self._question(run, lead, audience, to, rights), further=further)

    async def _to_person(
        self, run: LiveRun, approval: Approval, asking: Asking, audience: Audience, rights: Rights
    ) -> Question:
        whom = await asked_person(self._store, asking, run.claim.requester)
        reached = await self._store.audience(run.claim.run_id, run.claim.address, {whom.id} if whom else set())
        asked, asking, to = to_person(approval, asking, whom, reached, self._context.places)
        card = card_facts.with_asking(self._circumstances(run, audience, to), asking)
        return self._question(run, replace(asked, card=card), reached, to, rights)

    def _circumstances(self, run: LiveRun, audience: Audience, to: Reach) -> str:
        places = self._context.places
        name, job = places.room_name(run.claim.address), run.claim.job
        link = places.link(run.claim.address, audience.message) if audience.message and not job else ""
        above = (job.task.kind, job.task.called(job.name)) if job else audience.work
        work = {WORK_WORDS.get(above[0], "schedule"): above[1]} if above else {}
        known = card_facts.circumstances(name, home=to.home, told=to.asked, link=link, away=to.away, **work)
        return card_facts.with_heard(known, _others_heard(run, audience))

    def _card(
        self, run: LiveRun, approval: Approval, audience: Audience, rights: Rights, ordinal: int, room: Address
    ) -> NewDelivery:
        """The card at home, or a copy in another room, in the language of that room."""
        with said_at(room):
            said = open_cards.pending(
                approval,
                approval.asked_at,
                home=not ordinal,
                mentions=mentions(approval, room, audience.candidates, rights),
                at=room if ordinal else None,
            )
        reply_to = "" if ordinal else run.claim.reply_to
        made = DeliveryId(self._new_id())
        return NewDelivery(made, f"approval:{approval.id}", ordinal, Kind.APPROVAL, room, said, reply_to=reply_to)

    def _question(self, run: LiveRun, approval: Approval, audience: Audience, to: Reach, rights: Rights) -> Question:
        card, *copies = [
            self._card(run, approval, audience, rights, ordinal, room)
            for ordinal, room in enumerate((run.claim.address, *to.copies))
        ]
        return Question(
            approval.id,
            approval.kind,
            approval.step,
            approval.expires_at,
            approval.policy_version,
            approval.caution,
            card,
            approval.terms,
            approval.requester_name,
            approval.request,
            approval.card,
            tuple(copies),
            approval.next_call_at,
            private={room: self._context.places.mark(room) for one in audience.candidates for room in one.rooms},
        )

    def _approval(self, run: LiveRun, step: ToolStep, terms: Terms, audience: Audience) -> Approval:
        claim, now = run.claim, self._now()
        asker = claim.requester.name if claim.requester else "" if claim.job else audience.said_by
        said, by = (claim.task.title, asker) if claim.task else (audience.said, audience.said_by)
        return Approval(
            id=ApprovalId(self._new_id()),
            kind=ApprovalKind.OUTCOME if step.state is StepState.MARKED else ApprovalKind.CALL,
            state=ApprovalState.PENDING,
            run_id=claim.run_id,
            step=step.number,
            session=claim.lane.session,
            address=run.claim.address,
            tool=step.call.tool,
            effect=step.effect,
            arguments=step.call.arguments,
            arguments_hash=step.arguments_hash,
            policy_version=self._policy().version,
            requester=claim.requester.id if claim.requester else None,
            asked_at=now,
            expires_at=now + (terms.expires or run.agent.limits.approval_time),
            caution=step.caution,
            requester_name=asker,
            request="" if claim.job else card_facts.request_line(said, by, asker),
            terms=terms,
            card=card_facts.with_heard("", _others_heard(run, audience)),
        )


def _others_heard(run: LiveRun, audience: Audience) -> Sequence[PersonId]:
    """People beside the requester whose words came into the run: they asked for its calls too."""
    requester = run.claim.requester
    return sorted(audience.heard - ({requester.id} if requester else set()))


async def _shown(run: LiveRun, step: ToolStep) -> ShownCall:
    """The call as its card shows it: drawn by its tool, else by names and values."""
    tool, arguments = run.agent.tools.get(step.call.tool), parsed(step.call.arguments)
    if tool is None or tool.spec.card is None or isinstance(arguments, str):
        return shown_call(step.call.arguments)
    context = CardContext(run.agent.workspaces.folder(run.claim.address))
    try:
        async with asyncio.timeout(CARD_TIMEOUT.total_seconds()):
            parts = await asyncio.to_thread(tool.spec.card, arguments, context)
        return shown_call(step.call.arguments, parts)
    except Exception:
        # A tool's bug must not keep its call from being asked about.
        log.exception("a tool cannot say how its call is shown", tool=step.call.tool)
        return shown_call(step.call.arguments)

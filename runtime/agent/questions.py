"""Builds the questions of a run: what is asked, on which terms, and the card that asks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runtime.agent.run_state import LiveRun
from runtime.chat import cards
from runtime.chat.audience import Audience, Candidate, Places, able, reach
from runtime.contract import Address, ApprovalId, ApprovalKind, Choice, DeliveryId, Kind, NewId, Now
from runtime.domain.approvals import Approval, ApprovalState, Rights, grants_offered
from runtime.domain.runs import StepState
from runtime.policy.grants import form_of
from runtime.policy.rules import Policy
from runtime.policy.terms import Terms
from runtime.store.protocol import NewDelivery, Question, Runs, ToolStep


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """Process of questions, as far as they need it. `rights` are the settings' as of now."""

    rights: Callable[[], Rights] = Rights
    places: Places = field(default_factory=Places)


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
        """A question for each call, all with what one look into the store tells."""
        rights = self._context.rights()
        audience = await self._store.audience(run.claim.run_id, run.address, rights.approvers)
        approvals = [self._approval(run, step, terms, audience) for step, terms in asked]
        others = _together(approvals, audience, rights)
        return [self._question(run, one, audience, rights, others.get(one.id, ())) for one in approvals]

    def _question(
        self, run: LiveRun, approval: Approval, audience: Audience, rights: Rights, others: Sequence[str]
    ) -> Question:
        to = reach(approval, audience, rights, self._context.places)
        name, schedule = self._context.places.room_name(run.address), run.claim.job.name if run.claim.job else ""
        approval = replace(approval, card=cards.circumstances(name, schedule, to.home, to.asked))
        approval = _offering(approval, run, able(approval, audience.candidates, rights), others, to.copies)
        card, *copies = [
            NewDelivery(
                DeliveryId(self._new_id()),
                f"approval:{approval.id}",
                ordinal,
                Kind.APPROVAL,
                room,
                cards.pending(approval, approval.asked_at, home=not ordinal, at=room if ordinal else None),
                reply_to="" if ordinal else run.claim.reply_to,
            )
            for ordinal, room in enumerate((run.address, *to.copies))
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
        )

    def _approval(self, run: LiveRun, step: ToolStep, terms: Terms, audience: Audience) -> Approval:
        claim, now = run.claim, self._now()
        asker = claim.requester.name if claim.requester else "" if claim.job else audience.said_by
        return Approval(
            id=ApprovalId(self._new_id()),
            kind=ApprovalKind.OUTCOME if step.state is StepState.MARKED else ApprovalKind.CALL,
            state=ApprovalState.PENDING,
            run_id=claim.run_id,
            step=step.number,
            session=claim.lane.session,
            address=run.address,
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
            request="" if claim.job else cards.request_line(audience.said, audience.said_by, asker),
            terms=terms,
        )


def _together(approvals: Sequence[Approval], audience: Audience, rights: Rights) -> Mapping[ApprovalId, Sequence[str]]:
    """For the last of several calls the tools of the others, if somebody may decide it and any of those."""
    calls = [one for one in approvals if one.kind is ApprovalKind.CALL]
    if len(calls) == 1 or not calls:
        return {}
    *before, last = calls
    whom = {one.person.id for one in able(last, audience.candidates, rights)}
    others = [one.tool for one in before if whom & {each.person.id for each in able(one, audience.candidates, rights)}]
    return {last.id: others} if others else {}


def _offering(
    approval: Approval,
    run: LiveRun,
    deciding: Sequence[Candidate],
    others: Sequence[str],
    copies: Sequence[Address],
) -> Approval:
    """The same with what its card offers beside yes and no, bound to the tool as it is now."""
    tool = run.agent.tools.get(approval.tool)
    offers = grants_offered(approval, [one.person for one in deciding]) if tool else ()
    form = form_of(tool.spec, tool.caution()) if tool and offers else ""
    readers = {room: [one.person for one in deciding if room in one.rooms] for room in copies}
    plain = [room for room, read_by in readers.items() if offers and read_by and not grants_offered(approval, read_by)]
    if others:
        offers = (*offers, Choice.ALL)
    return replace(approval, card=cards.offering(approval.card, offers, form, others, plain)) if offers else approval

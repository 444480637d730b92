"""Builds the questions of a run: what is asked, on which terms, and the card that asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from runtime.agent.asking import asked_person, asking_of, to_person
from runtime.agent.run_state import LiveRun
from runtime.chat import cards
from runtime.chat.audience import Audience, Places, Reach, reach
from runtime.contract import ApprovalId, ApprovalKind, Asking, DeliveryId, Kind, NewId, Now
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.domain.runs import StepState
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
        made = []
        for step, terms in asked:
            approval = self._approval(run, step, terms, audience)
            if asking := asking_of(run, step):
                approval, to = await self._to_person(run, approval, asking)
            else:
                to = reach(approval, audience, rights, self._context.places)
            made.append(self._question(run, step, approval, to))
        return made

    async def _to_person(self, run: LiveRun, approval: Approval, asking: Asking) -> tuple[Approval, Reach]:
        whom = await asked_person(self._store, asking, run.claim.requester)
        names = {whom.id} if whom else frozenset[str]()
        audience = await self._store.audience(run.claim.run_id, run.address, names) if whom else Audience()
        return to_person(approval, asking, whom, audience, self._context.places)

    def _question(self, run: LiveRun, step: ToolStep, approval: Approval, to: Reach) -> Question:
        name, schedule = self._context.places.room_name(run.address), run.claim.job.name if run.claim.job else ""
        asking = Asking.from_json(approval.card) if approval.kind is ApprovalKind.ANSWER else None
        approval = replace(approval, card=cards.circumstances(name, schedule, to.home, to.asked, asking))
        card, *copies = [
            NewDelivery(
                DeliveryId(self._new_id()),
                f"approval:{approval.id}",
                ordinal,
                Kind.APPROVAL,
                room,
                cards.pending(approval, approval.asked_at, home=not ordinal),
                reply_to="" if ordinal else run.claim.reply_to,
            )
            for ordinal, room in enumerate((run.address, *to.copies))
        ]
        return Question(
            approval.id,
            approval.kind,
            step.number,
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

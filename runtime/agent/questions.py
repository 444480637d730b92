"""Builds the questions of a run: what is asked, on which terms, and the card that asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.agent.run_state import LiveRun
from runtime.chat import cards
from runtime.contract import Address, ApprovalId, ApprovalKind, DeliveryId, Kind, NewId, Now
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.runs import StepState
from runtime.policy.rules import Policy
from runtime.policy.terms import Terms
from runtime.store.protocol import Audience, NewDelivery, Question, Runs, ToolStep


def unnamed(address: Address) -> str:
    """Where nobody calls rooms anything."""
    return ""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What questions need to know of the process. `room_name` is what people call a room, empty where nobody told."""

    room_name: Callable[[Address], str] = unnamed


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
        audience = await self._store.audience(run.claim.run_id)
        return [self._question(run, step, terms, audience) for step, terms in asked]

    def _question(self, run: LiveRun, step: ToolStep, terms: Terms, audience: Audience) -> Question:
        approval = self._approval(run, step, terms, audience)
        content = cards.pending(approval, approval.asked_at)
        card = NewDelivery(
            DeliveryId(self._new_id()),
            f"approval:{approval.id}",
            0,
            Kind.APPROVAL,
            run.address,
            content,
            reply_to=run.claim.reply_to,
        )
        return Question(
            approval.id,
            approval.kind,
            step.number,
            approval.expires_at,
            approval.policy_version,
            approval.caution,
            card,
            terms,
            approval.requester_name,
            approval.request,
            approval.card,
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
            card=cards.circumstances(self._context.room_name(run.address), claim.job.name if claim.job else ""),
        )

"""What a run hands to people where its turn in the lane ends: its questions, or what it has to say at last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from runtime.agent.long_text import LongText
from runtime.agent.run_state import LiveRun
from runtime.chat import cards
from runtime.contract import Address, ApprovalId, ApprovalKind, Content, DeliveryId, Kind, NewId, Now, RunId
from runtime.domain.runs import RunState, StepState
from runtime.policy.rules import Policy
from runtime.reports.fan_out import MOST_FILES, Reporting
from runtime.store.protocol import NewDelivery, Question, ToolStep


class RunOutcome:
    """Makes them; nothing is stored here. `reporting` makes the deliveries of scheduled runs."""

    def __init__(
        self,
        *,
        policy: Callable[[], Policy],
        now: Now,
        new_id: NewId,
        long_replies: LongText | None,
        reporting: Reporting | None,
    ) -> None:
        self._policy = policy
        self._now = now
        self._new_id = new_id
        self._long_replies = long_replies
        self._reporting = reporting

    def question(self, run: LiveRun, step: ToolStep) -> Question:
        kind = ApprovalKind.OUTCOME if step.state is StepState.MARKED else ApprovalKind.CALL
        approval = ApprovalId(self._new_id())
        content = cards.question(approval, kind, step.call.tool, step.call.arguments, step.caution)
        origin = f"approval:{approval}"
        card = self._made(run, origin, Kind.APPROVAL, content)
        expires = self._now() + run.agent.limits.approval_time
        return Question(approval, kind, step.number, expires, self._policy().version, step.caution, card)

    async def closing(self, run: LiveRun, state: RunState, text: str) -> Sequence[NewDelivery]:
        """What a run ends with: its answer, or for scheduled work its reports; of one that failed the store tells."""
        claim = run.claim
        if claim.job and self._reporting and state is RunState.DONE:
            return await self._reporting.deliveries(claim.job, claim.run_id, text, run.files)
        if claim.job and state is RunState.FAILED:
            return []
        content = await self._content(run.address, claim.run_id, text)
        files = tuple(run.files[:MOST_FILES])
        return [self._made(run, f"run:{claim.run_id}", Kind.FINAL, replace(content, files=files))]

    async def _content(self, address: Address, run: RunId, text: str) -> Content:
        if self._long_replies is None:
            return Content(text)
        return await self._long_replies.content(address, run, text)

    def _made(self, run: LiveRun, origin: str, kind: Kind, content: Content) -> NewDelivery:
        delivery, answers = DeliveryId(self._new_id()), run.claim.reply_to
        return NewDelivery(delivery, origin, 0, kind, run.address, content, reply_to=answers)

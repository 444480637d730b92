"""Applies the mode of a conversation to calls that the rules have sorted: what only reads never gets here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from runtime.agent.asking import not_run
from runtime.agent.run_state import LiveRun
from runtime.agent.tool_calls import Calls
from runtime.contract import ApprovalId, ApprovalKind, Effect, Now, PersonId
from runtime.domain.approvals import Approval, ApprovalState, Rights, Voter, entitled
from runtime.domain.runs import StepState
from runtime.domain.transcript import DENIED
from runtime.policy.modes import READ_ONLY_REASON, Mode
from runtime.policy.terms import Terms
from runtime.store.protocol import NewStep, Runs


class Modes:
    """Looks once for each answer of a model that wants to change something; `rights` are the settings' of this moment."""

    def __init__(self, *, store: Runs, calls: Calls, rights: Callable[[], Rights], now: Now) -> None:
        self._store = store
        self._calls = calls
        self._rights = rights
        self._now = now

    async def applied(self, run: LiveRun, steps: Sequence[NewStep]) -> list[NewStep]:
        """The calls of one answer as the mode has them; what a rule denied stays denied."""
        if not any(_may_change(step) for step in steps):
            return list(steps)
        mode = await self._store.mode_at(run.claim.agent, run.claim.address)
        match mode.mode:
            case Mode.NORMAL:
                return list(steps)
            case Mode.READ_ONLY:
                return [_denied(step) if _may_change(step) else step for step in steps]
            case Mode.PLAN:
                return [_asked(step) if _may_change(step) else step for step in steps]
            case Mode.TRUSTED:
                giver = await self._giver(run, mode.person) if mode.person else None
                return [self._trusted(run, step, giver) if giver else step for step in steps]

    async def _giver(self, run: LiveRun, trusted: PersonId) -> Voter | None:
        """Return the trusted person, if they asked for all that the run does and no words of others came into it."""
        requester = run.claim.requester
        if run.claim.job is not None or requester is None or requester.id != trusted:
            return None
        is_alone = await self._store.speakers(run.claim.run_id) <= {trusted}
        return await self._store.voter(trusted, run.claim.address) if is_alone else None

    def _trusted(self, run: LiveRun, step: NewStep, giver: Voter) -> NewStep:
        """Run without a question, where the one yes of whoever is trusted would settle that question."""
        is_write = step.effect is Effect.WRITE and step.state is StepState.ASKED
        if (
            not is_write or step.caution != run.agent.tools[step.call.tool].caution()
        ):  # the tool is not as it was accepted
            return step
        terms = self._calls.terms(run, step)
        if terms.quorum > 1 or not entitled(self._question(run, step, terms), giver, self._rights()):
            return step
        return replace(step, state=StepState.OPEN, unasked=giver.person.name)

    def _question(self, run: LiveRun, step: NewStep, terms: Terms) -> Approval:
        """The question that this call would be."""
        now, requester = self._now(), run.claim.requester
        return Approval(
            id=ApprovalId(""),
            kind=ApprovalKind.CALL,
            state=ApprovalState.PENDING,
            run_id=run.claim.run_id,
            step=0,
            session=run.claim.lane.session,
            address=run.claim.address,
            tool=step.call.tool,
            effect=step.effect,
            arguments=step.call.arguments,
            arguments_hash=step.arguments_hash,
            policy_version="",
            requester=requester.id if requester else None,
            asked_at=now,
            expires_at=now,
            terms=terms,
        )


def _may_change(step: NewStep) -> bool:
    return step.effect is not Effect.READ and step.state is not StepState.DONE


def _asked(step: NewStep) -> NewStep:
    """Asked, also where a rule would let it run."""
    return replace(step, state=StepState.ASKED, grant=None)


def _denied(step: NewStep) -> NewStep:
    return not_run(step.call, step.effect, f"{DENIED}{READ_ONLY_REASON}")

"""Calls by which the agent asks a person: checked before they are recorded, and made into questions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from runtime.agent.delegation.orders import asked_for
from runtime.agent.run_state import LiveRun
from runtime.chat.audience import Audience, Places, Reach, reach_one
from runtime.contract import (
    ANYBODY,
    HAND_OVER,
    ApprovalKind,
    Asking,
    Asks,
    Call,
    Caller,
    Effect,
    Json,
    Person,
    Role,
    ToolSpec,
)
from runtime.domain.agents import delegation
from runtime.domain.approvals import Approval, Home
from runtime.domain.ids import digest
from runtime.domain.runs import StepState
from runtime.domain.transcript import DENIED, ERROR, WAITING_FOR_ANSWER
from runtime.errors import ToolError
from runtime.policy.terms import PLACES, Terms
from runtime.store.protocol import Claim, NewStep, Runs, ToolStep

FAR: Final = "{} isn't in this room and can't approve here. Ask somebody in the room, or an approver. Nobody was asked."


async def sorted_question(
    store: Runs, run: LiveRun, call: Call, asks: Asks, arguments: Mapping[str, Json], near: Collection[str] | None
) -> NewStep:
    """The call as one that waits for a person's answer; or done at once, with what is wrong with it.

    Asked is somebody of the room, or who may decide there: `near` are the approvers of the settings. None: anybody known.
    """
    effect = run.agent.tools[call.tool].spec.effect
    try:
        asking = asks(arguments)
    except ToolError as error:
        return not_run(call, effect, f"{ERROR}{error}")
    if asking.to not in ("", ANYBODY):
        who = await store.person_called(asking.to)
        if who is None:
            return not_run(call, effect, f"{ERROR}I know nobody called {asking.to[:100]!r}. Nobody was asked.")
        if who.role < Role.USER:
            return not_run(call, effect, f"{ERROR}{who.name} may read here, but not answer. Nobody was asked.")
        if near is not None and not await _is_near(store, run, who, near):
            return not_run(call, effect, f"{DENIED}{FAR.format(who.name)}")
    return NewStep(call, effect, digest(call.arguments), StepState.ASKED, meanwhile=WAITING_FOR_ANSWER)


async def _is_near(store: Runs, run: LiveRun, who: Person, approvers: Collection[str]) -> bool:
    """True for the requester, for somebody of the room, and for those who may decide there."""
    requester = run.claim.requester
    if requester is not None and requester.id == who.id:
        return True
    found = await store.audience(run.claim.run_id, run.claim.address, {who.id})
    if any(one.here for one in found.candidates):
        return True
    deciding = await store.audience(run.claim.run_id, run.claim.address, approvers)
    return any(one.person.id == who.id for one in deciding.candidates)


async def refused_or_stopped(run: LiveRun, spec: ToolSpec, call: Call, arguments: Mapping[str, Json]) -> NewStep | None:
    """The call where its tool refuses it before anybody is asked, or as a question where it is one hand-over too many: no rule
    or standing permission answers for people there."""
    if spec.refusal and (why := await spec.refusal(arguments, caller_of(run.claim))):
        return not_run(call, spec.effect, f"{ERROR}{why}")
    hops = len(run.claim.handed_by)
    if call.tool != HAND_OVER or hops < run.agent.limits.hand_overs:
        return None
    words = delegation.stopped_at(hops, str(arguments.get("agent", "")))
    caution = "\n\n".join(filter(None, [words, asked_for(run.claim)]))
    return NewStep(call, spec.effect, digest(call.arguments), StepState.ASKED, "", caution)


def caller_of(claim: Claim) -> Caller:
    return Caller(
        claim.agent, claim.requester, in_chat=claim.job is None and not claim.above, session=claim.lane.session
    )


def asked_by_us(call: Call) -> NewStep:
    """A call that a run makes on its own account, and never without a person's yes."""
    return NewStep(call, Effect.DANGER, digest(call.arguments), StepState.ASKED)


def not_run(call: Call, effect: Effect, why: str) -> NewStep:
    """A call that is done at once, with the reason why it does not run."""
    return NewStep(call, effect, digest(call.arguments), StepState.DONE, why)


def asking_of(run: LiveRun, step: ToolStep) -> Asking | None:
    """The question to a person that a call is; None for one that asks whether it may run, or what became of it."""
    tool = run.agent.tools.get(step.call.tool)
    if tool is None or tool.spec.asks is None or step.state is not StepState.ASKED:
        return None
    try:
        return tool.spec.asks(json.loads(step.call.arguments or "{}"))
    except ToolError:  # the tool is another one since the call was recorded
        return None


async def asked_person(store: Runs, asking: Asking, requester: Person | None) -> Person | None:
    """The person a question is for; None where anybody in the room may answer."""
    if asking.to == ANYBODY:
        return None
    return await store.person_called(asking.to) if asking.to else requester


def to_person(
    approval: Approval, asking: Asking, whom: Person | None, audience: Audience, places: Places
) -> tuple[Approval, Asking, Reach]:
    """The question as one to a person, who is named in it, and where it is put."""
    gone = (asking.to,) if asking.to not in ("", ANYBODY) else ()  # nobody is called so any more: it ends by its time
    terms = Terms(
        rule=approval.terms.rule,
        to=PLACES,
        approvers=(whom.id,) if whom else gone,
        expires=approval.terms.expires,
        remind=approval.terms.remind,
    )
    asked = replace(approval, kind=ApprovalKind.ANSWER, terms=terms, caution="")
    to = reach_one(asked, audience, places) if whom else Reach(Home.WHOLE)
    return asked, replace(asking, to=whom.name if whom else "".join(gone)), to

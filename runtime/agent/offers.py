"""Answers that stand on a card beside yes and no: a yes for later calls, and one for all calls of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runtime.agent.run_state import LiveRun
from runtime.chat.audience import Audience, Reach, able
from runtime.chat.cards import offers
from runtime.contract import ApprovalId, ApprovalKind, Choice
from runtime.domain.approvals import Approval, Rights, grants_offered
from runtime.policy.grants import form_of


def together(approvals: Sequence[Approval], audience: Audience, rights: Rights) -> Mapping[ApprovalId, Sequence[str]]:
    """For the last of several calls the tools of the others, if somebody may decide it and any of those."""
    calls = [one for one in approvals if one.kind is ApprovalKind.CALL]
    if len(calls) < 2:
        return {}
    *before, last = calls
    whom = {one.person.id for one in able(last, audience.candidates, rights)}
    others = [one.tool for one in before if whom & {each.person.id for each in able(one, audience.candidates, rights)}]
    return {last.id: others} if others else {}


def offering(
    approval: Approval, run: LiveRun, audience: Audience, rights: Rights, to: Reach, others: Sequence[str]
) -> Approval:
    """Approval with its card's offers, bound to the tool as it is now."""
    tool, deciding = run.agent.tools.get(approval.tool), able(approval, audience.candidates, rights)
    found = grants_offered(approval, [one.person for one in deciding]) if tool else ()
    form = form_of(tool.spec, tool.caution()) if tool and found else ""
    readers = {room: [one.person for one in deciding if room in one.rooms] for room in to.copies}
    plain = [room for room, read_by in readers.items() if found and read_by and not grants_offered(approval, read_by)]
    if others:
        found = (*found, Choice.ALL)
    return replace(approval, card=offers.frozen(approval.card, found, form, others, plain)) if found else approval

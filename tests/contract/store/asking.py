"""Questions of parked runs, and what became of their calls."""

from __future__ import annotations

from dataclasses import replace

from runtime.contract import (
    ApprovalId,
    ApprovalKind,
    ToolTurn,
)
from runtime.domain.approvals import Rights
from tests.contract.store.stage import (
    GATE,
    SHELL,
    UMA,
    Parked,
    Stage,
    step,
)

NO_SELF = replace(GATE, rights=Rights(self_approval=False))
CHOSEN = replace(GATE, rights=Rights(approvers=frozenset({UMA})))


async def result_of(stage: Stage, parked: Parked) -> str:
    (result,) = [t.text for t in await stage.store.runs.turns(parked.lane.session) if isinstance(t, ToolTurn)]
    return result


async def doubted(stage: Stage) -> ApprovalId:
    """A question about a call that was cut."""
    claim = await stage.begin("do it")
    await stage.record(claim, step(SHELL))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    question = stage.ask(claim, 2, SHELL, kind=ApprovalKind.OUTCOME)
    await stage.store.runs.park(claim.lane, claim.run_id, [question])
    return question.id

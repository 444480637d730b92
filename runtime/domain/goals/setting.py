"""The work that a goal is, as it is begun. No I/O."""

from __future__ import annotations

from typing import Final

from runtime.contract import Address, Identity, OccurrenceId, Person, Report, Task, TaskKind
from runtime.domain.agents.tasks import title_of
from runtime.domain.goals.contract import Contract
from runtime.domain.goals.record import CONTRACT

ZONE_OF_GOALS: Final = "UTC"
"""Where neither a person nor a room has one."""


def report_of(
    occurrence: OccurrenceId,
    contract: Contract,
    room: Address,
    agent: str,
    actor: Identity,
    owner: Person | None,
    zone: str = "",
) -> Report:
    return Report(
        id=occurrence,
        name=title_of(contract.outcome),
        task=Task(TaskKind.GOAL, contract.outcome, options={CONTRACT: contract.to_json()}),
        to=(room,),
        zone=zone or ZONE_OF_GOALS,
        agent=agent,
        actor=actor,
        owner=owner,
    )

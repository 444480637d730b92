"""The work that a goal is, as it is begun. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.contract import Address, Identity, Json, OccurrenceId, Person, Report, Task, TaskKind
from runtime.domain.agents.tasks import title_of
from runtime.domain.goals.contract import Contract, GoalKind
from runtime.domain.goals.record import CONTRACT

ZONE_OF_GOALS: Final = "UTC"
"""Where neither a person nor a room has one."""


def kind_of(options: Mapping[str, Json]) -> GoalKind:
    """The kind of a goal by the options of its task."""
    kept = options.get(CONTRACT)
    return GoalKind(str(kept["kind"])) if isinstance(kept, dict) else GoalKind.GOAL


def report_of(
    occurrence: OccurrenceId,
    contract: Contract,
    room: Address,
    agent: str,
    actor: Identity,
    owner: Person | None,
    zone: str = "",
    before: Mapping[str, Json] | None = None,
) -> Report:
    """`before` is what an earlier run of it did."""
    return Report(
        id=occurrence,
        name=title_of(contract.outcome),
        task=Task(TaskKind.GOAL, contract.outcome, options={CONTRACT: contract.to_json()}, resumes=before or {}),
        to=(room,),
        zone=zone or ZONE_OF_GOALS,
        agent=agent,
        actor=actor,
        owner=owner,
    )

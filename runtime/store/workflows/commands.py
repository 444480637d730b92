"""`/workflow` and `/workflows`: one is begun, and they are told, in the transaction of the command."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from runtime.chat.views import workflows as views
from runtime.contract import (
    Commanded,
    NewId,
    OccurrenceId,
    Outcome,
    Person,
    Report,
    Signal,
    SignalId,
    Task,
    TaskKind,
    Verdict,
)
from runtime.domain.workflows.asking import asked
from runtime.domain.workflows.reading import WorkflowError
from runtime.store.intake.inbox import answer, answered
from runtime.store.intake.occurrences import begin_report
from runtime.store.protocol import Gate, Taken
from runtime.store.schedules.book import zones_of
from runtime.store.sql.driver import Op
from runtime.store.workflows.standing import at_work

UTC_ZONE: Final = "UTC"


def begun(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Begin a workflow, and say so in the room; its report comes there too."""
    try:
        flow, inputs = asked(command.argument.strip(), gate.workflows)
    except WorkflowError as error:
        return (yield from answered(signal, signal_id, views.refused(error, signal.command_mark), now, new_id))
    zones = yield from zones_of(who.id, str(signal.address))
    report = Report(
        id=OccurrenceId(new_id()),
        name=flow.name,
        task=Task(TaskKind.WORKFLOW, flow.name, options=inputs),
        to=(signal.address,),
        zone=zones.get(who.id) or zones.get(str(signal.address)) or UTC_ZONE,
        agent=flow.agent or gate.agent,
        actor=signal.actor,
        owner=who,
    )
    yield from begin_report(report, who.name, now, new_id)
    here = yield from answer(signal, signal_id, views.started(flow, report.id), now, new_id)
    return Taken(Verdict(Outcome.DECIDED, signal_id), lane_ready=True, deliveries=here)


def listed(
    signal: Signal, _command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Tell the workflows that there are, and how far those of this room have come."""
    flows = sorted(gate.workflows.values(), key=lambda flow: flow.name)
    going = yield from at_work(signal.address)
    return (
        yield from answered(signal, signal_id, views.workflows(flows, going, now, signal.command_mark), now, new_id)
    )


WORKFLOW_COMMANDS: Final = {"workflow": begun, "workflows": listed}
"""Both, by name."""

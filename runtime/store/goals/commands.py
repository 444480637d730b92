"""`/goal`: one is set, shown or stopped in the transaction of the command."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from runtime.chat.commands import GOAL_COMMAND
from runtime.chat.views import goals as views
from runtime.contract import Address, Commanded, NewId, OccurrenceId, Outcome, Person, RunId, Signal, SignalId, Verdict
from runtime.domain.goals.contract import GoalError, contract_of
from runtime.domain.goals.setting import report_of
from runtime.store.goals.standing import newest_goal, open_goal
from runtime.store.intake.inbox import answer, answered
from runtime.store.intake.occurrences import begin_report
from runtime.store.protocol import Gate, Taken
from runtime.store.schedules.book import zones_of
from runtime.store.sql.driver import Op
from runtime.store.workflows.cancelling import cancel
from runtime.text.words import say

STOP_GOAL: Final = "stop"


def goal(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Set a goal; without words tell of the one here, and with `stop` end it."""
    text, mark = command.argument.strip(), signal.command_mark
    if not text:
        found = yield from newest_goal(signal.address, now)
        return (yield from answered(signal, signal_id, views.goal_here(found, now, mark), now, new_id))
    if text.casefold() == STOP_GOAL:
        return (yield from _stopped(signal, signal_id, who, now, new_id))
    if busy := (yield from open_goal(signal.address, now)):
        return (yield from answered(signal, signal_id, views.goal_busy(busy, mark), now, new_id))
    try:
        contract = contract_of(text, gate.goals, _model_of(gate))
    except GoalError as error:
        return (yield from answered(signal, signal_id, views.goal_refused(error, mark), now, new_id))
    zones = yield from zones_of(who.id, str(signal.address))
    zone = zones.get(who.id) or zones.get(str(signal.address)) or ""
    report = report_of(OccurrenceId(new_id()), contract, signal.address, gate.agent, signal.actor, who, zone)
    yield from begin_report(report, who.name, now, new_id)
    here = yield from answer(signal, signal_id, views.goal_set(contract, report.name, report.id), now, new_id)
    return Taken(Verdict(Outcome.DECIDED, signal_id), lane_ready=True, deliveries=here)


def _model_of(gate: Gate) -> str:
    """The model of the agent that is spoken to; empty for the usual one."""
    return next((one.model for one in gate.agents if one.name == gate.agent), "")


def _stopped(signal: Signal, signal_id: SignalId, who: Person, now: datetime, new_id: NewId) -> Op[Taken]:
    mark = signal.command_mark
    found = yield from open_goal(signal.address, now)
    if found is None:
        return (yield from answered(signal, signal_id, views.goal_here(None, now, mark), now, new_id))
    below = (yield from cancel(RunId(found.run), who.name, now, new_id)) if found.run else None
    if below is None:
        return (yield from answered(signal, signal_id, say(views.NOT_YET, mark=mark), now, new_id))
    here = yield from answer(signal, signal_id, views.goal_stopped(found), now, new_id)
    rooms: tuple[Address, ...] = (*here, *below.told)
    verdict = Verdict(Outcome.DECIDED, signal_id)
    return Taken(verdict, lane_ready=below.woken, stop_runs=tuple(below.live), deliveries=rooms)


GOAL_COMMANDS: Final = {GOAL_COMMAND: goal}
"""By name."""

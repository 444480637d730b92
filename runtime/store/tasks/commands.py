"""`/task` and `/tasks`: work that goes on in the background, begun, listed and dropped in the transaction of the command."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from runtime.chat import commands
from runtime.chat.views import tasks as task_views
from runtime.contract import Address, Commanded, NewId, Outcome, Person, Role, Signal, SignalId, TaskRequest, Verdict
from runtime.domain.agents.tasks import TASK_TEXT_MAX_CHARS, title_of
from runtime.store.intake.inbox import answer, answered
from runtime.store.protocol import Gate, Taken
from runtime.store.sql.driver import Op
from runtime.store.tasks.board import add_task, listed
from runtime.store.tasks.turning import drop
from runtime.text.glyphs import clip

DROP: Final = "drop"
MAY_NOT: Final = "Only people with the role user or higher can drop a task."
HOW_TO_DROP: Final = "I understand `{mark}tasks` and `{mark}tasks drop ID`."


def tasked(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Begin a task of a person's, and say so in the room; its end is told there too."""
    goal = clip(command.argument.strip(), TASK_TEXT_MAX_CHARS)
    if not goal:
        return (yield from answered(signal, signal_id, task_views.how_to(signal.command_mark), now, new_id))
    wanted = TaskRequest(title_of(goal), goal, agent=gate.agent)
    made = yield from add_task(
        signal_id, wanted, gate.agent, signal.address, who, now, new_id, reply_to=signal.message_id
    )
    if isinstance(made, str):
        return (yield from answered(signal, signal_id, made, now, new_id))
    here = yield from answer(signal, signal_id, task_views.begun(made), now, new_id)
    return Taken(Verdict(Outcome.DECIDED, signal_id), lane_ready=True, deliveries=here)


def task_list(
    signal: Signal, command: Commanded, signal_id: SignalId, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[Taken]:
    """List the tasks of a room, or drop one of them."""
    verb, _, name = command.argument.strip().partition(" ")
    if not verb:
        found = yield from listed(signal.address, None, now)
        return (yield from answered(signal, signal_id, task_views.tasks(found, now, signal.command_mark), now, new_id))
    if verb.lower() != DROP or not name.strip():
        words = HOW_TO_DROP.format(mark=signal.command_mark)
        return (yield from answered(signal, signal_id, words, now, new_id))
    if who.role < Role.USER:
        return (yield from answered(signal, signal_id, MAY_NOT, now, new_id))
    turned = yield from drop(name, signal.address, who, now, new_id)
    if isinstance(turned, str):
        return (yield from answered(signal, signal_id, turned, now, new_id))
    here = yield from answer(signal, signal_id, task_views.dropped(turned.task), now, new_id)
    rooms: tuple[Address, ...] = here + turned.rooms
    verdict = Verdict(Outcome.DECIDED, signal_id)
    return Taken(verdict, stop_runs=turned.stop_runs, deliveries=rooms, ended=turned.ended)


TASK_COMMANDS: Final = {commands.TASK_COMMAND: tasked, "tasks": task_list}
"""Both, by name."""

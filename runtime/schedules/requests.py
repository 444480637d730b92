"""Wishes for schedules at the leak guard: a call that needs a secret is made with it, and its task would be stored."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from runtime.contract import ScheduleRequest, Task
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.guard.stored import Form, looked_at


def cleaned(wanted: ScheduleRequest, door: Door, room: str) -> ScheduleRequest:
    """The wish as it may be kept."""
    clean = partial(door.clean, gate=Gate.TOOL_ARGUMENTS, room=room)
    name, when, task = clean(wanted.name), clean(wanted.when), wanted.task and _task(wanted.task, door, room)
    if (name, when, task) == (wanted.name, wanted.when, wanted.task):
        return wanted
    return replace(wanted, name=name, when=when, task=task)


def _task(task: Task, door: Door, room: str) -> Task:
    check = partial(door.check, gate=Gate.TOOL_ARGUMENTS, room=room)
    bare = replace(task, text="").to_json()
    rest, found = looked_at(bare, Form.JSON, check)  # what a template asks tools, and the options of a report
    other = Task.from_json(rest) if found else task
    return replace(other, text=check(task.text).text)

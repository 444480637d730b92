"""Tasks as a state machine, what becomes of one whose run is over, and the words of both. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from runtime.contract import PlanStep, PostedTask, SessionKey, StepMark, TaskState
from runtime.domain.runs import RunState
from runtime.text.glyphs import clip
from runtime.text.words import marked, say

ATTEMPTS_MAX: Final = 3
"""Runs that may try a task before it counts as failed."""
OPEN_TASKS_MAX: Final = 50
"""Tasks of a room that are not over."""
TITLE_MAX_CHARS: Final = 80
TASK_TEXT_MAX_CHARS: Final = 8_000
"""Characters of a goal, an input, criteria or a result."""
STEP_TEXT_MAX_CHARS: Final = 200
MYSELF: Final = "me"
"""In place of the name of the agent that posts a task."""
SHORT_ID_CHARS: Final = 6
"""The end of an id, by which people name a task."""

BACKGROUND: Final = "task"
"""How the session of a task's run begins; and the platform of the signal that begins it."""


class TaskEvent(StrEnum):
    CLAIM = "claim"
    COMPLETE = "complete"
    FAIL = "fail"
    GIVE_BACK = "give back"
    DROP = "drop"
    RETRY = "retry"


# All moves are here and nowhere else. A state without a row is final.
TASK_MOVES: Final[Mapping[tuple[TaskState, TaskEvent], TaskState]] = {
    (TaskState.OPEN, TaskEvent.CLAIM): TaskState.CLAIMED,
    (TaskState.OPEN, TaskEvent.DROP): TaskState.DROPPED,
    (TaskState.CLAIMED, TaskEvent.COMPLETE): TaskState.DONE,
    (TaskState.CLAIMED, TaskEvent.FAIL): TaskState.FAILED,
    (TaskState.CLAIMED, TaskEvent.GIVE_BACK): TaskState.OPEN,
    (TaskState.CLAIMED, TaskEvent.DROP): TaskState.DROPPED,
    (TaskState.FAILED, TaskEvent.RETRY): TaskState.OPEN,
    (TaskState.DROPPED, TaskEvent.RETRY): TaskState.OPEN,
}


def after_run(state: RunState, attempts: int, *, hopeless: bool = False) -> TaskEvent:
    """Event for a task whose run ended in `state` and completed nothing. `hopeless`: another try would end the same way, or do
    once more what this one has done.

    An answer in the background is the result; a conversation that claimed a task completes it in so many words.

    >>> after_run(RunState.FAILED, 1), after_run(RunState.FAILED, 3)
    (<TaskEvent.GIVE_BACK: 'give back'>, <TaskEvent.FAIL: 'fail'>)
    """
    if state is RunState.DONE:
        return TaskEvent.COMPLETE
    if state is RunState.STOPPED:
        return TaskEvent.DROP
    return unfinished(attempts) if not hopeless else TaskEvent.FAIL


def unfinished(attempts: int) -> TaskEvent:
    """Event for a claim that ended with neither a result nor a person's word."""
    return TaskEvent.FAIL if attempts % ATTEMPTS_MAX == 0 else TaskEvent.GIVE_BACK  # a retry gives three more


def session_of(task: str, attempt: int) -> SessionKey:
    """The session that a try of a task has to itself, so that the room's own lane stays free."""
    return SessionKey(f"{BACKGROUND}|{task}|{attempt}")


def short_id(task: str) -> str:
    return task[-SHORT_ID_CHARS:]


def title_of(text: str) -> str:
    """A title made of a request: its first line.

    >>> title_of("Compare the offers.\\nThey are in the files.")
    'Compare the offers.'
    """
    return clip(" ".join(text.strip().partition("\n")[0].split()), TITLE_MAX_CHARS)


NOBODY_WAITS: Final = (
    "[Nobody in this room is waiting for your questions: your answer is posted there as the result of this task.]"
)


def said(task: PostedTask) -> str:
    """Words that the agent reads. What is asked stands in it as it was written."""
    return "\n\n".join([f"[Task {task.title!r}, done in the background]", *details(task), NOBODY_WAITS])


def details(task: PostedTask) -> list[str]:
    """Paragraphs of a task beside its title."""
    parts = [task.goal]
    if task.criteria:
        parts.append(f"[It is done when:]\n{task.criteria}")
    if task.input:
        parts.append(f"[Given with it:]\n{task.input}")
    return parts


ENDINGS: Final[Mapping[RunState, str]] = {
    RunState.DONE: marked("**Task done: {title}**"),
    RunState.FAILED: marked("**Task failed: {title}**"),
    RunState.STOPPED: marked("**Task stopped: {title}**"),
}


def told_end(title: str, state: RunState, text: str) -> str:
    """The end of a task, as its room reads it.

    >>> told_end("Compare the offers", RunState.DONE, "Take the second.")
    '**Task done: Compare the offers**\\n\\nTake the second.'
    """
    return f"{say(ENDINGS[state], title=plain(title))}\n\n{text}"


def plain(text: str) -> str:
    """On one line, without what Markdown would take for its own."""
    return " ".join(text.translate(str.maketrans("", "", "*_`[]<>|~\\")).split())


MARKS: Final[Mapping[StepMark, str]] = {StepMark.TODO: "☐", StepMark.DOING: "▶", StepMark.DONE: "☑"}
CHECKLIST_HEAD: Final = "**Plan** · "
"""In every language."""
STEP_END: Final = "  \n"
"""A line's end that Markdown keeps."""


def checklist(steps: Sequence[PlanStep]) -> str:
    """A checklist as people read it, edited in place.

    >>> checklist([PlanStep("Read", StepMark.DONE), PlanStep("Write")])
    '**Plan** · 1 of 2 done\\n\\n☑ Read  \\n☐ Write'
    """
    done = sum(step.mark is StepMark.DONE for step in steps)
    lines = [f"{MARKS[step.mark]} {plain(clip(step.text, STEP_TEXT_MAX_CHARS))}" for step in steps]
    head = say("**Plan** · {done} of {number} done", done=done, number=len(steps))
    return "\n\n".join([head, STEP_END.join(lines)])


def steps_in(text: str) -> list[PlanStep]:
    """Steps of a text that is a checklist and nothing else; none of any other text.

    >>> steps_in(checklist([PlanStep("Read", StepMark.DONE), PlanStep("Write")]))[0]
    PlanStep(text='Read', mark=<StepMark.DONE: 'done'>)
    >>> steps_in("**Plan** · a long one")
    []
    """
    head, _, told = text.partition("\n\n")
    signs, lines = {sign: mark for mark, sign in MARKS.items()}, told.split(STEP_END)
    are_steps = all(line[:1] in signs and line[1:2] == " " and "\n" not in line for line in lines)
    is_one = head.startswith(CHECKLIST_HEAD) and are_steps
    return [PlanStep(line[2:], signs[line[0]]) for line in lines] if is_one else []

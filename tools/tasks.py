"""Tools of work that outlasts a conversation: tasks that are posted, claimed and completed, and a checklist of a run.

A task is of the room where it was posted, and its run works for the person who asked. What another agent wrote in one is
material for whoever claims it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from runtime.contract import (
    Carries,
    Effect,
    Flow,
    PlanStep,
    PostedTask,
    Reads,
    Role,
    StepMark,
    TaskActor,
    TaskBoard,
    TaskId,
    TaskRequest,
    TaskState,
    Tool,
    ToolContext,
)
from runtime.errors import ToolRetry
from runtime.text.outside import material
from tools.kit.declare import tool
from tools.kit.parameters import moment_in

TIMEOUT: Final = timedelta(seconds=30)
STEPS_MAX: Final = 30
POSTING: Final = Flow(Reads.OURS, carries={"agent": Carries.DETAIL, "due": Carries.DETAIL})
"""A task is worked on in a run that has read nothing: so its words, which this leaves out, are to be somebody's own."""
OWN: Final = Flow(Reads.OURS, stays=True, carries={"task": Carries.DETAIL, "result": Carries.WORDS})
PLAN: Final = Flow(Reads.OURS, stays=True, carries={"steps": Carries.WORDS})
LISTING: Final = Flow(Reads.OURS, stays=True, carries={"state": Carries.DETAIL})
CLAIMING: Final = Flow(Reads.PEOPLE, stays=True, carries={"task": Carries.DETAIL})

TaskName = Annotated[str, "Its id."]


def task_tools(board: TaskBoard) -> list[Tool]:
    """All of them."""
    return [*_posting(board), *_claiming(board), _planning(board)]


def _posting(board: TaskBoard) -> list[Tool]:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=POSTING)
    async def task_post(
        title: Annotated[str, "A few words."],
        goal: Annotated[str, "Self-contained: whoever does it sees nothing of this."],
        context: ToolContext,
        input: Annotated[str, "What it needs."] = "",
        criteria: Annotated[str, "When it's done."] = "",
        agent: Annotated[
            str,
            "me, or another's name: begins at once; else it waits.",
        ] = "",
        due: Annotated[str, "Such as 2026-12-01T09:00+01:00."] = "",
    ) -> str:
        """Post work, or have it done in the background and told here."""
        if not (title.strip() and goal.strip()):
            raise ToolRetry("A task needs a title and a goal.")
        wanted = TaskRequest(title, goal, input, criteria, agent.strip(), due_at(due))
        made = await board.post(wanted, poster(context, wanted))
        return posted(made)

    @tool(effect=Effect.READ, timeout=TIMEOUT, seldom=True, flow=LISTING)
    async def task_list(
        context: ToolContext,
        state: Annotated[Literal["", "open", "claimed", "done", "failed", "dropped"], "Only those."] = "",
    ) -> str:
        """List this room's tasks."""
        found = await board.listed(actor(context), TaskState(state) if state else None)
        return "\n".join(map(line, found)) or "There are no such tasks here."

    return [task_post, task_list]


def _claiming(board: TaskBoard) -> list[Tool]:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=CLAIMING)
    async def task_claim(task: TaskName, context: ToolContext) -> str:
        """Take an open task; it goes back if you don't complete it."""
        claimed, author = await board.claim(task, poster(context))
        words = told(claimed)
        return f"It's yours now.\n\n{material(words, f'the agent {author}') if author else words}"

    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=OWN)
    async def task_complete(
        task: TaskName,
        result: Annotated[str, "What came of it."],
        context: ToolContext,
        failed: Annotated[bool, "It couldn't be done."] = False,
    ) -> str:
        """End a task that you claimed."""
        ended = await board.complete(task, result, poster(context), failed=failed)
        return f'The task "{ended.title}" is {ended.state}.'

    return [task_claim, task_complete]


def _planning(board: TaskBoard) -> Tool:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=PLAN)
    async def plan_set(
        steps: Annotated[
            list[dict[str, str]],
            'All, in order: {"text": "…", "state": "todo"}; or doing, done.',
        ],
        context: ToolContext,
    ) -> str:
        """Show a checklist of your work; call it again as steps are done."""
        if not 1 <= len(steps) <= STEPS_MAX:
            raise ToolRetry(f"A plan has 1 to {STEPS_MAX} steps.")
        is_new = await board.plan([step_of(one) for one in steps], actor(context))
        return "The plan is shown." if is_new else "Nothing has changed on the plan."

    return plan_set


# ------------------------------------------------------------------------------------------------------- who, and where


def actor(context: ToolContext, key: str = "") -> TaskActor:
    """The run that calls. Errors: ToolRetry where it works in no room."""
    if context.address is None:
        raise ToolRetry("This conversation has no room, so it has no tasks.")
    return TaskActor(context.address, context.session, context.run_id, context.requester, key)


def poster(context: ToolContext, wanted: TaskRequest | None = None) -> TaskActor:
    """The run that changes something. Errors: ToolRetry for viewers, and if nobody asked.

    The wish is part of the key: some vendors count the ids of their calls anew with each reply.
    """
    if context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can have tasks.")
    return actor(context, f"{context.call_id}:{wanted}" if wanted else "")


def step_of(given: Mapping[str, str]) -> PlanStep:
    """Errors: ToolRetry for one without words, or in a state that there isn't."""
    words, mark = " ".join(given.get("text", "").split()), given.get("state", StepMark.TODO)
    if not words or mark not in list(StepMark):
        raise ToolRetry(f"Each step needs a text, and a state: {', '.join(StepMark)}.")
    return PlanStep(words, StepMark(mark))


def due_at(text: str) -> datetime | None:
    """The time that is written so; without a zone it is in UTC. Errors: ToolRetry for anything else."""
    return moment_in(text, "a date and time", "2026-12-01T09:00+01:00")


# ------------------------------------------------------------------------------------------------------------ the words


def posted(task: PostedTask) -> str:
    if task.state is TaskState.OPEN:
        return f'Posted the task "{task.title}" ({ending(task.id)}). It waits until someone claims it.'
    return f'I\'m on it: task "{task.title}" ({ending(task.id)}). Its result is told here; go on meanwhile.'


def line(task: PostedTask) -> str:
    by = f" by {task.owner}" if task.owner and task.state is TaskState.CLAIMED else ""
    due = f", due {task.due_at:%Y-%m-%d %H:%M} UTC" if task.due_at else ""
    return f"- {ending(task.id)} {task.title}: {task.state}{by}{due}"


def told(task: PostedTask) -> str:
    """A task as whoever does it reads it."""
    parts = [f"{task.title} ({ending(task.id)})", task.goal]
    if task.criteria:
        parts.append(f"It is done when:\n{task.criteria}")
    if task.input:
        parts.append(f"Given with it:\n{task.input}")
    return "\n\n".join(parts)


def ending(task: TaskId) -> str:
    return task[-6:]

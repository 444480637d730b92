"""Answers to `/workflow` and `/workflows`: what may be started, and how far it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract import Address
from runtime.domain.agents.tasks import plain, short_id
from runtime.domain.workflows.definition import Input, Workflow
from runtime.domain.workflows.expressions import shown
from runtime.domain.workflows.progress import OVER, Standing, StepState, states
from runtime.domain.workflows.reading import WorkflowError
from runtime.text.retold import retold
from runtime.text.words import marked, roughly, say, several

LISTED: Final = 20
NO_FLOWS: Final = marked("There are no workflows here. An operator adds them in `workflows/`.")
HOW_TO_START: Final = marked("To start one: `{mark}workflow NAME key=value`.")


@dataclass(frozen=True, slots=True)
class Begun:
    """A workflow that was begun. `now` is None where its run has not frozen it yet. `state`: a word for its end.

    `run` works on it, as `agent`, for `schedule` where one began it; `reason` says why it failed.
    """

    id: str
    name: str
    started_at: datetime
    asked_by: str
    state: str
    now: Standing | None
    run: str = ""
    room: Address | None = None
    ended_at: datetime | None = None
    reason: str = ""
    schedule: str = ""
    agent: str = ""


def started(flow: Workflow, run: str) -> str:
    steps = several(len(flow.steps), "step")
    return say(
        "I've begun the workflow `{name}` (`{run}`, {steps}). Its report comes here.",
        name=flow.name,
        run=short_id(run),
        steps=steps,
    )


def refused(error: WorkflowError, mark: str) -> str:
    text = retold(str(error))
    return f"{text[:1].upper()}{text[1:]} {say(HOW_TO_START, mark=mark)}"


def workflows(flows: Sequence[Workflow], begun: Sequence[Begun], now: datetime, mark: str) -> str:
    """Answer to `/workflows`: those at work in the room with their steps, and those that may be started."""
    if not flows and not begun:
        return say(NO_FLOWS)
    parts = [_at_work(one, now) for one in begun]
    if flows:
        lines = [f"- `{flow.name}`{_about(flow)}" for flow in flows[:LISTED]]
        if len(flows) > LISTED:
            lines.append(say("- and {flows} more", flows=len(flows) - LISTED))
        parts.append("\n".join([say("Workflows:"), "", *lines]))
        parts.append(say(HOW_TO_START, mark=mark))
    return "\n\n".join(parts)


def _about(flow: Workflow) -> str:
    given = ", ".join(map(_named, flow.inputs))
    parts = [plain(flow.about), f"inputs: {given}" if given else ""]
    told = "; ".join(filter(None, parts))
    return f": {told}" if told else ""


def _named(one: Input) -> str:
    return one.name if one.required else f"{one.name}={plain(shown(one.default))}"


def _at_work(one: Begun, now: datetime) -> str:
    done = sum(step.state in OVER for step in one.now.steps) if one.now else 0
    total = say(", {done} of {steps} steps", done=done, steps=len(one.now.steps)) if one.now else ""
    since = roughly(now - one.started_at)
    head = say(
        "`{name}` (`{id}`): {state}{total}, {since} ago, asked by {asked_by}",
        name=one.name,
        id=short_id(one.id),
        state=one.state,
        total=total,
        since=since,
        asked_by=plain(one.asked_by),
    )
    return "  \n".join([head, *(inline(line) for line in states(one.now.steps))]) if one.now else head


def inline(line: str) -> str:
    """A line of a step in a text that is Markdown: its name keeps all its characters."""
    mark, _, rest = line.partition(" ")
    name, colon, why = rest.partition(": ")
    return f"{mark} `{name.replace('`', '')}`{colon}{plain(why)}"


def where(now: Standing) -> str:
    """The steps that are at work, for a line."""
    return ", ".join(one.step.name for one in now.steps if one.state is StepState.RUNNING)

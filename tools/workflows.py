"""Calls by which workflows are frozen and wait, which no model is offered; and the tool that starts one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from runtime.contract import Carries, Effect, EventWish, Flow, Json, Reads, Role, TaskActor, Tool, ToolContext
from runtime.contract.agents.workflows import OfferedFlow, Workflows
from runtime.errors import ToolFailed, ToolRetry
from runtime.markup.moments import several
from runtime.text.outside import material
from tools.kit.declare import tool

LONGEST_WAIT: Final = timedelta(days=366)
SPAN: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(seconds?|s|minutes?|min|hours?|h|days?|d|weeks?)")
UNITS: Final[Mapping[str, timedelta]] = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
"""By the first letter."""
EXAMPLES: Final = '"2 hours", "3 days" or "2026-12-01T09:00+01:00"'
OWN: Final = Flow(Reads.OURS, stays=True, carries={"time": Carries.DETAIL})
AWAITING: Final = Flow(Reads.OURS, stays=True, carries={})
FROZEN: Final = Flow(Reads.OURS, stays=True, carries={})
STARTING: Final = Flow(Reads.OURS, carries={"name": Carries.DETAIL})
"""A workflow's calls ask nobody about its inputs: so after outside text these, which this leaves out, are to be somebody's own."""
START_TIMEOUT: Final = timedelta(seconds=30)


@tool(effect=Effect.READ, flow=FROZEN)
def workflow_begin(
    definition: Annotated[str, "As it is read."],
    sha256: Annotated[str, "The digest of that."],
    inputs: Annotated[dict[str, Any], "Values of its inputs."],
    done: Annotated[dict[str, Any], "Results of an earlier run."],
    sources: Annotated[list[str], "Where those are from."] = [],  # noqa: B006 - a schema's default, never changed
) -> str:
    """Freeze a workflow: its run goes by these words, whatever its file says later."""
    return "\n".join([f"Frozen as {sha256}.", *(material("Results of the run before.", one) for one in sources)])


@tool(effect=Effect.READ, flow=OWN)
def wait_until(time: Annotated[str, f"Such as {EXAMPLES}."]) -> str:
    """Wait; others are served meanwhile."""
    raise ToolFailed("Nobody calls this: its run sleeps.")


@tool(effect=Effect.READ, flow=AWAITING)
def wait_for_event(
    time: Annotated[str, f"At most so long, such as {EXAMPLES}."],
    event: Annotated[str, "As triggers name it."],
    words: Annotated[list[str], "Any of these, in what is told of it."] = [],  # noqa: B006 - a schema's default, never changed
    room: Annotated[str, "A glob of rooms; empty: here."] = "",
) -> str:
    """Wait for an event; others are served meanwhile."""
    raise ToolFailed("Nobody calls this: its run sleeps.")


def event_wish(arguments: Mapping[str, Json]) -> EventWish:
    """The event that a call waits for. Errors: ToolRetry."""
    wait_for_event.check(arguments)
    words = arguments.get("words")
    told = tuple(str(one) for one in words) if isinstance(words, list) else ()
    return EventWish(str(arguments["event"]), told, str(arguments.get("room", "")))


def until(arguments: Mapping[str, Json], now: datetime) -> datetime:
    """The time that a call waits for. One that is over is no fault. Errors: ToolRetry."""
    at = moment_of(str(arguments.get("time", "")), now)
    if at is None:
        raise ToolRetry(f"{str(arguments.get('time'))[:60]!r} is no time to wait for. Write it as {EXAMPLES}.")
    if at - now > LONGEST_WAIT:
        raise ToolRetry(f"It waits at most {LONGEST_WAIT.days} days.")
    return at


def moment_of(text: str, now: datetime) -> datetime | None:
    """A span from now on, or a date and time; without a zone it is in UTC. None for anything else.

    >>> moment_of("90 min", datetime(2026, 1, 1, tzinfo=UTC)).isoformat()
    '2026-01-01T01:30:00+00:00'
    """
    try:
        if span := SPAN.fullmatch(text.strip().lower()):
            return now + float(span[1]) * UNITS[span[2][0]]
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


WORKFLOW_BEGIN: Final = replace(workflow_begin, spec=replace(workflow_begin.spec, untold=True))
WAIT_UNTIL: Final = replace(wait_until, spec=replace(wait_until.spec, untold=True, sleeps=until))


WAIT_FOR_EVENT: Final = replace(
    wait_for_event, spec=replace(wait_for_event.spec, untold=True, sleeps=until, awaits=event_wish)
)


def workflow_tools(flows: Workflows) -> list[Tool]:
    """The tools by which a model finds workflows and starts them."""

    # Idempotent: a call that was cut by a kill and is made again begins nothing twice.
    @tool(effect=Effect.WRITE, idempotent=True, timeout=START_TIMEOUT, seldom=True, flow=STARTING)
    async def workflow_start(
        name: Annotated[str, "As workflow_list has it."],
        context: ToolContext,
        inputs: Annotated[dict[str, Any], "By name; what is left out has its default."] = {},  # noqa: B006 - a schema's default, never changed
    ) -> str:
        """Start a workflow: its steps run in the background, and its report comes here."""
        made = await flows.start(name.strip(), inputs, starter(context, name, inputs), context.agent)
        return f"The workflow {name} has begun ({made[-6:]}). Its report comes here by itself: don't wait for it."

    @tool(effect=Effect.READ, timeout=START_TIMEOUT, seldom=True, flow=FROZEN)
    async def workflow_list() -> str:
        """List the workflows that can be started, with their inputs."""
        return "\n".join(map(line, flows.offered())) or "There are no workflows here."

    return [workflow_start, workflow_list]


def starter(context: ToolContext, name: str, inputs: Mapping[str, Any]) -> TaskActor:
    """The run that starts one. Errors: ToolRetry for viewers, and where nobody asked or there is no room."""
    if context.address is None or context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can start workflows, in a room.")
    key = f"{context.key.call}:{name}:{json.dumps(inputs, sort_keys=True)}"
    return TaskActor(context.address, context.session, context.key.run, context.requester, key, context.above)


def line(flow: OfferedFlow) -> str:
    given = ", ".join(
        f"{name} (required)" if value is None else f"{name}={value}" for name, value in flow.inputs.items()
    )
    return f"- {flow.name}, {several(flow.steps, 'step')}{f': {flow.about}' if flow.about else ''}{f'; inputs: {given}' if given else ''}"

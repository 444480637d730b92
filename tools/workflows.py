"""Calls by which workflows are frozen and wait, which no model is offered; and the tool that starts one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

from runtime.contract import Carries, Effect, Flow, Json, Reads
from runtime.errors import ToolFailed, ToolRetry
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
FROZEN: Final = Flow(Reads.OURS, stays=True, carries={})


@tool(effect=Effect.READ, flow=FROZEN)
def workflow_begin(
    definition: Annotated[str, "As it is read."],
    sha256: Annotated[str, "The digest of that."],
    inputs: Annotated[dict[str, Any], "Values of its inputs."],
    done: Annotated[dict[str, Any], "Results of an earlier run."],
) -> str:
    """Freeze a workflow: its run goes by these words, whatever its file says later."""
    return f"Frozen as {sha256}."


@tool(effect=Effect.READ, flow=OWN)
def wait_until(time: Annotated[str, f"Such as {EXAMPLES}."]) -> str:
    """Wait; others are served meanwhile."""
    raise ToolFailed("Nobody calls this: its run sleeps.")


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
    if span := SPAN.fullmatch(text.strip().lower()):
        return now + float(span[1]) * UNITS[span[2][0]]
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


WORKFLOW_BEGIN: Final = replace(workflow_begin, spec=replace(workflow_begin.spec, untold=True))
WAIT_UNTIL: Final = replace(wait_until, spec=replace(wait_until.spec, untold=True, sleeps=until))

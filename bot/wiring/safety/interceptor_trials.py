"""One try of an interceptor, as `interceptors test` and `doctor` make it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.settings.safety.interceptors import InterceptorTable
from bot.settings.settings import Settings
from bot.wiring.safety.interceptors import judge_of, where_of
from runtime.contract.agents.interceptors import Answer, InterceptorFailed, Judge, Occasion, Point, fault_of
from runtime.domain.agents.manifest import MAIN
from tools.interceptors.program import ProgramJudge

EXAMPLE_ROOM: Final = "web:main/example1"
EXAMPLE_RUN: Final = "example"
EXAMPLES: Final[Mapping[Point, Mapping[str, Any]]] = {
    Point.BEFORE_MODEL: {
        "work": "chat",
        "system": "You are an example.",
        "working": "",
        "messages": [{"role": "user", "text": "Hello."}],
    },
    Point.AFTER_MODEL: {"work": "chat", "text": "Hello!", "calls": []},
    Point.BEFORE_TOOL: {"effect": "danger", "arguments": {"command": "uname -a"}},
    Point.AFTER_TOOL: {"arguments": {"command": "uname -a"}, "result": "Linux"},
    Point.ON_ERROR: {"error": "error: the example failed."},
    Point.ON_PROGRESS: {"event": "working"},
    Point.BEFORE_SHOW: {"text": "Hello!"},
    Point.RUN_END: {"state": "done", "text": "Hello!"},
}
"""Values at each point, by the names that interceptors read."""
EXAMPLE_TOOL: Final = "shell"


@dataclass(frozen=True, slots=True)
class Trial:
    """An answer, or why there is none. `first_ms` is with the start of a program, `again_ms` the second answer.

    `fits`: a run would ask it there too."""

    at: Point
    answer: Answer | None
    fault: str = ""
    first_ms: float = 0
    again_ms: float = 0
    fits: bool = True


def example_of(point: Point, **given: Any) -> Occasion:
    """An occasion at that point: `given` are its tool, agent and room, where they are others, and further values."""
    about = {name: given.pop(name) for name in ("tool", "agent", "room") if given.get(name)}
    tool = about.pop("tool", EXAMPLE_TOOL if point in (Point.BEFORE_TOOL, Point.AFTER_TOOL, Point.ON_PROGRESS) else "")
    values = {**EXAMPLES[point], **given}
    usual = {"agent": MAIN, "room": EXAMPLE_ROOM} | about
    return Occasion(point, **usual, run=EXAMPLE_RUN, step=f"{EXAMPLE_RUN}/2", tool=tool, values=values, trial=True)


async def tried(settings: Settings, table: InterceptorTable, occasion: Occasion) -> Trial:
    """Ask twice: what is kept at work answers faster the second time. Errors: ConfigError for a package without it."""
    judge = judge_of(settings, table)
    try:
        return replace(await _asked(judge, occasion), fits=where_of(table).fits(occasion))
    finally:
        if isinstance(judge, ProgramJudge):
            await judge.close()


async def _asked(judge: Judge, occasion: Occasion) -> Trial:
    begun = time.perf_counter()
    try:
        answer = await judge.ask(occasion)
        between = time.perf_counter()
        await judge.ask(occasion)
    except InterceptorFailed as failed:
        return Trial(occasion.at, None, failed.whole)
    again = time.perf_counter()
    return Trial(occasion.at, answer, fault_of(occasion.at, answer), (between - begun) * 1000, (again - between) * 1000)

"""Calls by which goals are frozen, timed, counted and worked on, which no model is offered; and the tool that sets one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final, Protocol

from runtime.contract import Carries, Effect, Flow, Json, Order, Reads, Role, RunId, TaskActor, Tool, ToolContext
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.outside import material
from tools.delegation import HANDED_ON, NEVER_CALLED, one_order
from tools.kit.declare import FunctionTool, tool

FROZEN_GOAL: Final = Flow(Reads.OURS, stays=True, carries={})
SETTING: Final = Flow(Reads.OURS, carries={"text": Carries.WORDS})
GOAL_TIMEOUT: Final = timedelta(seconds=30)
PIECE_MAX_CHARS: Final = 60_000
"""Characters of what a piece is told: what is judged stands in it."""

CostOf = Callable[[RunId], Awaitable[int]]
"""Money that a run has cost with all below it, in millionths of a dollar."""


async def no_cost(run: RunId) -> int:
    """The cost where nothing is counted."""
    return 0


class SetsGoals(Protocol):
    """Goals, as the tool needs them."""

    async def begin(self, text: str, by: TaskActor, agent: str) -> str:
        """Begin one; its id. Errors: ToolRetry says what is wrong with it."""


@tool(effect=Effect.READ, flow=FROZEN_GOAL)
def goal_begin(
    contract: Annotated[dict[str, Any], "As it was set."],
    done: Annotated[dict[str, Any], "Results of an earlier run."] = {},  # noqa: B006 - a schema's default, never changed
    sources: Annotated[list[str], "Where those are from."] = [],  # noqa: B006 - see above
) -> str:
    """Freeze the contract of a goal: its run goes by that."""
    return "\n".join(["Frozen.", *(material("Results of the run before.", one) for one in sources)])


@tool(effect=Effect.READ, flow=FROZEN_GOAL)
def goal_clock(until: Annotated[str, "Its deadline."]) -> str:
    """Note when the time of a goal is over."""
    return until


@tool(effect=Effect.READ, flow=HANDED_ON)
def goal_piece(
    goal: Annotated[str, "All it needs to know."],
    context: ToolContext,
    criteria: Annotated[str, "When it is done."] = "",
    reads_only: Annotated[bool, "It changes nothing."] = False,
    model: Annotated[str, "Which model works on it."] = "",
    minutes: Annotated[int, "Its time."] = 10,
    budget: Annotated[float, "US dollars, at most."] = 0.0,
) -> str:
    """Hand a piece of a goal to a run of its own."""
    raise ToolFailed(NEVER_CALLED)


def piece_order(arguments: Mapping[str, Json]) -> list[Order]:
    """The order of a piece. Errors: ToolRetry."""
    goal_piece.check(arguments)
    words = str(arguments["goal"])
    if not 0 < len(words.strip()) <= PIECE_MAX_CHARS:
        raise ToolRetry(f"A piece of a goal has at most {PIECE_MAX_CHARS:,} characters.")
    plain = {name: arguments[name] for name in ("criteria", "minutes", "budget") if name in arguments}
    [order] = one_order({"goal": "a piece", **plain})
    reads_only, model = bool(arguments.get("reads_only", False)), str(arguments.get("model", ""))
    return [replace(order, goal=words.strip(), reads_only=reads_only, model=model)]


def _untold(one: FunctionTool) -> FunctionTool:
    return replace(one, spec=replace(one.spec, untold=True))


GOAL_BEGIN: Final = _untold(goal_begin)
CLOCK_OF_GOAL: Final = _untold(goal_clock)
PIECE_OF_GOAL: Final = replace(_untold(goal_piece), spec=replace(_untold(goal_piece).spec, hands=piece_order))


def spent_tool(cost: CostOf) -> FunctionTool:
    """The call by which a goal looks at what it has cost so far."""

    @tool(effect=Effect.READ, flow=FROZEN_GOAL)
    async def goal_spent(context: ToolContext) -> str:
        """Count the cost of a goal, in millionths of a dollar."""
        return str(await cost(context.run_id))

    return _untold(goal_spent)


def goal_tools(goals: SetsGoals, cost: CostOf) -> list[Tool]:
    """All of them."""

    # Idempotent: a call that was cut by a kill and is made again begins nothing twice.
    @tool(effect=Effect.WRITE, idempotent=True, timeout=GOAL_TIMEOUT, seldom=True, flow=SETTING)
    async def goal_set(
        text: Annotated[
            str, "What is to come of it; then lines such as 'verify: …', 'stop when: …', 'turns: 5', 'within: 2 hours'."
        ],
        context: ToolContext,
    ) -> str:
        """Set a goal that is worked on in turns until another model accepts the result. A person agrees first."""
        made = await goals.begin(text, setter(context, text), context.agent)
        return f"The goal is set ({made[-6:]}). A card here asks to begin it, and its result comes here by itself."

    return [goal_set, GOAL_BEGIN, CLOCK_OF_GOAL, PIECE_OF_GOAL, spent_tool(cost)]


def setter(context: ToolContext, text: str) -> TaskActor:
    """The run that sets one. Errors: ToolRetry for viewers, and where nobody asked or there is no room."""
    if context.address is None or context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can set goals, in a room.")
    if context.is_child or context.scheduled:
        raise ToolRetry("Only a conversation can set a goal: somebody has to agree to it.")
    return TaskActor(context.address, context.session, context.run_id, context.requester, f"{context.call_id}:{text}")

"""Tools that hand work to other agents, and look after what was handed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Protocol

from runtime.contract import (
    Child,
    ChildState,
    Effect,
    Flow,
    Json,
    Now,
    Order,
    Reads,
    RunId,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.glyphs import clip
from tools.kit.declare import FunctionTool, tool

GOAL_MAX_CHARS: Final = 8_000
MOST_ORDERS: Final = 5
"""Pieces of work in one call."""
MINUTES_MAX: Final = 1_000_000
MICROS_A_DOLLAR: Final = 1_000_000
LEAST_DOLLARS: Final = 0.0001
MOST_DOLLARS: Final = 100_000
"""Bounds of a budget that an order names."""
LISTED_CHARS: Final = 120
"""Characters of a goal in a list."""
HANDED_ON: Final = Flow(Reads.OURS, stays=True, carries={})
NEVER_CALLED: Final = "Other agents work on this, so it cannot be called."


class Children(Protocol):
    """Children of a run, as these tools need them."""

    async def children_of(self, run: RunId) -> list[Child]: ...

    async def stop(self, parent: RunId, child: RunId, by: str) -> bool:
        """End one, and all that it handed on; whether there was such a child at work."""


@tool(effect=Effect.READ, flow=HANDED_ON, seldom=True)
def delegate(
    goal: Annotated[str, "All it needs to know: it sees nothing else."],
    context: ToolContext,
    agent: Annotated[str, "None for a copy of yourself."] = "",
    criteria: Annotated[str, "When it is done."] = "",
    files: Annotated[list[str] | None, "Paths that it gets."] = None,
    schema: Annotated[dict[str, Any] | None, "A JSON schema of its answer."] = None,
    wait: Annotated[bool, "False: the end is told here later."] = True,
    minutes: Annotated[int, "Its time, 1-1440."] = 10,
    budget: Annotated[float, "US dollars, at most."] = 0.0,
) -> str:
    """Hand a piece of work to another agent and get its answer."""
    raise ToolFailed(NEVER_CALLED)


@tool(effect=Effect.READ, flow=HANDED_ON, seldom=True)
def delegate_many(
    goals: Annotated[list[str], "Up to 5."],
    context: ToolContext,
    agents: Annotated[list[str] | None, "In the order of the goals."] = None,
    criteria: Annotated[str, "When each is done."] = "",
    minutes: Annotated[int, "For each."] = 10,
    budget: Annotated[float, "For each."] = 0.0,
) -> str:
    """Hand several pieces of work to agents at once, and get all answers."""
    raise ToolFailed(NEVER_CALLED)


def one_order(arguments: Mapping[str, Json]) -> list[Order]:
    """The order of a call of `delegate`. Errors: ToolRetry."""
    delegate.check(arguments)
    return [
        Order(
            agent=arguments.get("agent", "").strip(),
            goal=_goal(arguments["goal"]),
            criteria=arguments.get("criteria", "").strip(),
            files=tuple(arguments.get("files") or ()),
            schema=arguments.get("schema") or {},
            awaits=arguments.get("wait", True),
            time=_time(arguments),
            budget_micros=_budget(arguments),
        )
    ]


def many_orders(arguments: Mapping[str, Json]) -> list[Order]:
    """The orders of a call of `delegate_many`. Errors: ToolRetry."""
    delegate_many.check(arguments)
    goals, agents = arguments["goals"], arguments.get("agents") or []
    if not 0 < len(goals) <= MOST_ORDERS:
        raise ToolRetry(f"Give 1 to {MOST_ORDERS} goals. Nothing was begun.")
    if agents and len(agents) != len(goals):
        raise ToolRetry("Give an agent for each goal, or none. Nothing was begun.")
    criteria, time = arguments.get("criteria", "").strip(), _time(arguments)
    names, budget = agents or [""] * len(goals), _budget(arguments)
    return [
        Order(agent=name.strip(), goal=_goal(goal), criteria=criteria, time=time, budget_micros=budget)
        for goal, name in zip(goals, names, strict=True)
    ]


def _goal(text: str) -> str:
    goal = text.strip()
    if not 0 < len(goal) <= GOAL_MAX_CHARS:
        raise ToolRetry(f"Give a goal of at most {GOAL_MAX_CHARS:,} characters. Nothing was begun.")
    return goal


def _time(arguments: Mapping[str, Any]) -> timedelta:
    """The order's time, which is looked at with the others of a run. A number that no duration holds is too long all the same."""
    return timedelta(minutes=min(max(arguments.get("minutes", 10), 0), MINUTES_MAX))


def _budget(arguments: Mapping[str, Json]) -> int:
    """In millionths of a dollar; 0 for none."""
    named: float = arguments.get("budget", 0.0)
    if named and not LEAST_DOLLARS <= named <= MOST_DOLLARS:
        raise ToolRetry(f"Give a budget of {LEAST_DOLLARS:g} to {MOST_DOLLARS:,} dollars, or none. Nothing was begun.")
    return round(named * MICROS_A_DOLLAR)


DELEGATE: Final = replace(delegate, spec=replace(delegate.spec, hands=one_order))
DELEGATE_MANY: Final = replace(delegate_many, spec=replace(delegate_many.spec, hands=many_orders))


class HandsOver(Protocol):
    """Hand-overs of a run's conversation."""

    async def hand_over(self, agent: str, text: str, context: ToolContext) -> str:
        """Have another agent answer next; words for the model. Errors: ToolError, and nothing was handed over."""


def delegation_tools(children: Children, hands: HandsOver, now: Now) -> dict[str, Tool]:
    """The tools by name."""
    own = (DELEGATE, DELEGATE_MANY, _children_tool(children, now), _stop_tool(children), _hand_over_tool(hands))
    return {one.spec.name: one for one in own}


def _hand_over_tool(hands: HandsOver) -> FunctionTool:
    @tool(effect=Effect.READ, flow=HANDED_ON, seldom=True)
    async def hand_over(
        agent: Annotated[str, "Who answers next."],
        text: Annotated[str, "All it needs to know."],
        context: ToolContext,
    ) -> str:
        """Hand this conversation over: another agent answers the person."""
        return await hands.hand_over(agent.strip(), _goal(text), context)

    return hand_over


def _children_tool(known: Children, now: Now) -> FunctionTool:
    @tool(effect=Effect.READ, flow=HANDED_ON, polls=True, seldom=True)
    async def children(context: ToolContext) -> str:
        """The work that this answer handed on, and how it stands."""
        found = await known.children_of(context.run_id)
        return "\n".join(line_of(child, now()) for child in found) or "Nothing was handed on."

    return children


def _stop_tool(known: Children) -> FunctionTool:
    @tool(effect=Effect.READ, flow=HANDED_ON, seldom=True)
    async def stop_child(
        child: Annotated[str, "Its id, as `children` tells it."],
        context: ToolContext,
    ) -> str:
        """End work that was handed on."""
        if await known.stop(context.run_id, RunId(child.strip()), "its parent"):
            return "It ends now."
        raise ToolRetry(f"No such work is under way: {child[:60]!r}. `children` lists it.")

    return stop_child


def line_of(child: Child, now: datetime) -> str:
    """A child in one line."""
    goal = clip(" ".join(child.goal.split()), LISTED_CHARS)
    took = (child.ended_at or now) - (child.created_at or now)
    state = "at work" if child.state is ChildState.OPEN else child.state.value
    return f"- {child.id} {child.agent}: {state}, {took.total_seconds():.0f} s. {goal}"

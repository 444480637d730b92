"""ChosenModel of the model for a request: by what people or the run want, by kind of work, by how complex it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.contract import AssistantTurn, ChosenModel, ModelRequest, UserTurn, Work

LAST_TURNS: Final = 20
"""Turns of a conversation that its complexity is counted by."""

CHARACTERS_A_TOKEN: Final = 4
FOR_A_TOOL_CALL: Final = 20
FOR_A_CODE_MARK: Final = 30
CODE: Final = re.compile(
    r"^```|^\s*(?:def|class|import|from|function|const|SELECT)\s\w+|Traceback \(most recent", re.MULTILINE
)
PLAN: Final = re.compile(r"\b(?:plan|roadmap|step by step|break (?:it|this) down)\b", re.IGNORECASE)
PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Route:
    """A model that requests may go to. `name` is what people call it, `price` what a million tokens cost, both ways together.

    None is a price that nobody knows.
    """

    name: str
    works: tuple[Work, ...] = ()
    least_complexity: int | None = None
    price: Callable[[], float | None] = field(default=lambda: None, compare=False)


def chosen(routes: Sequence[Route], request: ModelRequest) -> ChosenModel:
    """Of `routes`, the first of which is the usual one, that for `request`."""
    names = [route.name for route in routes]
    if request.cheapest:
        return ChosenModel(cheapest(routes).name, "a budget is spent: the cheapest")
    if request.kept in names:
        return ChosenModel(request.kept, "the run began with it")
    if request.wanted in names:
        return ChosenModel(request.wanted, "chosen for this conversation")
    if request.own in names:
        return ChosenModel(request.own, "the agent's own")
    work = work_of(request)
    if found := next((route for route in routes if work in route.works), None):
        return ChosenModel(found.name, f"for {work.value}")
    score = complexity(request)
    able = [route for route in routes if route.least_complexity is not None and route.least_complexity <= score]
    if able:
        best = max(able, key=lambda route: route.least_complexity or 0)
        return ChosenModel(best.name, f"complexity {score}, at least {best.least_complexity}")
    return ChosenModel(names[0])


def cheapest(routes: Sequence[Route]) -> Route:
    """The first of those with the least price; one without a price costs perhaps the most."""
    prices = [route.price() for route in routes]
    return routes[min(range(len(routes)), key=lambda at: (prices[at] is None, prices[at] or 0.0))]


def work_of(request: ModelRequest) -> Work:
    """Kind of work: as it was asked for, else by what people said last."""
    if request.work is not Work.CHAT:
        return request.work
    said = last_said(request)
    if any(PICTURE.search(file.path) for turn in said for file in turn.files):
        return Work.VISION
    words = "\n".join(turn.text for turn in said)
    if CODE.search(words):
        return Work.CODING
    return Work.PLANNING if PLAN.search(words) else Work.CHAT


def complexity(request: ModelRequest) -> int:
    """Tokens of what people said last, 20 for each tool call and 30 for each mark of code in the last turns, and their number."""
    near = request.turns[-LAST_TURNS:]
    tokens = sum(len(turn.text) for turn in last_said(request)) // CHARACTERS_A_TOKEN
    calls = sum(len(turn.calls) for turn in near if isinstance(turn, AssistantTurn))
    marks = sum(len(CODE.findall(turn.text)) for turn in near if isinstance(turn, UserTurn))
    return tokens + calls * FOR_A_TOOL_CALL + marks * FOR_A_CODE_MARK + len(near)


def last_said(request: ModelRequest) -> list[UserTurn]:
    """Words of people since the model spoke."""
    found: list[UserTurn] = []
    for turn in reversed(request.turns):
        if isinstance(turn, AssistantTurn):
            break
        if isinstance(turn, UserTurn):
            found.append(turn)
    return found[::-1]

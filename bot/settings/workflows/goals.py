"""`[goals]`: bounds of goals and sprints, and who judges them."""

from __future__ import annotations

from pydantic import Field

from runtime.domain.goals.contract import GOAL_MINUTES_MAX, MOST_BUDGET, SPRINTS_MAX, TURNS_MAX
from runtime.settings.types import Number, Section, Whole


class GoalsSection(Section):
    """Goals that are worked on until another model accepts the result: [goals.md](goals.md)."""

    turns: Whole = Field(default=TURNS_MAX, ge=1, le=TURNS_MAX, description="Turns of a goal, at most.")
    sprints: Whole = Field(
        default=SPRINTS_MAX,
        ge=1,
        le=SPRINTS_MAX,
        description="Sprints of a task of an agent that works in them, at most.",
    )
    minutes: Whole = Field(
        default=240,
        ge=1,
        le=GOAL_MINUTES_MAX,
        description="Minutes of a goal once it's agreed, at most, and of such a task.",
    )
    budget: Number = Field(
        default=0.0,
        ge=0,
        le=MOST_BUDGET,
        description="USD that each may cost with all that it hands on; 0: no bound of its own.",
    )
    judge: str = Field(
        default="",
        description="Name of the model that judges. Default: the first of `[model]` and `[[models]]` that the agent doesn't work with, else the same.",
    )

"""`[budgets]`: bounds of what is spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from runtime.policy.budgets import DOLLAR, MONEY, NO_BUDGETS, BudgetRules, Scope, Then
from runtime.settings.types import Number, Section, Whole

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

LEAST: float = 0.0001
MOST: float = 1e9


def dollars(what: str) -> Any:
    return Field(default=None, ge=LEAST, le=MOST, description=f"USD that {what}. Without it, there is no limit.")


class BudgetSection(Section):
    """Bounds of what is spent: [models.md](models.md#budgets)."""

    day: Number | None = dollars("everybody together may spend in a day (UTC)")
    month: Number | None = dollars("everybody together may spend in a month (UTC)")
    person_day: Number | None = dollars("each person may spend in a day")
    room_day: Number | None = dollars("each room may spend in a day, with all of its threads")
    agent_day: Number | None = dollars("each agent may spend in a day")
    agent_tokens_hour: Whole | None = Field(
        default=None, ge=1, le=10**15, description="Tokens that each agent may read and write in an hour."
    )
    agent_calls_hour: Whole | None = Field(
        default=None, ge=1, le=10**12, description="Model calls that each agent may make in an hour."
    )
    warn_at: Number = Field(default=0.8, gt=0, le=1, description="Share of a budget at which people are warned, once.")
    over: Literal["stop", "cheapest", "ask"] = Field(
        default="stop",
        description='What happens once a budget is spent: "stop" ends the work with a sentence, "cheapest" continues with the '
        'cheapest model of `[[models]]`, "ask" asks an approver if this request may continue.',
    )
    unpriced: Literal["warn", "refuse"] = Field(
        default="warn",
        description='Calls to a model without a known price: "warn" counts their tokens and tells operators, "refuse" does '
        "not make them.",
    )
    hold: Number = Field(
        default=NO_BUDGETS.hold / DOLLAR,
        ge=LEAST,
        le=1000,
        description="USD held for each call until its cost is known; if the run's previous call cost more, that much.",
    )

    @property
    def rules(self) -> BudgetRules:
        limits = {
            scope: round(value * DOLLAR) if scope in MONEY else int(value)
            for scope in Scope
            if (value := getattr(self, scope.value)) is not None
        }
        return BudgetRules(limits, self.warn_at, Then(self.over), round(self.hold * DOLLAR))


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Faults that only show beside other tables."""
    if layers.get("budgets.over") == Then.CHEAPEST and not layers.tables("models"):
        yield "budgets.over", 'is "cheapest", but there is only one model; add others under [[models]]'

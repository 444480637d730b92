"""The call by which a run asks people to go on beyond a budget. No model is offered it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from runtime.contract import SPEND_MORE, Effect, Flow, Reads
from tools.kit.declare import tool


@tool(effect=Effect.DANGER, idempotent=True, flow=Flow(Reads.OURS, stays=True))
def spend_beyond_budget(
    budget: Annotated[str, "The budget that is spent."],
    spent: Annotated[str, "The amount that was spent."],
    limit: Annotated[str, "The limit of the budget."],
    starts_again: Annotated[str, "When it starts again."],
) -> str:
    """Go on with this request although a budget is spent."""
    return f"Allowed: this request may go on beyond {budget}."


SPEND_BEYOND_BUDGET: Final = replace(
    spend_beyond_budget, spec=replace(spend_beyond_budget.spec, name=SPEND_MORE, untold=True)
)

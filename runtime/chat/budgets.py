"""Words about budgets: what is spent, what is left, and when it starts again. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from typing import Final

from runtime.contract import SPEND_MORE, Call, ModelReply, Usage
from runtime.domain.schedules import NO_MODEL
from runtime.markup.moments import moment
from runtime.policy.budgets import DOLLAR, MONEY, BudgetRules, Counter, Exceeded, Level, Scope

TITLES: Final = {
    Scope.DAY: "today's budget for everybody",
    Scope.MONTH: "this month's budget for everybody",
    Scope.PERSON_DAY: "your budget for today",
    Scope.ROOM_DAY: "this room's budget for today",
    Scope.AGENT_DAY: "this agent's budget for today",
    Scope.AGENT_TOKENS_HOUR: "this agent's tokens for this hour",
    Scope.AGENT_CALLS_HOUR: "this agent's model calls for this hour",
}
FOR_OPERATORS: Final = {
    **TITLES,
    Scope.PERSON_DAY: "today's budget of",
    Scope.ROOM_DAY: "today's budget of",
    Scope.AGENT_DAY: "today's budget of the agent",
    Scope.AGENT_TOKENS_HOUR: "this hour's tokens of the agent",
    Scope.AGENT_CALLS_HOUR: "this hour's model calls of the agent",
}
UNPRICED: Final = "calls had no known price and are missing from these sums; set `input_price` and `output_price`"


def amount(scope: Scope, number: int) -> str:
    """A sum in the unit of its budget.

    >>> amount(Scope.DAY, 1_500_000), amount(Scope.ROOM_DAY, 1_200), amount(Scope.AGENT_CALLS_HOUR, 1)
    ('$1.50', '$0.0012', '1 call')
    """
    if scope in MONEY:
        return f"${number / DOLLAR:,.2f}" if number >= DOLLAR // 10 or not number else f"${number / DOLLAR:.4f}"
    noun = "token" if scope is Scope.AGENT_TOKENS_HOUR else "call"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def share(scope: Scope, part: int, whole: int) -> str:
    """`part` of a budget of `whole`.

    >>> share(Scope.DAY, 1_500_000, 2_000_000), share(Scope.AGENT_CALLS_HOUR, 1, 3)
    ('$1.50 of $2.00', '1 of 3 calls')
    """
    first = amount(scope, part) if scope in MONEY else f"{part:,}"
    return f"{first} of {amount(scope, whole)}"


def _is(scope: Scope) -> str:
    return "is" if scope in MONEY else "are"


def spent(over: Exceeded, clocks: tzinfo = UTC) -> str:
    """Last words of a run that no budget allows another call."""
    title, when = TITLES[over.scope], moment(over.ends_at, clocks)
    if over.is_held:
        return (
            f"I stopped here: the rest of {title} ({amount(over.scope, over.limit)}) is held for requests under way. "
            f"Ask again in a minute. The budget starts again at {when}."
        )
    words = (
        f"I stopped here: {title} {_is(over.scope)} spent ({share(over.scope, over.used, over.limit)}). "
        f"I can go on at {when}."
    )
    return words if over.was_asked else f"{words} If this can't wait, ask an operator to raise the limit."


def question(over: Exceeded, call_id: str) -> ModelReply:
    """The call by which people are asked to let a run go on, in place of the model's next one."""
    told = {
        "budget": TITLES[over.scope],
        "spent": amount(over.scope, over.used),
        "limit": amount(over.scope, over.limit),
        "starts_again": f"{over.ends_at:%Y-%m-%d %H:%M} UTC",
    }
    return ModelReply("", (Call(call_id, SPEND_MORE, json.dumps(told)),), Usage(NO_MODEL))


def warned(counter: Counter, limit: int, name: str = "") -> str:
    """Words to a room or a person, called `name`, whose budget will soon be spent."""
    title, used = (
        f"{name}'s budget for today" if name else TITLES[counter.scope],
        share(counter.scope, counter.used, limit),
    )
    words = f"{title[0].upper()}{title[1:]} {_is(counter.scope)} nearly spent: {used}."
    return f"{words} A new budget starts at {moment(counter.ends_at)}."


def alarm(counter: Counter, limit: int, whose: str) -> str:
    """Words to operators, of a budget that is nearly spent or spent."""
    title = " ".join(filter(None, [FOR_OPERATORS[counter.scope], whose]))
    state = "spent" if counter.level is Level.REACHED else "nearly spent"
    used = share(counter.scope, counter.used, limit)
    return (
        f"**{title[0].upper()}{title[1:]} {_is(counter.scope)} {state}**: {used}. A new budget starts at "
        f"{moment(counter.ends_at)}. To change it, set `budgets.{counter.scope}`."
    )


def unpriced(model: str) -> str:
    """Words to operators, of a model whose calls no budget can count in dollars."""
    return (
        f"**Nobody knows what the model {model} costs**, so no budget in dollars counts its calls. Set `input_price` and "
        '`output_price` for it, or `budgets.unpriced = "refuse"`.'
    )


def left(rules: BudgetRules, counters: Iterable[Counter]) -> Sequence[str]:
    """Lines of `/usage` on what is left, and on what could not be counted."""
    lines = []
    unpriced = 0
    for counter in counters:
        limit = rules.limit(counter)
        rest = max(0, limit - counter.used - counter.under_way)
        told = f"{share(counter.scope, rest, limit)} left"
        lines.append(f"- {TITLES[counter.scope]}: {told}, until {moment(counter.ends_at)}")
        unpriced = max(unpriced, counter.unpriced)
    return [*lines, *([f"- {unpriced:,} {UNPRICED}"] if unpriced else [])]

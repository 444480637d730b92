"""Words about budgets: what is spent, what is left, and when it starts again. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, tzinfo
from typing import Final

from runtime.contract import SPEND_MORE, Call, ModelReply, Usage
from runtime.domain.schedules import NO_MODEL
from runtime.policy.budgets import DOLLAR, MONEY, BudgetRules, Counter, Exceeded, Level, Scope
from runtime.text.words import count, decimal, marked, moment, say, several

TITLES: Final = {
    Scope.DAY: marked("today's budget for everybody"),
    Scope.MONTH: marked("this month's budget for everybody"),
    Scope.PERSON_DAY: marked("your budget for today"),
    Scope.ROOM_DAY: marked("this room's budget for today"),
    Scope.AGENT_DAY: marked("this agent's budget for today"),
    Scope.AGENT_TOKENS_HOUR: marked("this agent's tokens for this hour"),
    Scope.AGENT_CALLS_HOUR: marked("this agent's model calls for this hour"),
}
FOR_OPERATORS: Final = {
    **TITLES,
    Scope.PERSON_DAY: marked("today's budget of"),
    Scope.ROOM_DAY: marked("today's budget of"),
    Scope.AGENT_DAY: marked("today's budget of the agent"),
    Scope.AGENT_TOKENS_HOUR: marked("this hour's tokens of the agent"),
    Scope.AGENT_CALLS_HOUR: marked("this hour's model calls of the agent"),
}
UNPRICED: Final = marked(
    "calls had no known price and are missing from these sums; set `input_price` and `output_price`"
)


def amount(scope: Scope, number: int) -> str:
    """A sum in the unit of its budget.

    >>> amount(Scope.DAY, 1_500_000), amount(Scope.ROOM_DAY, 1_200), amount(Scope.AGENT_CALLS_HOUR, 1)
    ('$1.50', '$0.0012', '1 call')
    """
    if scope in MONEY:
        told = f"{number / DOLLAR:,.2f}" if number >= DOLLAR // 10 or not number else f"{number / DOLLAR:.4f}"
        return say("${amount}", amount=decimal(told))
    return several(number, "token") if scope is Scope.AGENT_TOKENS_HOUR else several(number, "call")


def share(scope: Scope, part: int, whole: int) -> str:
    """`part` of a budget of `whole`.

    >>> share(Scope.DAY, 1_500_000, 2_000_000), share(Scope.AGENT_CALLS_HOUR, 1, 3)
    ('$1.50 of $2.00', '1 of 3 calls')
    """
    first = amount(scope, part) if scope in MONEY else count(part)
    return say("{part} of {whole}", part=first, whole=amount(scope, whole))


def _is(scope: Scope) -> str:
    return say("is") if scope in MONEY else say("are")


def spent(over: Exceeded, clocks: tzinfo = UTC) -> str:
    """Last words of a run that no budget allows another call."""
    title, when = say(TITLES[over.scope]), moment(over.ends_at, clocks)
    if over.is_held:
        return say(
            "I stopped here: the rest of {title} ({limit}) is held for requests under way. Ask again "
            "in a minute. The budget starts again at {when}.",
            title=title,
            limit=amount(over.scope, over.limit),
            when=when,
        )
    words = say(
        "I stopped here: {title} {are} spent ({share}). I can go on at {when}.",
        title=title,
        are=_is(over.scope),
        share=share(over.scope, over.used, over.limit),
        when=when,
    )
    return (
        words if over.was_asked else say("{words} If this can't wait, ask an operator to raise the limit.", words=words)
    )


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
        say("{name}'s budget for today", name=name) if name else say(TITLES[counter.scope]),
        share(counter.scope, counter.used, limit),
    )
    words = say(
        "{upper}{title} {are} nearly spent: {used}.",
        upper=title[0].upper(),
        title=title[1:],
        are=_is(counter.scope),
        used=used,
    )
    return say("{words} A new budget starts at {ends_at}.", words=words, ends_at=moment(counter.ends_at))


def alarm(counter: Counter, limit: int, whose: str) -> str:
    """Words to operators, of a budget that is nearly spent or spent."""
    title = " ".join(filter(None, [say(FOR_OPERATORS[counter.scope]), whose]))
    state = say("spent") if counter.level is Level.REACHED else say("nearly spent")
    used = share(counter.scope, counter.used, limit)
    return say(
        "**{upper}{title} {are} {state}**: {used}. A new budget starts at {ends_at}. To change "
        "it, set `budgets.{setting}`.",
        upper=title[0].upper(),
        title=title[1:],
        are=_is(counter.scope),
        state=state,
        used=used,
        ends_at=moment(counter.ends_at),
        setting=counter.scope,
    )


def unpriced(model: str) -> str:
    """Words to operators, of a model whose calls no budget can count in dollars."""
    return say(
        "**Nobody knows what the model {model} costs**, so no budget in dollars counts its "
        "calls. Set `input_price` and `output_price` for it (`price`, where it makes pictures, listens or speaks), or "
        '`budgets.unpriced = "refuse"`.',
        model=model,
    )


def left(rules: BudgetRules, counters: Iterable[Counter]) -> Sequence[str]:
    """Lines of `/usage` on what is left, and on what could not be counted."""
    lines = []
    unpriced = 0
    for counter in counters:
        limit = rules.limit(counter)
        rest = max(0, limit - counter.used - counter.under_way)
        told = say("{share} left", share=share(counter.scope, rest, limit))
        lines.append(
            say(
                "- {title}: {told}, until {ends_at}",
                title=say(TITLES[counter.scope]),
                told=told,
                ends_at=moment(counter.ends_at),
            )
        )
        unpriced = max(unpriced, counter.unpriced)
    return [*lines, *([f"- {count(unpriced)} {say(UNPRICED)}"] if unpriced else [])]

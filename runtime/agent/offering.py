"""Tools that a model's request carries: those that may be called there, and of many those that are needed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from runtime.contract import FIND_TOOLS, AssistantTurn, Effect, ToolSpec, ToolTurn, Turn, found_in
from runtime.policy.modes import Mode
from runtime.policy.rules import Ask, Policy

OFFERED_MAX: Final = 40
"""From more tools than these, beside those that are seldom needed, only the most used are offered, and those that were found."""

MOST_USED: Final = 15
NAMED_MAX: Final = 40
"""Names of others, told with the tool that finds them or with why they are not there."""
FAMILY_MIN: Final = 3
"""Tools whose names begin with the same word, from which on that word stands for all of them."""

READ_ONLY: Final = "the conversation is read-only"
BECAUSE: Final = ": "
"""Between the rule that denies a tool and its reason."""
SELDOM: Final = f"seldom needed: {FIND_TOOLS} finds it"
LESS_USED: Final = f"not among the {MOST_USED} most used: {FIND_TOOLS} finds it"


@dataclass(frozen=True, slots=True)
class Offered:
    """Tools of a request, in the order in which it carries them, and of every other one why it is not there.

    `hidden` are those that are carried once a conversation found them.
    """

    tools: tuple[ToolSpec, ...]
    withheld: Mapping[str, str]
    hidden: Mapping[str, ToolSpec] = field(default_factory=dict)

    @property
    def denied(self) -> Mapping[str, str]:
        """Tools that may not be called there at all, each with its reason."""
        return {name: why for name, why in self.withheld.items() if name not in self.hidden}


Denied = Callable[[ToolSpec], str]
"""The reason for which no call of a tool would run, whatever its arguments; empty where one may."""


def nothing_denied(_tool: ToolSpec) -> str:
    """Where no rule denies anything."""
    return ""


def denied_by(policy: Policy, asks: Callable[[ToolSpec], Ask], mode: Mode) -> Denied:
    """Reasons by the rules and by the mode of a conversation. A call that is made all the same goes by both again."""
    if not policy.denies_some and mode is not Mode.READ_ONLY:
        return nothing_denied  # a request has many tools

    def denied(tool: ToolSpec) -> str:
        if policy.may_deny(tool.name) and (rule := policy.denies_all(asks(tool))):
            whose = f"the rule {rule.name!r} denies it" if rule.name else "the policy denies it here"
            return f"{whose}{BECAUSE}{rule.reason}" if rule.reason else whose
        return READ_ONLY if mode is Mode.READ_ONLY and tool.effect is not Effect.READ else ""

    return denied


def allowed(tools: Iterable[ToolSpec], denied: Denied) -> tuple[list[ToolSpec], dict[str, str]]:
    """Tools that may perhaps be called, and of the others why not."""
    if denied is nothing_denied:
        return list(tools), {}
    reasons = {tool.name: why for tool in tools if (why := denied(tool))}
    return [tool for tool in tools if tool.name not in reasons], reasons


def kept_back(reasons: Mapping[str, str]) -> str:
    """Line of a prompt on the tools that rules deny there, so that the agent can say why it can't do a thing; or empty."""
    names = [_with_reason(name, why) for name, why in reasons.items() if why != READ_ONLY]
    if not names:
        return ""
    more = f" and {len(names) - NAMED_MAX:,} more" if len(names) > NAMED_MAX else ""
    return (
        f"- A rule keeps these tools from you here; say so if somebody needs one: {', '.join(names[:NAMED_MAX])}{more}."
    )


def _with_reason(name: str, why: str) -> str:
    """A tool, with the words that its rule has for people."""
    _, _, reason = why.partition(BECAUSE)
    return f"{name} ({reason.rstrip('.')})" if reason else name


def offered(tools: Sequence[ToolSpec], denied: Denied, most_used: Sequence[str] = ()) -> Offered:
    """The tools of a conversation that has not found any yet."""
    open_to, withheld = allowed(tools, denied)
    by_name = {tool.name: tool for tool in open_to}
    finder = by_name.pop(FIND_TOOLS, None)
    if finder is None:
        return Offered(tuple(open_to), withheld)
    reasons = _hidden(list(by_name.values()), most_used)
    if not reasons:
        return Offered(tuple(by_name.values()), withheld)
    usual = [tool for name, tool in by_name.items() if name not in reasons]
    hidden = {name: by_name[name] for name in reasons}
    return Offered((*usual, _naming(finder, list(hidden))), withheld | reasons, hidden)


def with_found(offer: Offered, turns: Iterable[Turn]) -> Offered:
    """The same for a conversation with these turns: what was found or called there stays, so that a kill changes nothing.

    It stands behind what is always offered: a vendor's cache keeps the beginning.
    """
    names: list[str] = []
    for turn in turns:
        match turn:
            case ToolTurn(_, tool, text) if tool == FIND_TOOLS:
                names += found_in(text)
            case AssistantTurn(_, calls):
                names += [call.tool for call in calls]
            case _:
                pass
    found = {name: offer.hidden[name] for name in names if name in offer.hidden}
    if not found:
        return offer
    still = {name: why for name, why in offer.withheld.items() if name not in found}
    return replace(offer, tools=(*offer.tools, *found.values()), withheld=still)


def are_many(tools: Iterable[ToolSpec]) -> bool:
    """True if not all that are often needed are offered."""
    return len([tool for tool in tools if not tool.seldom]) > OFFERED_MAX


def _hidden(tools: Sequence[ToolSpec], most_used: Sequence[str]) -> dict[str, str]:
    """Names of the tools that a request does not carry unless they were found, each with its reason."""
    usual = [tool.name for tool in tools if not tool.seldom]
    if len(usual) < OFFERED_MAX:  # with the one that finds
        return {tool.name: SELDOM for tool in tools if tool.seldom}
    names = {tool.name for tool in tools}
    ranked = dict.fromkeys([*(name for name in most_used if name in names), *usual])
    kept = set(list(ranked)[:MOST_USED])
    return {tool.name: LESS_USED for tool in tools if tool.name not in kept}


def _naming(finder: ToolSpec, hidden: Sequence[str]) -> ToolSpec:
    """The tool that finds others, with their names."""
    names = families(hidden)
    more = f", and {len(names) - NAMED_MAX:,} more" if len(names) > NAMED_MAX else ""
    return replace(finder, description=f"{finder.description} There are: {', '.join(names[:NAMED_MAX])}{more}.")


def families(names: Sequence[str]) -> list[str]:
    """Names in their order, where several that begin with the same word are one.

    >>> families(["git_log", "query", "git_diff", "git_push", "task_post"])
    ['git_*', 'query', 'task_post']
    """
    counts = Counter(name.partition("_")[0] for name in names if "_" in name)
    told = (f"{word}_*" if counts[word := name.partition("_")[0]] >= FAMILY_MIN else name for name in names)
    return list(dict.fromkeys(told))

"""Explanation of a decision (run, ask or deny): each rule's conditions, and which of them hold. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Effect, Json
from runtime.policy.modes import Mode
from runtime.policy.rules import (
    SHIPPED,
    SPEAKS,
    Ask,
    By,
    Facts,
    Policy,
    Rule,
    Ruling,
    has_argument,
    holds,
    is_for,
    rule,
)

EFFECT_WORDS: Final = {
    Effect.READ: "only reads",
    Effect.WRITE: "changes what people own",
    Effect.DANGER: "may change anything",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a rule: the setting, as the rule words it, and the words about this call."""

    setting: str
    wanted: str
    got: str
    holds: bool

    @property
    def is_about_arguments(self) -> bool:
        return "." in self.setting


@dataclass(frozen=True, slots=True)
class Considered:
    """A rule that was looked at. `number` counts the rules of the settings from 1; None for one that is built in."""

    number: int | None
    rule: Rule
    conditions: tuple[Condition, ...]

    @property
    def title(self) -> str:
        """The rule for people: `rule 2 ("pushes")`."""
        if self.number is None:
            return "a built-in rule"
        return f'rule {self.number} ("{self.rule.name}")' if self.rule.name else f"rule {self.number}"

    @property
    def failed(self) -> Condition | None:
        """The first condition that does not hold; None for a rule that fits."""
        return next((one for one in self.conditions if not one.holds), None)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The ruling, the rule behind it (None where the effect decides), and the rules asked before it, which do not fit.

    `mode` is that of the conversation, where it decides. `depending` are those among them that only arguments keep from fitting: other arguments get another ruling.
    """

    ruling: Ruling
    effect: Effect
    by: Considered | None
    passed: tuple[Considered, ...]
    mode: Mode = Mode.NORMAL
    is_owners: bool = False

    @property
    def why(self) -> str:
        """The reason in one sentence."""
        if self.mode is not Mode.NORMAL:
            return f"The mode {self.mode} comes before the rules."
        if self.is_owners:
            return "Each call of it is an owner's to say, whatever the rules allow."
        if self.by is not None:
            title = f"{self.by.title[0].upper()}{self.by.title[1:]}"
            return f"{title} vetoes it. Nothing lifts that." if self.ruling is Ruling.VETO else f"{title} decides."
        return f"No rule matches, and a tool that {EFFECT_WORDS[self.effect]} is {PAST[self.ruling]}."

    @property
    def reason(self) -> str:
        """Words of the rule that decides, or nothing."""
        return self.by.rule.reason if self.by and self.mode is Mode.NORMAL else ""

    @property
    def limit(self) -> str:
        """The limit of the rule in words, or nothing."""
        limit = self.by.rule.limit if self.by else None
        return f"{limit.words} of this tool for each person and agent" if limit else ""

    @property
    def depending(self) -> tuple[Considered, ...]:
        return tuple(
            one for one in self.passed if all(each.holds or each.is_about_arguments for each in one.conditions)
        )


PAST: Final = {Ruling.ALLOW: "allowed", Ruling.ASK: "asked about", Ruling.DENY: "denied", Ruling.VETO: "vetoed"}


def explained(policy: Policy, ask: Ask, mode: Mode = Mode.NORMAL) -> Explanation:
    """Explain the ruling of `policy` about a call in a conversation of this mode."""
    ruled = rule(policy, ask, Facts(mode=mode))
    by, passed = _considered(policy, ask)
    decides = mode if ruled.by is By.MODE else Mode.NORMAL
    return Explanation(ruled.result, ask.effect, by, passed, decides, ruled.by is By.OWNERS)


def _considered(policy: Policy, ask: Ask) -> tuple[Considered | None, tuple[Considered, ...]]:
    """The rule that fits, and those that are asked before it."""
    passed: list[Considered] = []
    shipped = next(
        (every for every in ((SPEAKS, *SHIPPED), tuple(SHIPPED)) if policy.rules[-len(every) :] == every), ()
    )
    built_in = len(shipped)
    own = len(policy.rules) - built_in
    numbered = sorted(enumerate(policy.rules, 1), key=lambda one: one[1].ruling is not Ruling.VETO)
    for number, one in numbered:
        considered = Considered(number if number <= own else None, one, tuple(conditions(one, ask)))
        if considered.failed is None:
            return considered, tuple(passed)
        passed.append(considered)
    return None, tuple(passed)


def conditions(rule: Rule, ask: Ask) -> Iterator[Condition]:
    """Conditions that `rule` sets, in the order in which it is written; what it leaves out fits anything."""
    if rule.tool != "*":
        yield _glob("tool", rule.tool, ask.tool)
    if rule.effect is not None:
        yield Condition("effect", rule.effect.value, ask.effect.value, rule.effect is ask.effect)
    if rule.agent != "*":
        yield _glob("agent", rule.agent, ask.agent)
    if rule.room != "*":
        yield _glob("room", rule.room, ask.room)
    if rule.person != "*":
        yield Condition("person", rule.person, _either(sorted(ask.names)), is_for(rule, ask.names))
    for name, glob in rule.arguments.items():
        value = ask.arguments.get(name)
        yield Condition(f"arguments.{name}", glob, _written(value), has_argument(value, glob))
    for name, matcher in rule.where.items():
        value = ask.arguments.get(name)
        yield Condition(f"where.{name}", str(matcher), _written(value), holds(rule.ruling, matcher, value))


def _glob(setting: str, glob: str, value: str) -> Condition:
    return Condition(setting, glob, value, fnmatchcase(value, glob))


def _either(names: Sequence[str]) -> str:
    return " or ".join(names)


def _written(value: Json) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

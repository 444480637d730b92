"""May this call run? Rules in order, then defaults by effect. No I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Effect, Json
from runtime.policy.matchers import Matcher
from runtime.policy.terms import NO_CHANGES, Changes, Terms
from runtime.text.naming import is_identity


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


DEFAULTS: Final[Mapping[Effect, Ruling]] = {
    Effect.READ: Ruling.ALLOW,
    Effect.WRITE: Ruling.ASK,
    Effect.DANGER: Ruling.ASK,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Texts are globs; what is left out matches anything.

    Every glob in `arguments` must match, and every matcher in `where` hold: surely for an allow, else perhaps. `tainted`:
    an allow holds after outside text too (`runtime.policy.taint`).
    """

    ruling: Ruling
    tool: str = "*"
    effect: Effect | None = None
    agent: str = "*"
    room: str = "*"
    person: str = "*"
    arguments: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Matcher] = field(default_factory=dict)
    name: str = ""
    asking: Changes = NO_CHANGES
    tainted: bool = False


OWN_PLANS: Final = (
    *("schedule_set", "schedule_change", "schedule_pause", "schedule_resume", "schedule_delete", "schedule_run"),
    "set_zone",
)
"""Tools that write, and only what the person who asks may change by themselves, in the room where they ask."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Question of a ruling. `room` is the address as the settings write it; `names` are those of whoever asked:
    name and identities, none when nobody did."""

    tool: str
    effect: Effect
    arguments: Mapping[str, Json]
    agent: str
    room: str
    names: frozenset[str]


SHIPPED: Final[Sequence[Rule]] = tuple(Rule(Ruling.ALLOW, name) for name in OWN_PLANS)
"""Rules that come after those of the settings: a rule there goes before them."""


class Policy:
    """Rules of which the first match wins; without one the effect decides. `version` changes with the rules.

    `terms` are those of every question, as far as its rule sets no others.
    """

    def __init__(self, rules: Sequence[Rule] = (), terms: Terms | None = None) -> None:
        self.rules = tuple(rules)
        self._terms = terms or Terms()
        told = [*(astuple(rule) for rule in self.rules), *([astuple(terms)] if terms else [])]
        self.version = hashlib.sha256(repr(told).encode()).hexdigest()[:12]

    def ruling(self, ask: Ask) -> Ruling:
        rule = self.rule(ask)
        return rule.ruling if rule else DEFAULTS[ask.effect]

    def rule(self, ask: Ask) -> Rule | None:
        """The rule that decides; None where the effect does."""
        return next((rule for rule in self.rules if matches(rule, ask)), None)

    def denies_all(self, ask: Ask) -> Rule | None:
        """The rule that denies every call like this one, whatever its arguments; None where one may perhaps be made."""
        for rule in self.rules:
            if not matches(replace(rule, arguments={}, where={}), ask):
                continue
            if not (rule.arguments or rule.where):
                return rule if rule.ruling is Ruling.DENY else None
            if rule.ruling is not Ruling.DENY:
                return None
        return None

    def terms(self, ask: Ask) -> Terms:
        """The terms of a question about this call."""
        rule = self.rule(ask)
        return rule.asking.made_to(self._terms, rule.name) if rule else self._terms


def matches(rule: Rule, ask: Ask) -> bool:
    return (
        fnmatchcase(ask.tool, rule.tool)
        and rule.effect in (None, ask.effect)
        and fnmatchcase(ask.agent, rule.agent)
        and fnmatchcase(ask.room, rule.room)
        and is_for(rule, ask.names)
        and all(has_argument(ask.arguments.get(name), glob) for name, glob in rule.arguments.items())
        and all(holds(rule.ruling, matcher, ask.arguments.get(name)) for name, matcher in rule.where.items())
    )


def is_for(rule: Rule, names: frozenset[str]) -> bool:
    """A glob gives rights to identities alone: people call themselves as they like, and a glob may fit that."""
    if rule.person == "*" or rule.person in names:
        return True
    sure = rule.ruling is Ruling.ALLOW
    return any(fnmatchcase(name, rule.person) for name in names if is_identity(name) or not sure)


def holds(ruling: Ruling, matcher: Matcher, value: Json) -> bool:
    """True if the matcher surely holds for an allow; for the others, if it perhaps does."""
    return matcher.surely(value) if ruling is Ruling.ALLOW else matcher.perhaps(value)


def has_argument(value: Json, glob: str) -> bool:
    """True if the argument is given and `glob` fits it as it is written."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value is not None and fnmatchcase(written, glob)

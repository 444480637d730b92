"""May this call run? Roles, vetoes, limits, modes, then the first rule that matches, else the effect. No I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Effect, Json, Role
from runtime.policy.grants import GrantId, grantable
from runtime.policy.limits import Limit, soon
from runtime.policy.matchers import Matcher
from runtime.policy.modes import READ_ONLY_REASON, Mode
from runtime.policy.terms import NO_CHANGES, Changes, Terms, of_owners
from runtime.text.naming import is_identity


class Ruling(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    VETO = "veto"  # denies, wherever the rule stands: no rule before it, grant or mode lifts that


GLOB_SIGNS: Final = frozenset("*?[")
DENYING: Final = frozenset({Ruling.DENY, Ruling.VETO})
DEFAULTS: Final[Mapping[Effect, Ruling]] = {
    Effect.READ: Ruling.ALLOW,
    Effect.WRITE: Ruling.ASK,
    Effect.DANGER: Ruling.ASK,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Texts are globs; what is left out matches anything.

    Every glob in `arguments` must match, and every matcher in `where` hold: surely for an allow, else perhaps. `reason` is
    for people and the model; beyond `limit` the calls that the rule decides are denied. `tainted`: an allow holds after
    outside text too (`runtime.policy.taint`). It isn't about tools that a glob of `spares` fits.
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
    reason: str = ""
    limit: Limit | None = None
    tainted: bool = False
    spares: tuple[str, ...] = ()


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


OWN_TASKS: Final = (
    *("task_post", "task_claim", "task_complete", "plan_set", "workflow_start", "goal_set"),
    *("watch_for", "watch_end"),
)
"""The same of tasks, whose runs may do no more than the person who asked, and of the checklist of a run."""

OWN_MEMORY: Final = ("remember", "relate", "forget", "state_set", "state_delete")
"""The same of what is kept for the person who asks; `forget` removes no more than they may."""

WIDER_SCOPES: Final[Mapping[str, Sequence[str]]] = {
    "remember": ("room", "agent"),
    "relate": ("room", "agent"),
    "state_set": ("agent",),
    "state_delete": ("agent",),
}
WIDER: Final = tuple(
    Rule(Ruling.ASK, tool, arguments={"scope": scope}) for tool, scopes in WIDER_SCOPES.items() for scope in scopes
)
"""What others have read too is asked about."""

OWNERS_SAY: Final = frozenset({"skill_propose"})
"""Tools whose every call is an owner's to say: what it leaves behind is words that agents obey. No rule, grant or mode answers."""

POSTS_HERE: Final = Rule(Ruling.ALLOW, "channel_send", arguments={"to": "here"})
"""A message in the very room where people ask for it."""

OWN_ROOM: Final = ("react", "edit_own")
"""The same of what the room shows: an emoji on a message there, and other words of the agent's own."""

SPEAKS: Final = Rule(Ruling.ALLOW, "speak")
"""A recording on the agent's own reply; shipped where a model speaks. Elsewhere the name is free for tools of others."""

SHIPPED: Final[Sequence[Rule]] = (
    *WIDER,
    *(Rule(Ruling.ALLOW, name) for name in (*OWN_PLANS, *OWN_TASKS, *OWN_MEMORY, *OWN_ROOM)),
    POSTS_HERE,
)
"""Rules that come after those of the settings: a rule there goes before them."""


class Policy:
    """Rules of which the first match wins, vetoes before all others; without one the effect decides.

    `in_order` are the rules as they are asked, and `denies_some` tells whether one of them denies anything at all. `version` changes with the rules. `terms` are those of every question, as far
    as its rule sets no others.
    """

    def __init__(self, rules: Sequence[Rule] = (), terms: Terms | None = None) -> None:
        self.rules = tuple(rules)
        self.in_order = tuple(sorted(self.rules, key=lambda rule: rule.ruling is not Ruling.VETO))
        named = {rule.tool for rule in self.rules if not is_glob(rule.tool)}
        self._named = {name: tuple(rule for rule in self.in_order if is_of(rule, name)) for name in named}
        self._others = tuple(rule for rule in self.in_order if rule.tool not in named)
        self._deniable = {name: _denies(rules) for name, rules in self._named.items()}
        self._deniable_others = _denies(self._others)
        self.denies_some = self._deniable_others or any(self._deniable.values())
        self._terms = terms or Terms()
        told = [*map(repr, self.rules), *([repr(terms)] if terms else [])]
        self.version = hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]

    def ruling(self, ask: Ask) -> Ruling:
        rule = self.rule(ask)
        return rule.ruling if rule else DEFAULTS[ask.effect]

    def rule(self, ask: Ask) -> Rule | None:
        """The rule that decides; None where the effect does."""
        return next((rule for rule in self._for(ask.tool) if matches(rule, ask)), None)

    def _for(self, tool: str) -> Sequence[Rule]:
        """Rules that may match a call of `tool`, in order. Most name one tool: a request asks about each of many."""
        return self._named.get(tool, self._others)

    def may_deny(self, tool: str) -> bool:
        """True if some rule can deny a call of `tool`, of whomever and wherever. Few rules do, and a request has many tools."""
        return self._deniable.get(tool, self._deniable_others)

    def denies_all(self, ask: Ask) -> Rule | None:
        """The rule that denies every call like this one, whatever its arguments; None where one may perhaps be made."""
        for rule in self._for(ask.tool):
            if not is_about(rule, ask):
                continue
            if not (rule.arguments or rule.where):
                return rule if rule.ruling in DENYING else None
            if rule.ruling not in DENYING:
                return None
        return None

    def terms(self, ask: Ask) -> Terms:
        """The terms of a question about this call."""
        rule = self.rule(ask)
        terms = rule.asking.made_to(self._terms, rule.name, rule.reason) if rule else self._terms
        return of_owners(terms) if ask.tool in OWNERS_SAY else terms


def _denies(rules: Sequence[Rule]) -> bool:
    return any(rule.ruling in DENYING for rule in rules)


class By(StrEnum):
    """Stage that decided about a call."""

    ROLE = "role"
    LIMIT = "limit"
    MODE = "mode"
    RULE = "rule"
    OWNERS = "owners"  # each call of the tool is an owner's to say
    EFFECT = "effect"  # no rule matches
    FORM = "form"  # the tool is not as it was accepted
    GRANT = "grant"
    TRUST = "trust"
    TAINT = "taint"  # outside text was read before: what was allowed asks


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts that a ruling goes by beside the call; what is not known yet is left out.

    `wait`: time until the rule's limit has room for the call; None where it has. `changed`: the tool is not as people
    accepted it. `grant` fits the call, and `trusted` is the name of whoever's yes the mode takes as given.
    """

    role: Role | None = None
    wait: timedelta | None = None
    mode: Mode = Mode.NORMAL
    changed: bool = False
    grant: GrantId | None = None
    trusted: str = ""


NO_FACTS: Final = Facts()


@dataclass(frozen=True, slots=True)
class Ruled:
    """A ruling, what gave it, and that one's name: of a rule, a mode, a grant or a person."""

    result: Ruling
    by: By
    name: str = ""
    rule: Rule | None = None
    wait: timedelta | None = None

    @property
    def whose(self) -> str:
        """The rule that denies, in sentences."""
        return f"the rule {self.rule.name!r}" if self.rule and self.rule.name else "the policy here"

    @property
    def reason(self) -> str:
        """The words of the rule, as a sentence behind others; or nothing."""
        return because(self.rule.reason) if self.rule else ""

    @property
    def why(self) -> str:
        """The reason for which a call is denied, in words for the model and for people."""
        match self.by:
            case By.ROLE:
                return "the person who asks for it may only read here."
            case By.MODE:
                return READ_ONLY_REASON
            case By.LIMIT if self.rule and self.rule.limit and self.wait is not None:
                most = f"{self.whose} allows {self.rule.limit.words} of this tool for each person"
                return f"{most}. There is room again in {soon(self.wait)}.{self.reason}"
            case _:
                return f"{self.whose} does not allow it.{self.reason}"


def rule(policy: Policy, call: Ask, facts: Facts = NO_FACTS) -> Ruled:
    """Decide about a call. Roles, vetoes, limits and modes come before the rules; grants and trust only answer a question."""
    found = policy.rule(call)
    name = found.name if found else ""
    if facts.role is not None and facts.role < Role.USER:
        return Ruled(Ruling.DENY, By.ROLE, facts.role.word)
    if found and found.ruling is Ruling.VETO:
        return Ruled(Ruling.VETO, By.RULE, name, found)
    if found and found.limit and facts.wait is not None:
        return Ruled(Ruling.DENY, By.LIMIT, name, found, facts.wait)
    if facts.mode is Mode.READ_ONLY and call.effect is not Effect.READ:
        return Ruled(Ruling.DENY, By.MODE, facts.mode)
    result, by = (found.ruling, By.RULE) if found else (DEFAULTS[call.effect], By.EFFECT)
    if result is Ruling.DENY:
        return Ruled(result, by, name, found)
    if result is Ruling.ALLOW and call.tool in OWNERS_SAY:
        result, by = Ruling.ASK, By.OWNERS
    if facts.mode is Mode.PLAN and call.effect is not Effect.READ:
        return Ruled(Ruling.ASK, By.MODE, facts.mode, found)
    if facts.changed:
        return Ruled(Ruling.ASK, By.FORM, "", found)
    if result is Ruling.ASK and (facts.grant or facts.trusted) and call.tool not in OWNERS_SAY:
        return _answered(policy.terms(call), call, facts, found) or Ruled(result, by, name, found)
    return Ruled(result, by, name, found)


def _answered(terms: Terms, call: Ask, facts: Facts, found: Rule | None) -> Ruled | None:
    """The ruling where a standing yes answers the question; None where people have to."""
    if facts.grant and grantable(terms):
        return Ruled(Ruling.ALLOW, By.GRANT, facts.grant, found)
    if facts.trusted and call.effect is Effect.WRITE and terms.quorum == 1:
        return Ruled(Ruling.ALLOW, By.TRUST, facts.trusted, found)
    return None


def because(reason: str) -> str:
    """The words of a rule as a sentence behind others; or nothing."""
    return f" {reason}" if reason.endswith((".", "!", "?", "…")) else f" {reason}." if reason else ""


def is_glob(text: str) -> bool:
    """True if it may fit other texts than itself.

    >>> is_glob("read_*"), is_glob("read_file")
    (True, False)
    """
    return not GLOB_SIGNS.isdisjoint(text)


def is_of(rule: Rule, tool: str) -> bool:
    fits = rule.tool == tool or (is_glob(rule.tool) and fnmatchcase(tool, rule.tool))
    return fits and not any(fnmatchcase(tool, glob) for glob in rule.spares)


def is_about(rule: Rule, ask: Ask) -> bool:
    """True if the rule fits all of a call but its arguments."""
    return (
        is_of(rule, ask.tool)
        and rule.effect in (None, ask.effect)
        and fnmatchcase(ask.agent, rule.agent)
        and fnmatchcase(ask.room, rule.room)
        and is_for(rule, ask.names)
    )


def matches(rule: Rule, ask: Ask) -> bool:
    return (
        is_about(rule, ask)
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

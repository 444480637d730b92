"""Contract of a goal: what is to come of it, how that is told, what must be kept to, and when it ends. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from runtime.contract import Json
from runtime.domain.quality.gate import CRITERION_MAX_CHARS, GIVEN_CRITERIA_MAX, QualityGate
from runtime.text.glyphs import clip
from runtime.text.words import marked

TURNS_MAX: Final = 20
SPRINTS_MAX: Final = 5
GOAL_MINUTES_MAX: Final = 30 * 24 * 60
OUTCOME_MAX_CHARS: Final = 2_000
MICROS_OF_A_DOLLAR: Final = 1_000_000
LEAST_BUDGET: Final = 0.0001
MOST_BUDGET: Final = 100_000.0
"""Bounds of a budget, in dollars."""


PLAN_FILE: Final = "PLAN.md"
PROGRESS_FILE: Final = "PROGRESS.md"
"""Files of long work: one is people's and the agent's, the other is written from the record."""


class GoalError(ValueError):
    """Words for whoever set the goal: what is wrong with it."""


class GoalKind(StrEnum):
    GOAL = "goal"  # a person set it, and agrees to it first
    SPRINTS = "sprints"  # a task of an agent that works in sprints
    HARNESS = "harness"  # long work by a plan in files, which an operator began


@dataclass(frozen=True, slots=True)
class GoalBounds:
    """Bounds of the settings. `judge` is a model's name, empty for one that is chosen. `models` are those that there are, the usual one first."""

    turns: int = TURNS_MAX
    sprints: int = SPRINTS_MAX
    minutes: int = 240
    budget: float = 0.0
    judge: str = ""
    models: tuple[str, ...] = ()

    def judge_for(self, own: str) -> str:
        """The model that judges work of `own`: the one of the settings, else another than that, else the same.

        >>> GoalBounds(models=("opus", "haiku")).judge_for("")
        'haiku'
        """
        worker = own or next(iter(self.models), "")
        return self.judge or next((one for one in self.models if one != worker), "")


@dataclass(frozen=True, slots=True)
class Contract:
    """A goal as its run goes by it. `criteria` are empty where they are still to be made. `judge` is a model's name.

    `minutes` count from when it is agreed. `budget_micros` is in millionths of a dollar, 0 for none. `steps` are those of its plan.
    """

    kind: GoalKind
    outcome: str
    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    stop_when: str = ""
    turns: int = TURNS_MAX
    minutes: int = 240
    budget_micros: int = 0
    judge: str = ""
    steps: tuple[str, ...] = ()

    @property
    def gate(self) -> QualityGate:
        return QualityGate(self.criteria, self.stop_when)

    @property
    def bounds(self) -> str:
        """Its end, in words: `at most 20 turns or 4 hours`."""
        money = f" or ${self.budget_micros / MICROS_OF_A_DOLLAR:,.2f}" if self.budget_micros else ""
        return f"at most {counted(self.turns, self.turn_word)} or {spanned(self.minutes)}{money}"

    @property
    def turn_word(self) -> str:
        return "sprint" if self.kind is GoalKind.SPRINTS else "turn"

    def to_json(self) -> dict[str, Json]:
        made: dict[str, Json] = json.loads(json.dumps(asdict(self)))
        return made

    @classmethod
    def from_json(cls, raw: Mapping[str, Json]) -> Contract:
        given: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in raw.items()}
        return cls(GoalKind(given.pop("kind")), **given)


def counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def spanned(minutes: int, counted: Callable[[int, str], str] = counted) -> str:
    """
    >>> spanned(240), spanned(90), spanned(2880)
    ('4 hours', '90 minutes', '2 days')
    """
    for size, word in ((24 * 60, "day"), (60, "hour")):
        if minutes % size == 0:
            return counted(minutes // size, word)
    return counted(minutes, "minute")


# ------------------------------------------------------------------------------------------------------------- reading

PART: Final = re.compile(
    r"^(?P<name>verif(?:y|ied by)|criteria|done when|constraints?|keep to|never|stop when|turns|minutes|within|budget)\s*:\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
POINT: Final = re.compile(r"^\s*[-*+•]\s+(?P<text>\S.*)$")
SPAN: Final = re.compile(r"(\d{1,6})\s*(minutes?|min|m|hours?|h|days?|d)?", re.IGNORECASE)
MINUTES_OF: Final[Mapping[str, int]] = {"m": 1, "h": 60, "d": 24 * 60}
NO_GOAL: Final = marked(
    "Say what is to come of it: `{mark}goal TEXT`. Lines such as `verify: …`, `constraints: "
    "…`, `stop when: …`, `turns: 5`, `within: 2 hours` and `budget: 1.50` may follow."
)


@dataclass(slots=True)
class _Read:
    """Parts of a goal's text, as they are found."""

    outcome: list[str] = field(default_factory=list)
    criteria: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    stop_when: list[str] = field(default_factory=list)
    bounds: dict[str, str] = field(default_factory=dict)


def contract_of(text: str, bounds: GoalBounds, own_model: str = "") -> Contract:
    """The contract that a person's words make. Errors: GoalError, for a goal without an outcome or with an end too far away."""
    read = _Read()
    for into, line in _parts(text, read):
        into.append(line)
    outcome = "\n".join(read.outcome).strip()
    if not outcome:
        raise GoalError(NO_GOAL)
    if len(outcome) > OUTCOME_MAX_CHARS:
        raise GoalError(
            marked("A goal has at most {most} characters. Put the rest into a file, and name that.").format(
                most=f"{OUTCOME_MAX_CHARS:,}"
            )
        )
    return Contract(
        GoalKind.GOAL,
        outcome,
        tuple(clip(one, CRITERION_MAX_CHARS) for one in read.criteria[:GIVEN_CRITERIA_MAX]),
        tuple(clip(one, CRITERION_MAX_CHARS) for one in read.constraints[:GIVEN_CRITERIA_MAX]),
        clip(" ".join(read.stop_when), CRITERION_MAX_CHARS),
        turns=_turns(read.bounds.get("turns", ""), bounds.turns),
        minutes=_minutes(read.bounds.get("within", ""), bounds.minutes),
        budget_micros=_micros(read.bounds.get("budget", ""), bounds.budget),
        judge=bounds.judge_for(own_model),
    )


def sprints_for(goal: str, criteria: Sequence[str], bounds: GoalBounds, own_model: str = "") -> Contract:
    """The contract by which a task is done in sprints."""
    return Contract(
        GoalKind.SPRINTS,
        goal.strip(),
        tuple(criteria),
        turns=bounds.sprints,
        minutes=bounds.minutes,
        budget_micros=round(bounds.budget * MICROS_OF_A_DOLLAR),
        judge=bounds.judge_for(own_model),
    )


def with_criteria(contract: Contract, made: Sequence[str]) -> Contract:
    return contract if contract.criteria else replace(contract, criteria=tuple(made))


def _parts(text: str, read: _Read) -> Iterator[tuple[list[str], str]]:
    """Each line with the part that it belongs to: that of the last heading, the outcome before the first."""
    into = read.outcome
    for line in text.strip().splitlines():
        if found := PART.match(line.strip()):
            name, rest = found["name"].lower(), found["rest"].strip()
            if name in ("turns", "budget", "minutes", "within"):
                read.bounds["within" if name == "minutes" else name] = rest
                continue
            into = _list_of(name, read)
            if rest:
                yield into, rest
        elif into is read.outcome:
            yield into, line.rstrip()
        elif line.strip():
            yield into, point["text"] if (point := POINT.match(line)) else line.strip()


def _list_of(name: str, read: _Read) -> list[str]:
    if name == "stop when":
        return read.stop_when
    return read.constraints if name in ("constraint", "constraints", "keep to", "never") else read.criteria


def _turns(text: str, most: int) -> int:
    if not text:
        return most
    if not text.isdecimal() or not 1 <= int(text[:9]) <= most:
        raise GoalError(
            marked("A goal has 1 to {most} turns, not {text}: it must come to an end.").format(
                most=most, text=repr(text[:40])
            )
        )
    return int(text)


def _minutes(text: str, most: int) -> int:
    if not text:
        return most
    found = SPAN.fullmatch(text)
    minutes = int(found[1]) * MINUTES_OF[(found[2] or "m")[0].lower()] if found else 0
    if not 1 <= minutes <= most:
        raise GoalError(
            marked("A goal has 1 minute to {most}, not {text}. Write it as `within: 2 hours`.").format(
                most=spanned(most), text=repr(text[:40])
            )
        )
    return minutes


def _micros(text: str, most: float) -> int:
    if not text:
        return round(most * MICROS_OF_A_DOLLAR)
    try:
        dollars = float(text.strip("$ ").replace(",", "") or "nan")
    except ValueError:
        dollars = 0.0
    bound = most or MOST_BUDGET
    if not LEAST_BUDGET <= dollars <= bound:
        raise GoalError(
            marked("A goal's budget is up to ${bound}, not {text}. Write it as `budget: 1.50`.").format(
                bound=f"{bound:,.2f}", text=repr(text[:40])
            )
        )
    return round(dollars * MICROS_OF_A_DOLLAR)


def limit_of(minutes: int) -> timedelta:
    return timedelta(minutes=minutes)

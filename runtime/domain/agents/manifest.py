"""Manifest of an agent: everything that the settings, a file or an owner say of it. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from runtime.contract import Effect
from runtime.contract.memory.facts import EVERY_SCOPE, ScopeKind
from runtime.domain.agents.executors import BY_MODEL, Executor

MAIN: Final = "main"
"""The agent that the settings describe. It works wherever no other one is named."""

SINGLE: Final = "single"
SPRINTING: Final = "generator_evaluator"
"""Ways in which an agent works on a task: in one loop, or in sprints that another model judges."""
MOST_CHILDREN: Final = 5
"""Children of one run that may be at work at once."""
MOST_DEPTH: Final = 5
"""Levels of children below a run that a person or a schedule began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One agent. Empty texts and sequences are those of `main`; tools, rooms and people are globs.

    `prompt` are its words, once their file was read. `effects`: the most that any call of it may do, `memory` the scopes of memory that it has. `rooms`, `people`,
    `roles`, `accounts`, `channels` say where it answers, and `mentions` by which words it is named. `delegates_to` names
    agents to which it may hand work. `skills` are names or globs; None: of the main agent those that were put here,
    of any other none. `harness` says how it works on tasks, `executor` what works in it. `budget_day` is in US dollars, 0 for none of its own.
    """

    name: str = MAIN
    prompt: str = ""
    model: str = ""
    tools: tuple[str, ...] = ("*",)
    effects: Effect = Effect.DANGER
    memory: tuple[ScopeKind, ...] = EVERY_SCOPE
    skills: tuple[str, ...] | None = None
    rooms: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    delegates_to: tuple[str, ...] = ()
    budget_day: float = 0.0
    tokens_per_hour: int = 0
    tool_calls_per_minute: int = 0
    children: int = MOST_CHILDREN
    depth: int = MOST_DEPTH
    harness: str = SINGLE
    executor: Executor = field(default=BY_MODEL, repr=False)

"""Capabilities of an agent, and whether a child asks for more than its parent has. No I/O.

They are checked when a child is made and again at each call, with the parent as it is then: a tool that comes later, or a
parent that is narrowed, changes the answer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Effect
from runtime.domain.agents.globs import ANYTHING, outside
from runtime.domain.agents.manifest import MAIN, MOST_DEPTH, Manifest

MICROS_A_DOLLAR: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """All that an agent may do. Texts are globs; an empty sequence allows nothing.

    `known` are the names of the tools that there are. `egress` are hosts, `rooms` addresses as the settings write them,
    `workspace` paths of files that it may open, and `memory` scopes that it may read. `depth` counts the levels of children
    that it may still make, and `money` is in millionths of a dollar, None without a bound.
    """

    agent: str = MAIN
    tools: tuple[str, ...] = (ANYTHING,)
    known: frozenset[str] = frozenset()
    effects: Effect = Effect.DANGER
    egress: tuple[str, ...] = (ANYTHING,)
    rooms: tuple[str, ...] = (ANYTHING,)
    workspace: tuple[str, ...] = (ANYTHING,)
    memory: tuple[str, ...] = (ANYTHING,)
    depth: int = MOST_DEPTH
    money: int | None = None

    def may_use(self, tool: str) -> bool:
        return fits(tool, self.tools)


@dataclass(frozen=True, slots=True)
class Excess:
    """A thing that `child` wants and `parent` hasn't got. `kind` is the capability's name, `what` the part too much."""

    child: str
    parent: str
    kind: str
    what: str
    words: str
    """A sentence without its end, for people and for the model."""

    def __str__(self) -> str:
        return self.words


EFFECT_WORDS: Final = {Effect.READ: "only read", Effect.WRITE: "write", Effect.DANGER: "do dangerous things"}


def fits(name: str, globs: Collection[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def is_within(effect: Effect, most: Effect) -> bool:
    """True if an effect is no greater than `most`."""
    order = list(Effect)
    return order.index(effect) <= order.index(most)


def of_manifest(manifest: Manifest, known: Collection[str]) -> Capabilities:
    """Capabilities that a manifest gives by itself. The rooms where an agent answers are no bound on what it reaches."""
    money = round(manifest.budget_day * MICROS_A_DOLLAR) if manifest.budget_day else None
    return Capabilities(
        agent=manifest.name,
        tools=manifest.tools,
        known=frozenset(known),
        effects=manifest.effects,
        memory=tuple(manifest.memory),
        depth=manifest.depth,
        money=money,
    )


def below(parent: Capabilities) -> Capabilities:
    """The most that a child of `parent` may have: the same, one level deeper."""
    return replace(parent, depth=parent.depth - 1)


def covers(parent: Capabilities, child: Capabilities) -> Excess | None:
    """The first thing that `child` may do and `parent` may not; None where there is none.

    Tools are compared by those that are known to either; hosts, rooms, files and scopes glob by glob, where one of the child's
    must lie inside a single one of the parent's. For a child that is to be made, `parent` is `below` its maker.
    """
    return _tools(parent, child) or _effects(parent, child) or _places(parent, child) or _bounds(parent, child)


def _tools(parent: Capabilities, child: Capabilities) -> Excess | None:
    for name in sorted(child.known | parent.known):
        if child.may_use(name) and not parent.may_use(name):
            return _excess(parent, child, "tools", name, f"use {name}")
    return None


def _effects(parent: Capabilities, child: Capabilities) -> Excess | None:
    if not is_within(child.effects, parent.effects):
        return _excess(parent, child, "effects", child.effects, EFFECT_WORDS[child.effects])
    return None


def _places(parent: Capabilities, child: Capabilities) -> Excess | None:
    for kind, wanted, allowed, verb in (
        ("egress", child.egress, parent.egress, "reach"),
        ("rooms", child.rooms, parent.rooms, "work in"),
        ("workspace", child.workspace, parent.workspace, "open the files"),
        ("memory", child.memory, parent.memory, "read the memory of"),
    ):
        if glob := outside(wanted, allowed):
            return _excess(parent, child, kind, glob, f"{verb} {glob}")
    return None


def _bounds(parent: Capabilities, child: Capabilities) -> Excess | None:
    if child.depth > parent.depth:
        levels = f"hand work on {child.depth} level{'s' * (child.depth != 1)} deep"
        return _excess(parent, child, "depth", str(child.depth), levels)
    if parent.money is not None and (child.money is None or child.money > parent.money):
        spend = "spend without a limit" if child.money is None else f"spend ${child.money / MICROS_A_DOLLAR:,.2f}"
        return _excess(parent, child, "money", "none" if child.money is None else str(child.money), spend)
    return None


def _excess(parent: Capabilities, child: Capabilities, kind: str, what: str, verb: str) -> Excess:
    name = f"a child called {child.agent}" if child.agent == parent.agent else child.agent
    words = f"{name} may {verb}, which {parent.agent} may not"
    if parent.depth < 0:
        words = f"{parent.agent} may not hand its work on any deeper"
    return Excess(child.agent, parent.agent, kind, what, words)

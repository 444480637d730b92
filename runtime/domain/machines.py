"""State machines as tables: moves are a table, and a move that is not in it is a bug."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from runtime.errors import IllegalMove

State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)


def move(moves: Mapping[tuple[State, Event], State], state: State, event: Event) -> State:
    """The state after `event`. Errors: IllegalMove when the table has no such row."""
    try:
        return moves[state, event]
    except KeyError:
        raise IllegalMove(f"{type(state).__name__}: no move {event} from {state}") from None


def final(moves: Mapping[tuple[State, Event], State]) -> frozenset[State]:
    """States that no row leaves."""
    return frozenset(moves.values()) - {state for state, _ in moves}


def sources(moves: Mapping[tuple[State, Event], State], event: Event) -> frozenset[State]:
    """States from which `event` is a legal move."""
    return frozenset(state for state, e in moves if e is event)


def diagram(moves: Mapping[tuple[State, Event], State]) -> str:
    """The table as a Mermaid state diagram; `docs/states.md` is made from it."""
    lines = [f"    {a} --> {b}: {event}" for (a, event), b in moves.items()]
    ends = [f"    {state} --> [*]" for state in sorted(final(moves))]
    return "\n".join(["stateDiagram-v2", *lines, *ends])

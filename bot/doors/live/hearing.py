"""Text that runs of this node say right now. It is never stored: of a run on another node there is none until it is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from runtime.contract import Address, Progress, Resting, RunId, Speaking, Thinking
from runtime.store.protocol import Claim

HEARD_RUNS_MAX: Final = 1_000
"""Runs whose text is in mind; the oldest go first."""


@dataclass(frozen=True, slots=True)
class SaidSoFar:
    """Text of a model call under way, and the number of the step that it becomes."""

    text: str
    step: int


@dataclass(slots=True, eq=False)
class Ear:
    """One stream that listens to a room. `has_rung`: rows may have changed since it looked at them."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    has_rung: bool = True

    def ring(self) -> None:
        self.has_rung = True
        self.woken.set()


class Hearing:
    """Knows of each run at work here how far its present answer is."""

    def __init__(self) -> None:
        self._said: dict[RunId, SaidSoFar] = {}
        self._ears: dict[Address, set[Ear]] = {}

    def heard(self, claim: Claim, event: Progress) -> None:
        """A run tells what it does."""
        match event:
            case Speaking(text, step) if step:
                self._said[claim.run_id] = SaidSoFar(text, step)
                if len(self._said) > HEARD_RUNS_MAX:
                    del self._said[next(iter(self._said))]
            case Thinking() | Resting():
                if self._said.pop(claim.run_id, None) is None:
                    return
            case _:
                return
        for ear in self._ears.get(claim.address, ()):
            ear.woken.set()

    def said(self, run: RunId | None) -> SaidSoFar | None:
        return self._said.get(run) if run else None

    @contextmanager
    def listening(self, address: Address) -> Iterator[Ear]:
        ear = Ear()
        self._ears.setdefault(address, set()).add(ear)
        try:
            yield ear
        finally:
            left = self._ears[address]
            left.discard(ear)
            if not left:
                del self._ears[address]

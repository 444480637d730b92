"""Round trips to PostgreSQL, counted where they leave this process: BEGIN and COMMIT as much as what stands between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

from bench.tape import Operation, Taped
from runtime.store.sql.driver import MakeOp, Rows, T
from runtime.store.sql.wire.pipeline import Pipelined, Script

_OPERATION: ContextVar[list[int] | None] = ContextVar("operation", default=None)
"""Statements of each round trip of the operation that this task waits for."""


class Trips:
    """Round trips of this process, and of each operation."""

    def __init__(self) -> None:
        self.all = 0
        self.statements = 0
        self.by_operation: dict[int, list[int]] = {}

    def of(self, operation: Operation) -> int:
        return len(self.by_operation[id(operation)])


@contextmanager
def counted() -> Iterator[Trips]:
    """Whatever goes to a server from inside the block."""
    trips, run_script = Trips(), Pipelined.run_script

    async def noted(self: Pipelined, script: Script) -> list[Rows]:
        trips.all += 1
        trips.statements += len(script)
        if (operation := _OPERATION.get()) is not None:
            operation.append(len(script))
        return await run_script(self, script)

    setattr(Pipelined, "run_script", noted)  # noqa: B010 - a method is put in its place
    try:
        yield trips
    finally:
        setattr(Pipelined, "run_script", run_script)  # noqa: B010


class Counted(Taped):
    """Implements `Driver` over PostgreSQL's: `trips` are told which operation each round trip was for, its COMMIT's too."""

    def __init__(self, taped: Taped, trips: Trips) -> None:
        self.__dict__.update(taped.__dict__)
        heard = self._heard

        def note(operation: Operation) -> None:
            if (ours := _OPERATION.get()) is not None:
                trips.by_operation[id(operation)] = ours
            heard(operation)

        self._heard = note

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        with _an_operation():
            return await super().write(make, within=within)

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        with _an_operation():
            return await super().read(make, is_brief=is_brief)


@contextmanager
def _an_operation() -> Iterator[None]:
    before = _OPERATION.set([])
    try:
        yield
    finally:
        _OPERATION.reset(before)

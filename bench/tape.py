"""A store driver that writes down what passes through it: each operation's statements with their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Executable
from sqlalchemy.engine import Dialect

from runtime.errors import StoreError
from runtime.store.sql.driver import CHANGES, Compiler, Driver, MakeOp, Op, T, each_of


@dataclass(frozen=True, slots=True)
class Statement:
    sql: str
    arguments: tuple[object, ...]

    @property
    def changes(self) -> bool:
        return self.sql.lstrip().startswith(CHANGES)


@dataclass(frozen=True, slots=True)
class Operation:
    """One transaction. `writes`: it went through the writer, and its end is a commit."""

    name: str
    writes: bool
    statements: tuple[Statement, ...]

    @property
    def changes(self) -> bool:
        """Whether its commit has anything to bring to the disk."""
        return self.writes and any(statement.changes for statement in self.statements)


@dataclass(frozen=True, slots=True)
class Tape:
    """Operation sets as they were committed: `sets` of them, after those that only warm up."""

    warm: Sequence[Operation]
    operations: Sequence[Operation]
    sets: int

    def cut(self, sets: int) -> Tape:
        """Its first `sets`."""
        return Tape(self.warm, self.operations[: len(self.operations) // self.sets * sets], sets)

    @property
    def told(self) -> str:
        statements = sum(len(operation.statements) for operation in self.operations)
        return f"{len(self.operations) / self.sets:.0f} transactions, {statements / self.sets:.0f} statements a set"


@dataclass(frozen=True, slots=True)
class Timed:
    """`sets` operation sets in `seconds`, with so many `processor` seconds; `each` has the seconds of single ones."""

    sets: int
    seconds: float
    processor: float
    each: tuple[float, ...] = ()

    @property
    def rate(self) -> float:
        return self.sets / self.seconds

    @property
    def processor_ms(self) -> float:
        return self.processor / self.sets * 1000


class Taped:
    """Implements `Driver` over another one. `heard` is called where the driver works, in the order of its commits."""

    def __init__(self, driver: Driver, dialect: Dialect, heard: Callable[[Operation], None]) -> None:
        self.trouble: StoreError | None = None
        self._driver = driver
        self._compiler = Compiler(dialect)
        self._heard = heard

    def now(self) -> datetime:
        return self._driver.now()

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        return await self._driver.write(lambda: self._followed(make(), writes=True), within=within)

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        return await self._driver.read(lambda: self._followed(make(), writes=False))

    async def save(self, folder: Path) -> Path | None:
        return await self._driver.save(folder)

    async def purge(self) -> None:
        await self._driver.purge()

    def clock_seen(self) -> float:
        return self._driver.clock_seen()

    def look_at_clock(self) -> None:
        self._driver.look_at_clock()

    def compile(self, statements: Iterable[Executable]) -> None:
        self._driver.compile(statements)

    async def close(self) -> None:
        await self._driver.close()

    def _followed(self, op: Op[T], *, writes: bool) -> Op[T]:
        ran: list[Statement] = []
        try:
            query = next(op)
            while True:
                for statement, given in each_of(query):
                    compiled = self._compiler(statement)
                    ran.append(Statement(compiled.sql, compiled.arguments(given)))
                query = op.send((yield query))
        except StopIteration as end:
            self._heard(Operation(name_of(op), writes, tuple(ran)))
            result: T = end.value
            return result


def name_of(op: Op[object]) -> str:
    """The name of the function that made the generator."""
    return str(getattr(op, "__name__", "unnamed"))

"""One way to write a transaction, two engines to run it.

An operation is a generator: it yields (statement, parameters), is sent the rows as tuples, and returns its result. It
does nothing else that counts, so an engine may run it again from the start after a rollback; at most it tells what it is
about to do (`KeptRoom.foreseen`). Statements are SQLAlchemy Core
objects kept in module constants; each is compiled once an engine.

An engine in another process costs a round trip for each answer an operation waits for, so there two things need none of
their own: a statement whose rows nobody reads (an INSERT without RETURNING, one marked `UNREAD_ROWS`) is sent along with the
next one that is read or with the COMMIT, and what an operation wants to know `at_once` is asked together. What it asks
last, and says so, takes the COMMIT along.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, cast

from sqlalchemy import ColumnElement, Executable, literal_column
from sqlalchemy.engine import Dialect

from runtime.errors import StoreError

T = TypeVar("T")
Rows = list[tuple[Any, ...]]
Query = tuple[Executable, Mapping[str, object]]
Op = Generator[Query, Rows, T]
MakeOp = Callable[[], Op[T]]

CHANGES: Final = ("INSERT", "UPDATE", "DELETE")
UNREAD_ROWS: Final = {"unread": True}
"""Execution options of a statement that reads rows for its locks alone."""


SEVERAL_QUERIES: Final = Executable()
"""Stands where a statement does, for several queries that need nothing of each other's answers: its parameter."""
LAST_QUERIES: Final = Executable()
"""The same for the last that an operation asks, whatever it is answered: the COMMIT may go along."""
SEVERAL: Final = frozenset((SEVERAL_QUERIES, LAST_QUERIES))
WENT_ON: Final = "an operation asked more after its last queries, which are committed"


def each_of(query: Query) -> Sequence[Query]:
    """The queries in one that may be several."""
    statement, given = query
    several: Any = given["queries"] if statement in SEVERAL else (query,)
    return cast("Sequence[Query]", several)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Watch(Protocol):
    """Is told what an engine does. Called in the engine's own thread: it is cheap and never raises."""

    def committed(self, operations: int, seconds: float) -> None:
        """A transaction of so many operations is written; `seconds` is how long its COMMIT took."""

    def failed(self, error: StoreError) -> None:
        """One operation was refused."""


class Unwatched:
    """The `Watch` of those who do not count."""

    def committed(self, operations: int, seconds: float) -> None:
        pass

    def failed(self, error: StoreError) -> None:
        pass


UNWATCHED: Final = Unwatched()
OPERATION_TIMEOUT: Final = timedelta(seconds=10)
"""How long an engine may take for one operation, unless whoever opens it says less."""


class Driver(Protocol):
    """An engine: runs operations, each as one transaction. `trouble` is why writes fail, None while they do not."""

    @property
    def trouble(self) -> StoreError | None: ...

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        """Run an operation and commit, or give up after `within`, where that is less than the engine's own patience.

        Errors: StoreError; then nothing of it is known to be written.
        """

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        """Run an operation that only reads, on one consistent snapshot. One that `is_brief` asks for a few rows by indexes."""

    async def save(self, folder: Path) -> Path | None:
        """A copy of a database whose files are gone, in `folder`; None while they are in their place."""

    async def purge(self) -> None:
        """Overwrite what removed rows left behind, as far as the engine can. It takes long on a large database."""

    def now(self) -> datetime:
        """The engine's clock."""

    def clock_seen(self) -> float:
        """Time by the steady clock when it looked at the engine's clock last; what `now` says since then is reckoned."""

    def look_at_clock(self) -> None:
        """Have the next write look at the engine's clock, where that is another machine's."""

    def compile(self, statements: Iterable[Executable]) -> None:
        """Have the text of these statements at hand. For any thread."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Compiled:
    sql: str
    names: Sequence[str] = ()
    own: Mapping[str, object] = field(default_factory=dict)
    """Values that the statement itself has."""
    is_read: bool = True
    """Whether anybody reads its rows."""
    is_lock: bool = False
    """Whether it reads rows for their locks alone."""
    pick: Callable[[Mapping[str, object]], Any] | None = None
    """Takes the values of the names out of a mapping, of one name its value alone. Errors: KeyError for one that is missing."""

    def arguments(self, given: Mapping[str, object]) -> tuple[object, ...]:
        if self.pick is None:
            return ()
        try:
            picked = self.pick({**self.own, **given} if self.own else given)
        except KeyError:  # what isn't given is NULL
            picked = self.pick({**dict.fromkeys(self.names), **self.own, **given})
        values: tuple[object, ...] = picked if len(self.names) > 1 else (picked,)
        # Our own words, and ASCII without a NUL, are as any database takes them.
        words = "".join([value for value in values if type(value) is str])
        if words.isascii() and "\0" not in words:
            return values
        return tuple(storable(value) if type(value) is str else value for value in values)


def storable(value: str) -> str:
    """The nearest text that every database takes: none takes a NUL or half a surrogate pair."""
    return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Compiler:
    """Compiles each statement once. Statements must be long-lived: they are known by identity."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: dict[int, tuple[Executable, Compiled]] = {}

    def __call__(self, statement: Executable) -> Compiled:
        known = self._known.get(id(statement))
        if known is not None:
            return known[1]
        compiled = self._compile(statement)
        self._known[id(statement)] = (
            statement,
            compiled,
        )  # keeps it alive, so its id is not given to another
        return compiled

    def _compile(self, statement: Executable) -> Compiled:
        compiled: Any = statement.compile(dialect=self._dialect)  # type: ignore[attr-defined]  # every Core statement has it
        sql, unread = str(compiled), statement.get_execution_options().get("unread", False)
        changes = sql.lstrip().startswith(CHANGES)
        is_read = not unread and (not changes or "RETURNING" in sql)
        is_lock, names = unread and not changes, compiled.positiontup or ()
        own = {name: value for name, value in compiled.params.items() if not compiled.binds[name].required}
        return Compiled(sql, names, own, is_read, is_lock, itemgetter(*names) if names else None)


def is_word(column: ColumnElement[Any], *states: str) -> ColumnElement[bool]:
    """`column` is one of `states`, as literals in the SQL, so that partial indexes serve. Only for our own words."""
    if len(states) == 1:
        return column == literal_column(f"'{states[0]}'")
    return column.in_([literal_column(f"'{s}'") for s in states])


def is_like(column: ColumnElement[Any], pattern: str) -> ColumnElement[bool]:
    """`column` fits `pattern`, as a literal in the SQL: SQLite plans a statement anew for each pattern that comes as a
    parameter, which takes longer than the look. Only for our own words."""
    return column.like(literal_column(f"'{pattern}'"))


def micros(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


def moment(at: int) -> datetime:
    return EPOCH + timedelta(microseconds=at)


def maybe_moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)

"""The last lines of the log, kept in memory within bounds, for operators who look at them on the console.

A line is kept as it was written, secrets masked; what it says is read only when somebody looks.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final

RING_LINES: Final = 4_000
RING_CHARS: Final = 2_000_000
LINE_CHARS: Final = 8_000
"""Of one line: a traceback is longer, and its end is in the log itself."""
LEVELS: Final = ("debug", "info", "warning", "error", "critical")
OWN_FIELDS: Final = frozenset({"timestamp", "level", "event", "logger"})
LINE_CUT: Final = " … cut here; the log itself has the rest"


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line as operators read it. `fields` are the ids and values that it carries beside its words."""

    number: int
    at: str
    level: str
    event: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LogFilter:
    """`about` are ids of which a line carries one, or begins with it; empty for all lines."""

    level: str = ""
    text: str = ""
    about: Collection[str] = field(default_factory=tuple)

    def fits(self, line: LogLine) -> bool:
        least = LEVELS.index(self.level) if self.level in LEVELS else 0
        if line.level in LEVELS and LEVELS.index(line.level) < least:
            return False
        if self.text and self.text.casefold() not in "\n".join([line.event, *line.fields.values()]).casefold():
            return False
        return not self.about or any(value.startswith(one) for value in line.fields.values() for one in self.about)


class LogRing:
    """Kept by any thread, read by the loop. What is oldest goes first."""

    def __init__(self, *, most_lines: int = RING_LINES, most_chars: int = RING_CHARS) -> None:
        self._lines: deque[tuple[int, str]] = deque()
        self._most_lines = most_lines
        self._most_chars = most_chars
        self._chars = 0
        self._newest = 0
        self._lock = Lock()

    def keep(self, text: str) -> None:
        kept = text if len(text) <= LINE_CHARS else text[:LINE_CHARS]
        with self._lock:
            self._newest += 1
            self._lines.append((self._newest, kept))
            self._chars += len(kept)
            while self._chars > self._most_chars or len(self._lines) > self._most_lines:
                self._chars -= len(self._lines.popleft()[1])

    @property
    def newest(self) -> int:
        """Number of the newest line; 0 before the first."""
        return self._newest

    def after(self, number: int, wanted: LogFilter, limit: int) -> list[LogLine]:
        """The newest `limit` lines that fit, oldest first, of those after `number`."""
        found: list[LogLine] = []
        for line in self._since(number):
            if wanted.fits(line):
                found.append(line)
                if len(found) == limit:
                    break
        return found[::-1]

    def _since(self, number: int) -> Iterator[LogLine]:
        with self._lock:
            kept = [one for one in self._lines if one[0] > number]
        for own, raw in reversed(kept):
            yield _read(own, raw)


EMPTY_RING: Final = LogRing(most_lines=0)
"""Of a process that keeps none."""


def _read(number: int, raw: str) -> LogLine:
    """A line that is no JSON, because it was cut or a library broke it, is told as it stands."""
    try:
        told: dict[str, Any] = json.loads(raw)
    except ValueError:
        return LogLine(number, "", "", raw + (LINE_CUT if len(raw) == LINE_CHARS else ""), {})
    if not isinstance(told, dict):
        return LogLine(number, "", "", raw, {})
    fields = {key: _words(value) for key, value in told.items() if key not in OWN_FIELDS}
    return LogLine(
        number, str(told.get("timestamp", "")), str(told.get("level", "")), str(told.get("event", "")), fields
    )


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def kept_from(render: Callable[[dict[str, Any]], str], event: Mapping[str, Any]) -> str:
    """A line for the ring of an event that people read in other words on their terminal."""
    stamped = {**event, "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z")}
    return render(stamped)

"""Logs: for people on a terminal, JSON lines otherwise, always on standard error and never with a secret in them.

Whoever works on something binds its id (`structlog.contextvars.bound_contextvars(run=…)`); every line until then
carries it. Lines below the level cost one call of an empty function.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TextIO

import structlog
from pydantic_core import to_json
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.plugins.channels import known_channels
from bot.settings.faults import MASK, is_secret
from bot.telemetry.ring import EMPTY_RING, LogRing, kept_from
from runtime.guard.masks import Mask

# Libraries that tell each request or each model call at "info", or what people wrote at "debug".
_CHATTY: Final = (
    "aiohttp.access",
    "aiohttp.server",
    "asyncio",
    "LiteLLM",
    "httpx",
    "alembic",
    "sqlalchemy",
    "httpx2",
    "mcp",
)


def configure(
    level: str,
    form: Literal["auto", "human", "json"],
    secrets: Sequence[str] = (),
    *,
    stream: TextIO | None = None,
    ring: LogRing | None = None,
) -> None:
    """Send our lines, and those of libraries, to `stream` (standard error). `secrets` are values to mask in any line; what looks like one is masked too.

    `ring` keeps the last of them, as JSON whatever people read.
    """
    out = stream or sys.stderr
    human = form == "human" or (form == "auto" and out.isatty())
    number = logging.getLevelNamesMapping()[level.upper()]
    lines = _Lines(out, secrets, None if human else ring)
    kept: list[Processor] = [partial(_keep, ring, lines.mask)] if human and ring else []
    shared, ends = _shared(human), [*kept, *_ends(human=human, colors=out.isatty())]
    structlog.configure(
        processors=[*shared, *ends],
        wrapper_class=_fitted(type("Logger", (_Levelled,), {}), number),
        logger_factory=_Factory(lines, ring or EMPTY_RING),
        cache_logger_on_first_use=True,
    )
    _route_libraries(number, _Libraries(lines, _formatter(shared, ends)))


def set_level(level: str) -> None:
    """Tell from `level` on, while the process works. Loggers are kept once used, but all are of one class.

    How a program that has us in it tells its own lines is left alone.
    """
    logger = structlog.get_config()["wrapper_class"]
    if issubclass(logger, _Levelled):
        number = logging.getLevelNamesMapping()[level.upper()]
        _fitted(logger, number)
        _set_library_level(number)


class _Levelled(structlog.BoundLoggerBase):
    """Above each class of loggers that `configure` made."""


def _fitted(logger: type[Any], level: int) -> type[Any]:
    """The class, with the methods of a logger of this level: those below it do nothing."""
    for name, method in vars(structlog.make_filtering_bound_logger(level)).items():
        if callable(method):
            setattr(logger, name, method)
    return logger


def last_lines() -> LogRing:
    """The last lines of this process; none where nobody wanted them kept."""
    factory = structlog.get_config()["logger_factory"]
    return factory.ring if isinstance(factory, _Factory) else EMPTY_RING


def tell_skipped(faults: Sequence[Exception]) -> None:
    """Sealed files that could not be read, and need not be."""
    for fault in faults:
        structlog.get_logger("secrets").warning("a sealed file is skipped", reason=str(fault))


class _Lines:
    """Writes finished lines. A stream that is gone is no reason to stop working."""

    def __init__(self, stream: TextIO, secrets: Sequence[str], ring: LogRing | None) -> None:
        self._stream = stream
        self.mask = Mask(secrets)
        self._ring = ring

    def write(self, line: str) -> None:
        told = self.mask(line)
        if self._ring is not None:
            self._ring.keep(told)
        with suppress(OSError, ValueError):
            self._stream.write(told + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = write  # as a logger that structlog ends in


@dataclass(frozen=True, slots=True)
class _Factory:
    """Makes the one logger. structlog keeps it, and by it the ring is found again."""

    lines: _Lines
    ring: LogRing

    def __call__(self, *_: object) -> _Lines:
        return self.lines


class _Libraries(logging.Handler):
    """Log of libraries, which goes the same way."""

    def __init__(self, lines: _Lines, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.write(self.format(record))
        except Exception:  # noqa: BLE001 - a library's unfit arguments must not end our work
            self._lines.write(f"a line of {record.name} could not be written")


def _shared(human: bool) -> list[Processor]:
    """Processors of every line, ours or a library's."""
    stamp = (
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
        if human
        else structlog.processors.TimeStamper(fmt="iso", utc=True)
    )
    return [structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, stamp, _mask]


def _ends(*, human: bool, colors: bool) -> list[Processor]:
    """Processors that make a line of an event."""
    if human:
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain, pad_event_to=0)]
    return [structlog.processors.format_exc_info, _as_json]


def _keep(ring: LogRing, mask: Mask, logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """For a terminal, whose lines no program reads: the ring gets its own, which is made here."""

    def render(stamped: dict[str, Any]) -> str:
        return _as_json(logger, method, structlog.processors.format_exc_info(logger, method, stamped))

    ring.keep(mask(kept_from(render, event)))
    return event


def _as_json(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    try:
        return to_json(event, fallback=repr).decode()
    except ValueError:  # half a surrogate pair, which JSON can only write as an escape
        return json.dumps(event, default=repr)


def _formatter(shared: Sequence[Processor], ends: Sequence[Processor]) -> logging.Formatter:
    first = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=list(shared), processors=[first, *ends])


def _route_libraries(level: int, handler: logging.Handler) -> None:
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.captureWarnings(True)
    _set_library_level(level)


def _set_library_level(level: int) -> None:
    logging.getLogger().setLevel(level)
    for name in (*_CHATTY, *(name for plugin in known_channels().values() for name in plugin.loggers)):
        logging.getLogger(name).setLevel(max(level, logging.WARNING) if level > logging.DEBUG else logging.INFO)


def _mask(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for key, value in event.items():
        if value and isinstance(value, str) and is_secret(key):
            event[key] = MASK
    return event

"""Logs: for people on a terminal, JSON lines otherwise, always on standard error and never with a secret in them.

Whoever works on something binds its id (`structlog.contextvars.bound_contextvars(run=…)`); every line until then
carries it. Lines below the level cost one call of an empty function.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from bot.masking import Mask
from bot.settings_faults import MASK, is_secret

# Libraries that tell each request or each model call at "info".
_CHATTY: Final = ("aiohttp.access", "aiohttp.server", "asyncio", "LiteLLM", "httpx", "alembic", "sqlalchemy")


def configure(
    level: str, form: Literal["auto", "human", "json"], secrets: Sequence[str] = (), *, stream: TextIO | None = None
) -> None:
    """Send our lines, and those of libraries, to `stream` (standard error). `secrets` are values to mask in any line; what looks like one is masked too."""
    out = stream or sys.stderr
    human = form == "human" or (form == "auto" and out.isatty())
    number = logging.getLevelNamesMapping()[level.upper()]
    shared = _shared(human)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=_fitted(type("Logger", (structlog.BoundLoggerBase,), {}), number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    _route_libraries(number, _Lines(out, _formatter(shared, human=human, colors=out.isatty()), secrets))


def set_level(level: str) -> None:
    """Tell from `level` on, while the process works. Loggers are kept once used, but all are of one class."""
    number = logging.getLevelNamesMapping()[level.upper()]
    _fitted(structlog.get_config()["wrapper_class"], number)
    _set_library_level(number)


def _fitted(logger: type[Any], level: int) -> type[Any]:
    """The class, with the methods of a logger of this level: those below it do nothing."""
    for name, method in vars(structlog.make_filtering_bound_logger(level)).items():
        if callable(method):
            setattr(logger, name, method)
    return logger


def tell_skipped(faults: Sequence[Exception]) -> None:
    """Sealed files that could not be read, and need not be."""
    for fault in faults:
        structlog.get_logger("secrets").warning("a sealed file is skipped", reason=str(fault))


class _Lines(logging.StreamHandler[TextIO]):
    """Writes finished lines. A stream that is gone is no reason to stop working."""

    def __init__(self, stream: TextIO, formatter: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__(stream)
        self.setFormatter(formatter)
        self._mask = Mask(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return self._mask(super().format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        pass


def _shared(human: bool) -> list[Processor]:
    """What every line goes through, ours or a library's."""
    stamp = (
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)
        if human
        else structlog.processors.TimeStamper(fmt="iso", utc=True)
    )
    return [structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, stamp, _mask]


def _formatter(shared: Sequence[Processor], *, human: bool, colors: bool) -> logging.Formatter:
    ends: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if human:
        plain = structlog.dev.plain_traceback
        ends.append(structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain, pad_event_to=0))
    else:
        ends += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=list(shared), processors=ends)


def _route_libraries(level: int, handler: logging.Handler) -> None:
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.captureWarnings(True)
    _set_library_level(level)


def _set_library_level(level: int) -> None:
    logging.getLogger().setLevel(level)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING) if level > logging.DEBUG else logging.INFO)


def _mask(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for key, value in event.items():
        if value and isinstance(value, str) and is_secret(key):
            event[key] = MASK
    return event

"""Bodies of late modules: one thread executes them, and types are not completed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LOCK: Final = threading.RLock()
BODIES: Final = threading.local()
"""How many bodies of modules this thread is executing, one inside of the other: `depth`."""

LONGEST_WAIT: Final = 20.0
"""Seconds for another thread to execute a module, which takes it some milliseconds."""


def is_in_a_body() -> bool:
    """Tell whether this thread is executing a module's body."""
    return bool(getattr(BODIES, "depth", 0))


@contextmanager
def one_thread(name: str) -> Iterator[None]:
    """One thread at a time executes late modules. Errors: ImportError where another one is at it for too long.

    The bound is for two that wait for each other, one for this lock and one for that of an import in progress.
    """
    if not LOCK.acquire(timeout=LONGEST_WAIT):
        raise ImportError(f"{name} cannot be loaded: another thread has been loading for {LONGEST_WAIT} s", name=name)
    try:
        yield
    finally:
        LOCK.release()


@contextmanager
def a_body() -> Iterator[None]:
    """Execute the body of a module in here. Types are completed by whoever uses them first."""
    BODIES.depth = getattr(BODIES, "depth", 0) + 1
    TYPES.begin()
    try:
        yield
    finally:
        TYPES.end()
        BODIES.depth -= 1


class Types:
    """Pydantic's setting by which types are completed later, in force while any thread executes a body.

    It holds for types that others make meanwhile, too: they are completed when they are first used.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bodies = 0
        self._before = False

    def begin(self) -> None:
        from pydantic import BaseModel

        with self._lock:
            if self._bodies == 0:
                self._before = bool(BaseModel.model_config.get("defer_build", False))
            self._bodies += 1
            BaseModel.model_config["defer_build"] = True

    def end(self) -> None:
        from pydantic import BaseModel

        with self._lock:
            self._bodies -= 1
            if self._bodies == 0:
                BaseModel.model_config["defer_build"] = self._before


TYPES: Final = Types()

"""Libraries without what we never use of them: parts that are optional to them are missing while they are imported.

They do without, and whoever needs the part elsewhere has it. What it saves is memory and time of every start.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class Missing(MetaPathFinder):
    """Says that there are no such modules, to the thread that made it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None: others know. Errors: ModuleNotFoundError."""
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is left out here", name=fullname)
        return None


@contextmanager
def without(*names: str) -> Iterator[None]:
    """In the block this thread cannot import these modules, unless they are loaded already."""
    missing = Missing(names)
    sys.meta_path.insert(0, missing)
    try:
        yield
    finally:
        sys.meta_path.remove(missing)

"""The library without what this channel never uses: to be imported before it.

Telegram passports (`cryptography`) and httpx's command line are optional to the library and to httpx, which do without
where they are missing. Here they are missing to these two: 9 of 16 MB and a third of the time that the import takes.
Whoever needs them elsewhere has them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

UNUSED: Final = ("cryptography.hazmat.backends", "httpx._main")


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


with without(*UNUSED):
    import telegram  # noqa: F401 - for its effect: from now on it is there

"""Libraries without what we never use of them: parts that are optional to them are missing while they are imported.

They do without, and whoever needs the part elsewhere has it. What it saves is memory and time of every start.
"""

from __future__ import annotations

import gc
import ssl
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

USUAL_COLLECTIONS: Final = gc.get_threshold()
NO_FULL_ONE: Final = 1 << 30
"""Collections of the middle generation before a full one."""


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


class LateContext(ssl.SSLContext):
    """A context of TLS that reads the certificates of the machine with its first connection, and is plain from then on."""

    def wrap_bio(self, *given: Any, **named: Any) -> ssl.SSLObject:
        """As of any other."""
        return self._complete().wrap_bio(*given, **named)

    def wrap_socket(self, *given: Any, **named: Any) -> ssl.SSLSocket:
        """As of any other."""
        return self._complete().wrap_socket(*given, **named)

    def _complete(self) -> ssl.SSLContext:
        self.__class__ = ssl.SSLContext  # type: ignore[assignment]  # the same layout: nothing is added
        self.load_default_certs()
        return self


@contextmanager
def late_certificates() -> Iterator[None]:
    """Contexts that are made in the block read no certificates yet: 2.5 MB for each, and 20 ms.

    For libraries that make some while they are imported. A context without certificates trusts nobody.
    """

    def postpone(context: ssl.SSLContext, *_: object) -> None:
        context.__class__ = LateContext

    ssl.SSLContext.load_default_certs, given = postpone, ssl.SSLContext.load_default_certs  # type: ignore[method-assign, assignment]
    ssl.SSLContext.set_default_verify_paths = postpone  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        ssl.SSLContext.load_default_certs = given  # type: ignore[method-assign]
        del ssl.SSLContext.set_default_verify_paths  # there is only the one below it


@contextmanager
def no_full_collections() -> Iterator[None]:
    """Young garbage is collected as ever. A full collection walks all that is loaded so far and holds everybody for up to
    130 ms, several times in one import; without them the longest hold is 25 ms, and the import takes a fifth less.

    One block may end within another: from then on all is as usual.
    """
    young, middle, _ = USUAL_COLLECTIONS
    gc.set_threshold(young, middle, NO_FULL_ONE)
    try:
        yield
    finally:
        gc.set_threshold(*USUAL_COLLECTIONS)

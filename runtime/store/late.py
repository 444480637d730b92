"""Parts of a store that are loaded with their first use: a process at rest needs none of them, and each takes some 100 KB."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def late(module: str, name: str, *given: object) -> Any:
    """An object that becomes `name` of `module`, made of what is given, as soon as anything of it is asked for."""
    return _Late(module, name, given)


class _Late:
    def __init__(self, module: str, name: str, given: tuple[object, ...]) -> None:
        self._way = module, name, given
        self._part: object = None

    def __getattr__(self, name: str) -> Any:
        """Of the part. Its methods are kept here: later calls cost what they cost there."""
        if self._part is None:
            module, part, given = self._way
            self._part = getattr(import_module(module), part)(*given)
        found = getattr(self._part, name)
        if callable(found):
            setattr(self, name, found)
        return found

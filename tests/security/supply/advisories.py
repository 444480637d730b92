"""Releases that nobody may install, from `advisories.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.security.supply.pins import Pin

TABLE: Final = Path(__file__).with_name("advisories.toml")


@dataclass(frozen=True, slots=True)
class Advisory:
    """Bad versions of a package: those listed, or all below `fixed_in`."""

    package: str
    id: str
    source: str
    date: date
    why: str
    versions: tuple[str, ...] = ()
    fixed_in: str = ""

    def concerns(self, pin: Pin) -> bool:
        if canonicalize_name(pin.name) != canonicalize_name(self.package):
            return False
        version = Version(pin.version)
        return version in map(Version, self.versions) or bool(self.fixed_in and version < Version(self.fixed_in))


def advisories() -> tuple[Advisory, ...]:
    """Errors: TypeError for a row with something missing or unknown."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["advisory"]
    return tuple(Advisory(**{**row, "versions": tuple(row.get("versions", ()))}) for row in rows)


def against(pin: Pin, known: Iterable[Advisory]) -> Iterator[str]:
    """Words for each advisory that concerns `pin`."""
    return (f"{pin.words}: {one.id}, {one.why} ({one.source})" for one in known if one.concerns(pin))

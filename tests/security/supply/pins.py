"""Pins of the lock files: each version of each package that is installed, with its hashes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
RUN: Final = "requirements.lock"
DEVELOPMENT: Final = "requirements-dev.lock"
INJECTION: Final = "bench/injection/requirements.lock"
CONFORMANCE: Final = "tests/conformance/requirements.lock"
HOMESERVER: Final = "tests/homeserver/requirements.lock"
LOCKS: Final = (RUN, DEVELOPMENT, INJECTION, CONFORMANCE, HOMESERVER)

BEGIN: Final = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>.*?))?\s*\\?"
)
HASH: Final = re.compile(r"--hash=(\w+:\w+)")
NEEDED_BY: Final = re.compile(r"^ +# (?:via|  )? +([A-Za-z0-9._-]+)", re.MULTILINE)
HOST: Final = re.compile(
    r"://|(?:^|\s)/\w|@\s*(?:file|git|http)|^\s*(?:-i|-f|-e|--index-url|--extra-index-url|--find-links|--trusted-host|--editable)\b",
    re.MULTILINE,
)
"""A place that packages would come from: an index, an address, a path."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One pin. Several with one name are of different platforms or Pythons, told by `marker`."""

    lock: str
    name: str
    version: str
    marker: str
    hashes: Sequence[str]
    needed_by: Sequence[str]
    text: str

    @property
    def words(self) -> str:
        return f"{self.lock}: {self.name} {self.version}"


def pins(lock: str) -> tuple[Pin, ...]:
    return read((ROOT / lock).read_text(encoding="utf-8"), lock)


def read(text: str, lock: str) -> tuple[Pin, ...]:
    """Errors: ValueError for a line that is no pin, since pip would install what stands there."""
    blocks = re.split(r"\n(?=[^\s#])", "\n" + re.sub(r"\A(?:#.*\n)*", "", text))
    return tuple(_pin(block, lock) for block in blocks if block.strip())


def _pin(block: str, lock: str) -> Pin:
    begin = BEGIN.fullmatch(block.split("\n")[0])
    if begin is None:
        raise ValueError(f"{lock}: no pin: {block.splitlines()[0]}")
    needed = tuple(NEEDED_BY.findall(block))
    found = begin.groupdict(default="")
    return Pin(lock, found["name"], found["version"], found["marker"], tuple(HASH.findall(block)), needed, block)


def versions(lock: str) -> Mapping[str, frozenset[str]]:
    """Versions of each package in `lock`."""
    found: dict[str, frozenset[str]] = {}
    for pin in pins(lock):
        found[pin.name] = found.get(pin.name, frozenset()) | {pin.version}
    return found

"""Values that were ours: they still stand in old files and logs, and may still open something at their vendor. Pure."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.guard.held import SHORTEST
from runtime.guard.sealing import Sealer

KEPT_MOST: Final = 200
"""Values that are no longer ours; of more the oldest go. Each costs some forms to look for."""

ABOUT: Final = "values that the leak guard keeps"


@dataclass(frozen=True, slots=True)
class Kept:
    """A value, by the name that it had last."""

    name: str
    value: str = field(repr=False)


def with_those_of_now(kept: Sequence[Kept], now: Iterable[tuple[str, str]], apart: Collection[str] = ()) -> list[Kept]:
    """Values to keep from a start on that holds `now`: those at the end, and of earlier ones the last. None of `apart`.

    >>> [
    ...     one.name
    ...     for one in with_those_of_now([Kept("old", "its-old-value")], [("new", "its-new-value"), ("pin", "1234")])
    ... ]
    ['old', 'new']
    """
    fresh = {value: Kept(name, value) for name, value in now if len(value.strip()) >= SHORTEST and value not in apart}
    return [*no_longer(kept, [*fresh, *apart])[-KEPT_MOST:], *fresh.values()]


def no_longer(kept: Sequence[Kept], values: Iterable[str]) -> list[Kept]:
    """Kept values that are none of `values`, which are held now."""
    held = set(values)
    return [one for one in kept if one.value not in held]


def sealed(kept: Sequence[Kept], sealer: Sealer) -> str:
    """The values in one line, and in the next a mark by which `holds` knows them."""
    line = sealer.seal(_words(kept), ABOUT)
    return f"{line}\n{sealer.mark(line + _words(kept), ABOUT)}\n"


def holds(text: str, kept: Sequence[Kept], sealer: Sealer) -> bool:
    """True if these values are sealed there, told without opening it: most starts hold what the last one held."""
    line, _, mark = text.partition("\n")
    return hmac.compare_digest(mark.strip().encode(), sealer.mark(line + _words(kept), ABOUT).encode())


def opened(text: str, sealer: Sealer) -> list[Kept]:
    """Errors: Unsealable."""
    return [Kept(name, value) for name, value in json.loads(sealer.open(text.partition("\n")[0], ABOUT))]


def _words(kept: Sequence[Kept]) -> str:
    return json.dumps([[one.name, one.value] for one in kept])

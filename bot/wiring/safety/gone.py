"""Values that are no longer ours and are still looked for, wherever they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from bot.secrets.file import Entries, Opened, SealedFile
from bot.secrets.removed import at_work, name_before, removed
from bot.settings.settings import Settings
from bot.wiring.safety.guard import key_of
from bot.wiring.safety.kept import KeptValues
from runtime.guard.findings import mark_of
from runtime.guard.kept import Kept, no_longer


@dataclass(frozen=True, slots=True)
class Gone:
    """One of them, by the name it had and the mark that findings show. `forget` ends the look for it."""

    name: str
    mark: str
    forget: Callable[[], None]


def gone_of(settings: Settings) -> list[Gone]:
    """Errors: SecretsError of a sealed file that cannot be opened."""
    key = key_of(settings.data_dir)
    files = [member.file for member in settings.chain.members if member.named or member.file.exists()]
    opened = [(file, file.open(settings.chain.keyring)) for file in files]
    used = {entry.value for _, one in opened for entry in at_work(one.entries).values()}
    sealed = [gone for file, one in opened for gone in _sealed(file, one, key)]
    kept = KeptValues(settings.data_dir, key)
    used |= {value for name, value in settings.held_values()} - _values(opened)
    others = [
        Gone(one.name, mark_of(one.value, key), partial(_forget, kept, one)) for one in no_longer(kept.read(), used)
    ]
    return [*sealed, *others]


def _values(opened: list[tuple[SealedFile, Opened]]) -> set[str]:
    """Values that are held only because a sealed file still has them."""
    return {one.entries[name].value for _, one in opened for name in removed(one.entries)}


def _sealed(file: SealedFile, opened: Opened, key: bytes) -> Iterator[Gone]:
    for name in removed(opened.entries):
        mark = mark_of(opened.entries[name].value, key)
        yield Gone(name_before(name), mark, partial(file.change, opened, partial(_drop, name)))


def _drop(name: str, entries: Entries) -> None:
    entries.pop(name, None)


def _forget(kept: KeptValues, one: Kept) -> None:
    kept.write([other for other in kept.read() if other != one])

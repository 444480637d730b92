"""Places in which a secret is looked for: the environment, what was handed over, then sealed files, the nearest first.

The file that the settings name must work: an error in it ends the start. Any other that cannot be read is skipped with
a warning, so that a stale one of the user does not hide the one of this data folder. No file is opened before a secret
is missing in the environment, but by the leak guard, which asks nobody for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from bot.secrets.errors import SecretsError
from bot.secrets.file import Entries, Opened, SealedFile
from bot.secrets.folder import Folder
from bot.secrets.keys import Keyring
from bot.secrets.removed import at_work, name_before

SEALED: Final = "secrets.sealed"


class Place(StrEnum):
    """Origin of a file of the chain, as people read it."""

    NAMED = "the settings"
    DATA = "the data folder"
    USER = "the user"


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the chain."""

    file: SealedFile
    place: Place

    @property
    def named(self) -> bool:
        return self.place is Place.NAMED


@dataclass(frozen=True, slots=True)
class Found:
    value: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A secret that calls may send to these hosts."""

    value: str = field(repr=False)
    hosts: tuple[str, ...]


def members(named: Path | None, data_dir: Path | None, config: Path | None) -> list[Member]:
    """The files of the chain: the one of the settings, the data folder's, the user's."""
    paths = {
        Place.NAMED: named,
        Place.DATA: data_dir and data_dir / SEALED,
        Place.USER: config and config / SEALED,
    }
    found: dict[Path, Member] = {}
    for place, path in paths.items():
        if path is not None:
            found.setdefault(path, Member(SealedFile(path), place))
    return list(found.values())


class Chain:
    """Looks secrets up. What was opened stays open for the next look."""

    def __init__(
        self,
        variables: Mapping[str, str],
        files: Sequence[Member],
        keyring: Keyring,
        *,
        folder: Folder | None = None,
    ) -> None:
        self.variables = variables
        self.folder = folder
        self.members = files
        self.keyring = keyring
        self._opened: dict[Path, Opened | None] = {}
        self.skipped: list[SecretsError] = []

    def find(self, name: str) -> Found | None:
        """The value of `name`, nearest first; an empty one counts as not set.

        Errors: SecretsError of the folder or file that the settings name.
        """
        if value := self.variables.get(name):
            return Found(value, name)
        if self.folder and (value := self.folder.value(name)):
            return Found(value, f"{name} in {self.folder.path}")
        for member in self.members:
            entry = self._entries(member).get(name)
            if entry is not None:
                return Found(entry.value, f"{name} in {member.file.path}")
        return None

    def is_handed_over(self, name: str) -> bool:
        """True if this process was given it. No sealed file is opened just to look: of those a setting has to ask."""
        return bool(self.variables.get(name) or (self.folder and self.folder.value(name)))

    def require_named(self) -> None:
        """Errors: SecretsError when the file that the settings name cannot be opened."""
        for member in self.members:
            if member.named:
                self._entries(member)

    def values(self) -> list[str]:
        """All values in what was opened."""
        return [entry.value for opened in self._held() for entry in opened.entries.values()]

    def unasked(self) -> list[tuple[str, str]]:
        """All values of sealed files, also removed ones, by the names they had: of those files that open without a person."""
        quiet = replace(self.keyring, ask=None)
        found = []
        for file in (member.file for member in self.members if member.file.exists()):
            with suppress(SecretsError):  # who needs a value of it is told by the settings
                opened = self._opened.get(file.path) or file.open(quiet)
                found += [(name_before(name), entry.value) for name, entry in opened.entries.items()]
        return found

    def bound(self, beside: Mapping[str, Sequence[str]]) -> dict[str, Bound]:
        """Secrets that calls may send, by name: sealed ones with hosts, and those that `beside` names hosts for.

        Nobody is asked for a passphrase: of files that want one, those are there that are open already.
        """
        found: dict[str, Bound] = {}
        for entries in self._quietly():
            for name, entry in entries.items():
                if hosts := tuple(dict.fromkeys([*beside.get(name, ()), *entry.hosts])):
                    found.setdefault(name, Bound(self._handed_over(name) or entry.value, hosts))
        for name, places in beside.items():
            if name not in found and (value := self._handed_over(name)):
                found[name] = Bound(value, tuple(places))
        return found

    def _handed_over(self, name: str) -> str:
        return self.variables.get(name) or (self.folder.value(name) if self.folder else "")

    def _quietly(self) -> Iterator[Entries]:
        quiet = replace(self.keyring, ask=None)
        for file in (member.file for member in self.members if member.file.exists()):
            with suppress(SecretsError):
                yield at_work((self._opened.get(file.path) or file.open(quiet)).entries)

    def passphrases(self) -> list[str]:
        """Passphrases that opened them."""
        return [opened.passphrase.text for opened in self._held()]

    def _held(self) -> list[Opened]:
        return [opened for opened in self._opened.values() if opened is not None]

    def _entries(self, member: Member) -> Entries:
        path = member.file.path
        if path not in self._opened:
            self._opened[path] = self._open(member)
        opened = self._opened[path]
        return opened.entries if opened else {}

    def _open(self, member: Member) -> Opened | None:
        if not member.named and not member.file.exists():
            return None
        try:
            return member.file.open(self.keyring)
        except SecretsError as error:
            if member.named:
                raise
            self.skipped.append(error)
            return None

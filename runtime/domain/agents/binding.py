"""Bindings: which agent a message is for, by where and by whom it is written. No I/O.

All conditions of one binding must hold, and of each list any of its globs. The most specific binding wins; two that are
equally specific and fit the same message are found when settings are read (`ties`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Final

from runtime.domain.agents.globs import literal_length, meet
from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.text.naming import is_identity


class Rank(IntEnum):
    """Rank of a binding, the more specific the higher. A person alone, whatever the room, counts as a role does."""

    NONE = 0
    ROLE = 1
    CHANNEL = 2
    ACCOUNT = 4
    ROOM = 8
    PERSON_IN_ROOM = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Conditions under which an agent answers. Rooms, accounts and channels are globs, people names or globs of identities, roles words.

    One without any condition fits nothing: such an agent is only reached by its name.
    """

    agent: str
    people: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()

    @property
    def rank(self) -> Rank:
        if self.rooms:
            return Rank.PERSON_IN_ROOM if self.people else Rank.ROOM
        if self.accounts:
            return Rank.ACCOUNT
        if self.channels:
            return Rank.CHANNEL
        return Rank.ROLE if self.roles or self.people else Rank.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A message to find the agent of. `room` and `account` (`slack:work`) are as the settings write them.

    `names` are the name and identities of whoever wrote it, none where nobody did; `role` is that person's word.
    """

    room: str
    names: frozenset[str] = frozenset()
    role: str = ""
    account: str = ""
    channel: str = ""


Fit = tuple[int, ...]
"""Rank of a binding, then how long the beginning is by which each kind of its globs fits; the larger one wins."""


@dataclass(frozen=True, slots=True)
class Tie:
    """Two bindings that are equally specific, and a glob of each that fits the same."""

    one: Binding
    other: Binding
    here: str
    there: str

    def __str__(self) -> str:
        """Both named, as the beginning of a sentence."""
        same = self.here if self.here == self.there else f"{self.here} and {self.there}"
        return f"{self.one.agent} and {self.other.agent} are both bound to {same}"


def binding_of(manifest: Manifest) -> Binding:
    return Binding(
        agent=manifest.name,
        people=manifest.people,
        rooms=manifest.rooms,
        roles=manifest.roles,
        accounts=manifest.accounts,
        channels=manifest.channels,
    )


def bound(bindings: Iterable[Binding], asked: Asked) -> str:
    """The agent that a message is for. Of two equally good ones, which `ties` finds, the first one's name by the alphabet."""
    found = [(fit, one.agent) for one in bindings if (fit := _fit(one, asked))]
    best = max((fit for fit, _ in found), default=())
    return min((agent for fit, agent in found if fit == best), default=MAIN)


def ties(bindings: Iterable[Binding]) -> list[Tie]:
    """Pairs that no rule can tell apart for some message."""
    pairs = combinations(bindings, 2)
    return [tie for one, other in pairs if one.agent != other.agent and (tie := _tie(one, other))]


def _fit(binding: Binding, asked: Asked) -> Fit:
    """Fit of a binding; empty where it does not fit."""
    kinds = (
        _longest(binding.rooms, [asked.room]),
        _longest_person(binding.people, asked.names),
        _longest(binding.accounts, [asked.account]),
        _longest(binding.channels, [asked.channel]),
        _longest(binding.roles, [asked.role]),
    )
    if binding.rank is Rank.NONE or None in kinds:
        return ()
    return (binding.rank, *(length for length in kinds if length is not None))


NOT_NAMED: Final = -1
"""Length for a kind of condition that a binding does not have."""


def _longest(globs: Sequence[str], texts: Collection[str]) -> int | None:
    """The longest beginning by which a glob fits; None where none does."""
    if not globs:
        return NOT_NAMED
    return max((literal_length(glob) for glob in globs if any(fnmatchcase(text, glob) for text in texts)), default=None)


def _longest_person(globs: Sequence[str], names: frozenset[str]) -> int | None:
    """As `_longest`. People call themselves as they like, so a glob only fits identities; a name is taken as written."""
    if not globs:
        return NOT_NAMED
    identities = [name for name in names if is_identity(name)]
    exact = [len(glob) for glob in globs if glob in names]
    fitting = [literal_length(glob) for glob in globs if any(fnmatchcase(one, glob) for one in identities)]
    return max((*exact, *fitting), default=None)


def _tie(one: Binding, other: Binding) -> Tie | None:
    """The tie of two bindings: each kind has globs of equal length that may fit the same."""
    if one.rank is Rank.NONE or one.rank != other.rank:
        return None
    found = [_alike(here, there) for here, there in _kinds(one, other)]
    if None in found:
        return None
    here, there = next(pair for pair in found if pair and pair[0])
    return Tie(one, other, here, there)


def _kinds(one: Binding, other: Binding) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    yield one.rooms, other.rooms
    yield one.people, other.people
    yield one.accounts, other.accounts
    yield one.channels, other.channels
    yield one.roles, other.roles


def _alike(one: Sequence[str], other: Sequence[str]) -> tuple[str, str] | None:
    """A glob of each that are equally long and may fit the same; empty texts where neither binding has any."""
    if not one and not other:
        return "", ""
    pairs = ((here, there) for here in one for there in other)
    same = ((a, b) for a, b in pairs if literal_length(a) == literal_length(b) and meet(a, b))
    return next(same, None)

"""A person who is being forgotten, and texts without them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Final

from runtime.domain.forgetting.words import OwnWords

SOMEBODY: Final = "(forgotten)"
"""Stands where a line of theirs stood."""
MARK_PREFIX: Final = "forgotten-"
MARK_CHARS: Final = 8
SCOPE_SIGN: Final = "|"
NAME_MIN_CHARS: Final = 2
NEEDLE_SETS: Final = ("names", "ids", "rooms", "others", "reasons")


def mark_of(digest: str) -> str:
    """Stands for one forgotten person in what is kept, so that rows of the audit still tell of one and the same."""
    return f"{MARK_PREFIX}{digest[:MARK_CHARS]}"


@dataclass(frozen=True, slots=True)
class Needles:
    """All by which a person is known: names that people wrote, ids of theirs, and rooms that are theirs alone. `others` are
    names of other people that have one of theirs in them, and stay. `reasons` are words with which they decided or answered."""

    person: str = ""
    name: str = ""
    names: Collection[str] = ()
    ids: Collection[str] = ()
    rooms: Collection[str] = ()
    others: Collection[str] = ()
    reasons: Collection[str] = ()

    def to_json(self) -> str:
        values = {name: sorted(getattr(self, name)) for name in NEEDLE_SETS}
        return json.dumps({"person": self.person, "name": self.name, **values}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Needles:
        said = json.loads(text)
        return cls(said["person"], said["name"], *(frozenset(said.get(name, ())) for name in NEEDLE_SETS))


def _bounded(texts: Iterable[str]) -> re.Pattern[str] | None:
    """One of these texts that is no part of a longer word or id; the longest first."""
    every = sorted({one for one in texts if len(one) >= NAME_MIN_CHARS}, key=lambda one: (-len(one), one))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, every))})(?!\w)") if every else None


@dataclass(frozen=True)
class Forgotten:
    """Takes one person out of texts."""

    needles: Needles
    mark: str
    words: OwnWords = field(default_factory=OwnWords)
    sessions: Collection[str] = frozenset()

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        return _bounded([*self.needles.names, *self.needles.others])

    @cached_property
    def _ids(self) -> re.Pattern[str] | None:
        return _bounded([*self.needles.ids, *self.needles.rooms])

    @cached_property
    def _reasons(self) -> re.Pattern[str] | None:
        """Their reasons and answers where our own words have them: in brackets, quotation marks, or as a quote on a card."""
        lines = {line.strip() for reason in self.needles.reasons for line in reason.splitlines()}
        spelled = {
            form for line in lines if line for form in (line, json.dumps(line, ensure_ascii=False)[1:-1], escape(line))
        }
        told = "|".join(re.escape(form) for form in sorted(spelled, key=lambda one: (-len(one), one)))
        places = (
            rf"(?<=\()(?:{told})(?=\))",
            rf'(?<=answered: ")(?:{told})(?=")',
            rf"(?:(?<=^> )|(?<=^&gt; ))(?:{told})$",
            rf"(?<=<blockquote>)(?:{told})(?=</blockquote>)",
        )
        return re.compile("|".join(places)) if told else None

    @cached_property
    def _rooms(self) -> Mapping[str, str]:
        """Rooms of theirs, and what stands for them."""
        return {room: room.rpartition("/")[0] + f"/{self.mark}" for room in self.needles.rooms}

    def is_theirs(self, value: str | None) -> bool:
        """True for an id of theirs, and for an address, session or scope of a room that is theirs alone."""
        if not value:
            return False
        place = value.split(SCOPE_SIGN)[-1]
        if place in self.needles.ids or place == self.mark:
            return True
        return any(place == room or place.startswith(f"{room}/") for room in self.needles.rooms)

    def without_ids(self, text: str) -> str:
        """`text` with a mark in the place of their ids and rooms."""
        return self._ids.sub(lambda found: self._rooms.get(found.group(), self.mark), text) if self._ids else text

    def names_them(self, text: str) -> bool:
        return self._without_names(text) != text

    def is_told_in(self, text: str) -> bool:
        """True if a text names them, or has words that only they wrote."""
        return self.without(text) != text

    def without(self, text: str) -> str:
        """`text` without lines that have their words, without their names, and with a mark for their ids."""
        if not text:
            return text
        lines = [SOMEBODY if self.words.are_in(line) else self._line(line) for line in text.split("\n")]
        kept = "\n".join(lines)
        # What they wrote may run on over lines.
        return SOMEBODY if len(lines) > 1 and self.words.are_in(kept) else kept

    def _line(self, line: str) -> str:
        said = self._reasons.sub(SOMEBODY, line) if self._reasons else line
        return self._without_names(self.without_ids(said))

    def _without_names(self, text: str) -> str:
        kept, pattern = self.needles.others, self._names
        return pattern.sub(lambda one: one.group() if one.group() in kept else self.mark, text) if pattern else text

    def without_in_json(self, text: str) -> str:
        """The same for each string of a JSON text, which stays JSON."""
        try:
            value = json.loads(text) if text.startswith(("{", "[", '"')) else None
        except ValueError:
            value = None
        if value is None:
            return self.without(text)
        cleaned = self._value(value)
        return text if cleaned == value else json.dumps(cleaned, ensure_ascii=False)

    def _value(self, value: Any) -> Any:
        match value:
            case str() if value.startswith(("{", "[")):  # a call's arguments are JSON in JSON
                return self.without_in_json(value)
            case str():
                return self.without(value)
            case dict():
                return {self.without(name): self._value(one) for name, one in value.items()}
            case list():
                return [self._value(one) for one in value]
            case _:
                return value

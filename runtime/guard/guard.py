"""The guard: one door through which text passes before it is kept, sent or shown."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from operator import itemgetter
from types import MappingProxyType
from typing import Final

import structlog

from runtime.guard.entropy import RANDOM_NAME, random_in
from runtime.guard.findings import (
    EXACTNESS,
    MARKED,
    WITHHELD,
    Clean,
    Detector,
    Finding,
    Found,
    Gate,
    Strictness,
    in_place_of,
    mark_of,
    stricter,
    withheld_for,
)
from runtime.guard.held import SHORTEST, Held
from runtime.guard.own_rules import OwnRule
from runtime.guard.personal import PERSONAL_KINDS, PHONE_NAME, personal_in
from runtime.guard.shapes import PRIVATE_KEY, SHAPES, SHORTEST_WORD, shapes_in

log = structlog.get_logger("guard")

OFF: Final = Strictness.OFF
USUAL: Final[Mapping[Detector, Strictness]] = MappingProxyType(
    {
        Detector.HELD: Strictness.REDACT,
        Detector.SHAPE: Strictness.REDACT,
        Detector.ENTROPY: Strictness.WARN,
        Detector.PERSONAL: Strictness.OFF,
    }
)
MARK_NAMES: Final = frozenset(
    (PRIVATE_KEY.name, *(one.name for one in SHAPES), RANDOM_NAME, PHONE_NAME, *PERSONAL_KINDS)
)
"""Names that stand in our marks, beside those of values and rules."""
MARKDOWN_ESCAPE: Final = re.compile(r"\\(?=[!#*+./:=@_~-])")
"""A backslash that no reader of Markdown sees: models write `ghp\\_…`."""
BROKEN: Final = (
    f"{WITHHELD}the leak guard could not read this text, so nobody gets it. Operators can see why in the log.]"
)


@dataclass(frozen=True, slots=True)
class Checked:
    """A text as it may go on. `is_withheld`: words of ours stand in its place."""

    text: Clean
    findings: Sequence[Finding] = ()
    is_withheld: bool = False


@dataclass(frozen=True, slots=True)
class GuardRules:
    """Strictness of the guard, by detector, and tighter in some rooms: the first glob that fits decides. `key` is what marks
    are made with."""

    strictness: Mapping[Detector, Strictness] = field(default_factory=lambda: USUAL)
    rooms: Sequence[tuple[str, Mapping[Detector, Strictness]]] = ()
    own: Sequence[OwnRule] = ()
    key: bytes = b""

    def of(self, room: str) -> Mapping[Detector, Strictness]:
        """Strictness in a room: that of all, or where it is tighter its own."""
        if not self.rooms:
            return self.strictness
        own = next((rules for glob, rules in self.rooms if fnmatchcase(room, glob)), None)
        if not own:
            return self.strictness
        return {one: stricter(self.strictness.get(one, OFF), own.get(one, OFF)) for one in Detector}


LENT_MOST: Final = 4
"""Values of one name that came while we work: an old token may be good for a while after it was renewed."""
NOTHING: Final = Checked(Clean(""))
"""Most messages have some parts without words."""


class Guard:
    """Finds what must not flow. A failure of its own withholds the text."""

    def __init__(self, rules: GuardRules, held: Held | None = None) -> None:
        self._rules = rules
        self.held = held or Held()
        self._set, self._lent = self.held, dict[str, tuple[str, ...]]()
        self._own = {rule.name: rule.action for rule in rules.own}
        self._names = MARK_NAMES | self._own.keys() | self.held.names
        self.differs_by_gate, self.differs_by_room = any(rule.gates for rule in rules.own), bool(rules.rooms)
        self.learned = 0

    def know(self, name: str, value: str) -> None:
        """Know one more value by this name, such as a token that was renewed; the newest ones of a name are known."""
        before = self._lent.get(name, ())
        if value not in before:
            self._lent[name] = (*before, value)[-LENT_MOST:]
            lent = [(name, value) for name, values in self._lent.items() for value in values]
            self.held = Held(lent, besides=self._set)
            self._names |= self.held.names
            self.learned += 1  # behind the rest: who reads it looks with all that it counts

    def check(self, text: str, gate: Gate, room: str = "") -> Checked:
        """`text` as it may go on at `gate`; a room is named as the settings write it."""
        if not text:
            return NOTHING
        try:
            return self._checked(text, gate, self._rules.of(room))
        except Exception:  # closed, whatever it is: a detector of a rule, a text like no other
            log.exception("the leak guard failed", gate=gate.value, characters=len(text))
            return Checked(Clean(BROKEN), (), is_withheld=True)

    def strictest(self, gate: Gate, room: str = "") -> Strictness:
        """The strictest action at `gate`, for a text that is too long to be looked at."""
        own = [rule.action for rule in self._rules.own if not rule.gates or gate in rule.gates]
        return stricter(OFF, *self._rules.of(room).values(), *own)

    def _checked(self, text: str, gate: Gate, strictness: Mapping[Detector, Strictness]) -> Checked:
        found = list(self._found(text, gate, strictness))
        if "\\" in text and (plain := MARKDOWN_ESCAPE.sub("", text)) != text:
            found += _in_escaped(text, self._found(plain, gate, strictness))
        if not found:
            return Checked(Clean(text))
        places = apart(self._outside_marks(found, text) if "[redacted: " in text else found)
        told = [(one, self._finding(one, text, strictness)) for one in places]
        findings = tuple(dict.fromkeys(finding for _, finding in told))
        if why := withheld_for(findings):
            return Checked(Clean(f"{WITHHELD}it holds {why}]"), findings, is_withheld=True)
        return Checked(Clean("".join(_redacted(text, told))), findings)

    def _found(self, text: str, gate: Gate, strictness: Mapping[Detector, Strictness]) -> Iterator[Found]:
        words = [word for word in text.split() if len(word) >= SHORTEST]
        # Each word once: logs say the same over and over.
        longer = dict.fromkeys([word for word in words if len(word) >= SHORTEST_WORD])
        long_words = "\n".join(longer)
        if strictness.get(Detector.HELD, OFF) is not OFF:
            yield from self.held.found(text, "\n".join(words))
        if strictness.get(Detector.SHAPE, OFF) is not OFF and (long_words or "PRIVATE KEY" in text):
            yield from shapes_in(text, long_words)
        if strictness.get(Detector.ENTROPY, OFF) is not OFF and long_words:
            yield from random_in(text, longer)
        if strictness.get(Detector.PERSONAL, OFF) is not OFF:
            yield from personal_in(text)
        for rule in self._rules.own:
            if rule.action is not OFF:
                yield from rule.found(text, gate)

    def _outside_marks(self, found: Iterable[Found], text: str) -> Iterator[Found]:
        """Findings that are not words of a mark of ours: anybody may write something like a mark around a secret."""
        marks = [match.span() for match in MARKED.finditer(text) if match[1] in self._names]
        starts = [start for start, _ in marks]
        for one in found:
            before = bisect_right(starts, one.start)
            if not before or marks[before - 1][1] < one.end:
                yield one

    def _finding(self, one: Found, text: str, strictness: Mapping[Detector, Strictness]) -> Finding:
        value = text[one.start : one.end]
        known = self.held.value_of(value)
        if known == value and "\\" in value:
            known = self.held.value_of(MARKDOWN_ESCAPE.sub("", value))
        mark = mark_of(known, self._rules.key)
        action = self._own[one.name] if one.detector is Detector.RULE else strictness[one.detector]
        return Finding(one.detector, one.name, mark, action)


def _redacted(text: str, told: Sequence[tuple[Found, Finding]]) -> Iterator[str]:
    at = 0
    for one, finding in told:
        if finding.action is Strictness.REDACT:
            yield text[at : one.start]
            yield in_place_of(finding.name, finding.mark)
            at = one.end
    yield text[at:]


def _in_escaped(text: str, found: Iterable[Found]) -> Iterator[Found]:
    """Places in `text` of what was found in it without its escapes."""
    gone = [escape.start() - number for number, escape in enumerate(MARKDOWN_ESCAPE.finditer(text))]
    for one in found:
        start = one.start + bisect_left(gone, one.start)  # with the backslash before it, which would escape the mark
        yield replace(one, start=start, end=one.end + bisect_right(gone, one.end - 1))


def apart(found: Iterable[Found]) -> list[Found]:
    """Findings that do not overlap, in the order of the text: of those that do the most exact one, grown to hold all.

    What only looks random says nothing where there is more to say.
    """
    every = list(found)
    sure = _joined(one for one in every if one.detector is not Detector.ENTROPY)
    spans = [(one.start, one.end) for one in sure]
    alone = [one for one in every if one.detector is Detector.ENTROPY and not _meets(spans, one)]
    return _joined([*sure, *alone]) if alone else sure


def _joined(found: Iterable[Found]) -> list[Found]:
    joined: list[Found] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        last = joined[-1] if joined else None
        if last is None or one.start >= last.end:
            joined.append(one)
            continue
        best = min(last, one, key=lambda each: EXACTNESS.index(each.detector))
        joined[-1] = Found(best.detector, best.name, last.start, max(last.end, one.end))
    return joined


def _meets(spans: Sequence[tuple[int, int]], one: Found) -> bool:
    """True where it overlaps one of `spans`, which are in order and apart. Looked up, since a text may have thousands of both."""
    behind = bisect_left(spans, one.end, key=itemgetter(0))
    return behind > 0 and spans[behind - 1][1] > one.start

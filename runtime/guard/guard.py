"""The guard: one door through which text passes before it is kept, sent or shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

import structlog

from runtime.guard.entropy import random_in
from runtime.guard.findings import (
    EXACTNESS,
    MARKED,
    Clean,
    Detector,
    Finding,
    Found,
    Gate,
    Strictness,
    in_place_of,
    mark_of,
    stricter,
)
from runtime.guard.held import SHORTEST, Held
from runtime.guard.own_rules import OwnRule
from runtime.guard.personal import personal_in
from runtime.guard.shapes import SHORTEST_WORD, shapes_in

log = structlog.get_logger("guard")

USUAL: Final[Mapping[Detector, Strictness]] = MappingProxyType(
    {
        Detector.HELD: Strictness.REDACT,
        Detector.SHAPE: Strictness.REDACT,
        Detector.ENTROPY: Strictness.WARN,
        Detector.PERSONAL: Strictness.OFF,
    }
)
BROKEN: Final = (
    "[withheld: the leak guard could not read this text, so nobody gets it. Operators can see why in the log.]"
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
        own = next((rules for glob, rules in self.rooms if fnmatchcase(room, glob)), None)
        if not own:
            return self.strictness
        return {one: stricter(self.strictness.get(one, OFF), own.get(one, OFF)) for one in Detector}


OFF: Final = Strictness.OFF


class Guard:
    """Finds what must not flow. A failure of its own withholds the text."""

    def __init__(self, rules: GuardRules, held: Held | None = None) -> None:
        self._rules = rules
        self.held = held or Held()
        self._own = {rule.name: rule.action for rule in rules.own}

    def check(self, text: str, gate: Gate, room: str = "") -> Checked:
        """`text` as it may go on at `gate`; a room is named as the settings write it."""
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
        if not found:
            return Checked(Clean(text))
        kept = [] if "[redacted: " not in text else [match.span() for match in MARKED.finditer(text)]
        places = apart(one for one in found if not any(start < one.end and one.start < end for start, end in kept))
        told = [(one, self._finding(one, text, strictness)) for one in places]
        findings = tuple(dict.fromkeys(finding for _, finding in told))
        if any(finding.action is Strictness.ENFORCE for finding in findings):
            named = ", ".join(str(one) for one in findings if one.action is Strictness.ENFORCE)
            return Checked(Clean(f"[withheld: it holds {named}]"), findings, is_withheld=True)
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

    def _finding(self, one: Found, text: str, strictness: Mapping[Detector, Strictness]) -> Finding:
        value = text[one.start : one.end]
        mark = mark_of(self.held.value_of(value), self._rules.key)
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


def apart(found: Iterable[Found]) -> list[Found]:
    """Findings that do not overlap, in the order of the text: of those that do the most exact one, grown to hold all.

    What only looks random says nothing where there is more to say.
    """
    every = list(found)
    sure = [one for one in every if one.detector is not Detector.ENTROPY]
    maybe = [one for one in every if one.detector is Detector.ENTROPY]
    alone = [one for one in maybe if not any(each.start < one.end and one.start < each.end for each in sure)]
    joined: list[Found] = []
    for one in sorted([*sure, *alone], key=lambda each: (each.start, -each.end)):
        last = joined[-1] if joined else None
        if last is None or one.start >= last.end:
            joined.append(one)
            continue
        best = min(last, one, key=lambda each: EXACTNESS.index(each.detector))
        joined[-1] = Found(best.detector, best.name, last.start, max(last.end, one.end))
    return joined

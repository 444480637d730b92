"""Rules of the settings: a pattern, words or a phrase that must not flow. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.guard.findings import Detector, Found, Gate, Strictness

Spans = Callable[[str], Iterator[tuple[int, int]]]

NO_LIBRARY: Final = 'words or a phrase: a pattern needs an extra, pip install "signalbox-bot[guard]"'


@dataclass(frozen=True, slots=True)
class OwnRule:
    """`spans` finds it in a text. Without gates it holds at each of them."""

    name: str
    spans: Spans
    action: Strictness = Strictness.REDACT
    gates: frozenset[Gate] = field(default_factory=frozenset)

    def found(self, text: str, gate: Gate) -> Iterator[Found]:
        if not self.gates or gate in self.gates:
            for start, end in self.spans(text):
                if end > start:
                    yield Found(Detector.RULE, self.name, start, end)


def of_words(words: tuple[str, ...]) -> Spans:
    """Any of these words, whatever their case, as words of their own: also in `_italics_` and in a name such as `its_id`."""
    return _matches(re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, words))})(?![^\W_])", re.IGNORECASE))


def of_phrase(phrase: str) -> Spans:
    """These words in this order, whatever their case and the blanks between them."""
    return _matches(re.compile(r"\s+".join(map(re.escape, phrase.split())), re.IGNORECASE))


def of_pattern(pattern: str) -> Spans:
    """A pattern of RE2, which takes no longer than the text is long. Errors: ValueError, with the reason."""
    try:
        import re2
    except ImportError:
        raise ValueError(NO_LIBRARY) from None
    quiet = re2.Options()
    quiet.log_errors = False  # else the library writes to standard error beside what we say
    try:
        return _matches(re2.compile(pattern, options=quiet))
    except re2.error as error:
        reason = error.args[0]
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ValueError(f"a regular expression of RE2; {told}") from None


def _matches(pattern: Any) -> Spans:
    def spans(text: str) -> Iterator[tuple[int, int]]:
        return (match.span() for match in pattern.finditer(text))

    return spans

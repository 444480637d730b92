"""`[guard]` and `[[guard_rules]]`: secrets and personal data in what flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from runtime.guard.findings import Detector, Gate, Strictness
from runtime.guard.own_rules import OwnRule, Spans, of_pattern, of_phrase, of_words
from runtime.settings.types import Section, Text

if TYPE_CHECKING:
    from bot.settings.sources import Layers

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

WAYS: Final = ("words", "phrase", "pattern")
STRICTNESS: Final = (
    '"off", "warn" (only recorded), "redact" (a mark takes its place) or "enforce" (the whole text is withheld)'
)


class Guardrails(StrEnum):
    """Choice of a start about the leak guard as a whole, over all settings."""

    AS_SET = ""
    OFF = "off"
    ENFORCED = "enforced"

    @property
    def words(self) -> str:
        """For everybody who sees this process; empty where the settings hold."""
        return GUARDRAIL_WORDS.get(self, "")


GUARDRAIL_WORDS: Final[Mapping[Guardrails, str]] = {
    Guardrails.OFF: (
        "The leak guard is off: this process was started with --no-guardrails. Keys and tokens are stored, sent to the "
        "model and shown. To turn it on again, start without that flag."
    ),
}


class GuardSection(Section):
    """The leak guard: what happens to secrets and personal data in messages, calls, results and answers. See [security.md](security.md)."""

    secrets: Strictness = Field(
        default=Strictness.REDACT,
        description=f"Values of our own settings and known shapes of keys and tokens: {STRICTNESS}.",
    )
    random: Strictness = Field(
        default=Strictness.WARN, description="Long random text without a known shape: as above. It is often no secret."
    )
    personal: Strictness = Field(
        default=Strictness.OFF,
        description="E-mail addresses, phone numbers, IBANs, card numbers and US social security numbers: as above.",
    )

    @property
    def strictness(self) -> Mapping[Detector, Strictness]:
        return {
            Detector.HELD: self.secrets,
            Detector.SHAPE: self.secrets,
            Detector.ENTROPY: self.random,
            Detector.PERSONAL: self.personal,
        }


def _name(text: str) -> str:
    if any(mark in text for mark in "[]\n·"):
        raise ValueError("text without brackets, line ends and dots in the middle")
    return text


def _phrase(text: str) -> str:
    if text and not text.split():
        raise ValueError("text with a word in it")
    return text


def _pattern(text: str) -> str:
    if text:
        of_pattern(text)
    return text


class GuardRule(Section):
    """Something of your own that must not flow: words, a phrase or a pattern."""

    name: Annotated[Text, AfterValidator(_name)] = Field(
        max_length=40, description="Its name, which stands in the mark."
    )
    words: tuple[Text, ...] = Field(default=(), description="Any of these words, in upper or lower case.")
    phrase: Annotated[str, AfterValidator(_phrase)] = Field(
        default="", max_length=1_000, description="These words in this order, in upper or lower case."
    )
    pattern: Annotated[str, AfterValidator(_pattern)] = Field(
        default="",
        max_length=1_000,
        description='A regular expression of RE2: no lookaround, no references. Needs an extra: `pip install "signalbox-bot[guard]"`.',
    )
    gates: tuple[Gate, ...] = Field(
        default=(), description="Where it holds. Empty: everywhere. " + ", ".join(f'"{gate}"' for gate in Gate) + "."
    )
    result: Strictness = Field(default=Strictness.REDACT, description=f"What happens: {STRICTNESS}.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [way for way in WAYS if getattr(self, way)]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of words, phrase and pattern; it has {' and '.join(given) or 'none'}")
        return self

    def _spans(self) -> Spans:
        if self.words:
            return of_words(self.words)
        return of_phrase(self.phrase) if self.phrase else of_pattern(self.pattern)

    def finds(self, text: str) -> bool:
        """True if it finds something at a gate of its own."""
        return any(self.rule.found(text, self.gates[0] if self.gates else Gate.MESSAGE_IN))

    def holds_elsewhere(self, text: str, gate: Gate) -> bool:
        """True if it would find something in `text`, but not at `gate`."""
        return bool(self.gates) and gate not in self.gates and self.finds(text)

    @property
    def rule(self) -> OwnRule:
        return OwnRule(self.name, self._spans(), self.result, frozenset(self.gates))


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Faults that only show beside other tables."""
    taken: dict[Any, str] = {}
    for place, table in layers.tables("guard_rules"):
        name = table.get("name")
        if isinstance(name, str) and name in taken:
            yield f"{place}.name", f'"{name}" is the name of {taken[name]} already; choose another'
        taken.setdefault(name, place)

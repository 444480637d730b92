"""The report of a first start, in words for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.onboarding.first_task import Tried
from bot.onboarding.looking import Seen
from bot.tryouts.causes import CauseWord

REPORT_VERSION: Final = 1
"""Of the JSON: a field more is no new version."""
EXIT_WORKS: Final = 0
EXIT_FAULT: Final = 1
EXIT_WAITS: Final = 3
EXIT_NO_ANSWER: Final = 4
CODES: Final = {CauseWord.WAITS: EXIT_WAITS, CauseWord.NO_ANSWER: EXIT_NO_ANSWER}
"""As `signalbox ask` ends."""


@dataclass(slots=True)
class Report:
    """All that was done. `failure` is what kept the settings from being made: then nothing else was tried."""

    file: Path | None = None
    is_new: bool = False
    seen: Sequence[Seen] = ()
    tried: Tried | None = None
    failure: tuple[CauseWord, str] | None = None
    next_commands: Sequence[str] = field(default_factory=tuple)

    @property
    def code(self) -> int:
        if self.failure or any(one.is_fault for one in self.seen) or self.tried is None:
            return EXIT_FAULT
        return CODES.get(self.tried.cause, EXIT_FAULT) if self.tried.cause else EXIT_WORKS

    @property
    def trouble(self) -> tuple[CauseWord, str, str] | None:
        """The first thing to mend: its cause, what it is, and the one fix."""
        if self.failure:
            return (*self.failure, "")
        if fault := next((one for one in self.seen if one.is_fault), None):
            return fault.cause or CauseWord.OTHER, fault.finding.what, fault.finding.fix
        if self.tried and self.tried.cause:
            return self.tried.cause, self.tried.what, self.tried.fix
        return None

    def as_json(self) -> dict[str, Any]:
        trouble = self.trouble
        return {
            "v": REPORT_VERSION,
            "works": self.code == EXIT_WORKS,
            "settings": str(self.file) if self.file else None,
            "made": self.is_new,
            "checks": [_check(one) for one in self.seen],
            "task": _task(self.tried) if self.tried else None,
            "failure": dict(zip(("cause", "what", "fix"), trouble, strict=True)) if trouble else None,
            "next": list(self.next_commands),
        }


def _check(one: Seen) -> dict[str, Any]:
    found = one.finding
    told = {"id": found.id, "level": found.level, "what": found.what, "why": found.why, "fix": found.fix}
    return {**told, "cause": one.cause}


def _task(tried: Tried) -> dict[str, Any]:
    return {
        "text": tried.text,
        "room": tried.room,
        "run": tried.run,
        "answer": tried.answer,
        "tools": list(tried.tools),
        "seconds": round(tried.seconds, 3),
        "cause": tried.cause,
        "what": tried.what,
        "fix": tried.fix,
    }

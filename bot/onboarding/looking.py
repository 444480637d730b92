"""A look at what is set up: those of the doctor's checks that a first task depends on, with the cause of each fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.doctor.examine import CHECKS, examine
from bot.settings.settings import Settings
from bot.tryouts.causes import CauseWord
from bot.tryouts.model import cause_of_words
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

LOOKED_AT: Final = ("settings", "secrets", "data_dir", "process", "store", "web", "sandbox", "model")
"""Names of the doctor's checks."""
CAUSES: Final[tuple[tuple[str, CauseWord], ...]] = (
    ("model.key", CauseWord.KEY_REFUSED),
    ("model.reachable", CauseWord.PROVIDER_UNREACHABLE),
    ("model", CauseWord.MODEL_UNAVAILABLE),
    ("sandbox", CauseWord.SANDBOX_MISSING),
    ("data_dir", CauseWord.DISK),
    ("workspace_dir", CauseWord.DISK),
    ("store", CauseWord.DATABASE),
    ("web.port", CauseWord.PORT_TAKEN),
    ("process", CauseWord.PROCESS),
    ("", CauseWord.SETTINGS),
)
"""Causes by how a finding's id begins; where a model says why, its words decide."""
HARMLESS: Final = (CauseWord.SANDBOX_MISSING, CauseWord.PORT_TAKEN)
"""Causes that don't keep a first task from running, in a process that listens on any free port."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding, with its cause where something does not work."""

    finding: Finding
    cause: CauseWord | None = None

    @property
    def is_fault(self) -> bool:
        return self.finding.level is Level.ERROR

    @property
    def stops_the_task(self) -> bool:
        return self.is_fault and self.cause not in HARMLESS


async def look(
    settings: Settings, faults: ConfigError | None, tell: Callable[[Seen], None], clean: Callable[[str], str]
) -> Sequence[Seen]:
    """Findings, told as they are made. The model is asked for one word. `clean` keeps secrets out."""
    found = []
    checks = {name: CHECKS[name] for name in LOOKED_AT}
    async for finding in examine(settings, faults, live=True, checks=checks):
        safe = replace(finding, what=clean(finding.what), why=clean(finding.why), fix=clean(finding.fix))
        seen = Seen(safe, cause_of(finding))
        found.append(seen)
        tell(seen)
    return found


def cause_of(finding: Finding) -> CauseWord | None:
    """
    >>> cause_of(Finding(Level.ERROR, "web.port", "127.0.0.1:8080 is in use by another program")).value
    'port taken'
    """
    if finding.level is Level.OK or (finding.level is Level.WARNING and not finding.id.startswith("sandbox")):
        return None
    if finding.id == "model.answers":
        known = cause_of_words(finding.what)
        return CauseWord.MODEL_UNAVAILABLE if known is CauseWord.OTHER else known
    return next(cause for begin, cause in CAUSES if finding.id.startswith(begin))

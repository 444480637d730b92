"""The record of what the leak guard found, while more is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from structlog.testing import capture_logs

from bot.wiring.safety.guard import WAITING_MOST, GuardBook
from runtime.context.watch import UNWATCHED
from runtime.guard.findings import Detector, Finding, Gate, Strictness
from runtime.store.protocol import Cluster


@dataclass
class Facts:
    """Takes facts. `meanwhile` happens once, while the first is written."""

    meanwhile: Callable[[], None]
    details: list[str] = field(default_factory=list)

    async def note_fact(self, kind: str, by: str, subject: str, detail: str) -> None:
        self.details.append(detail.partition("·")[2].partition(" ")[0])
        happens, self.meanwhile = self.meanwhile, lambda: None
        happens()


def finding(number: int) -> Finding:
    return Finding(Detector.SHAPE, "API key", f"{number:04}", Strictness.REDACT)


async def test_of_too_many_findings_only_the_oldest_give_way_also_while_one_is_recorded() -> None:
    def tell(first: int, last: int) -> None:
        with capture_logs():
            for number in range(first, last):
                book.told(Gate.MESSAGE_IN, "", finding(number))

    facts = Facts(lambda: tell(WAITING_MOST, WAITING_MOST + 1))
    book = GuardBook(cast("Cluster", facts), UNWATCHED)
    tell(0, WAITING_MOST)
    await book.record()
    assert facts.details == [f"{number:04}" for number in range(WAITING_MOST + 1)]

"""From a press on Approve to the card's change, beside a bare handler that changes its message itself.

Both sides use the platform's own SDK on fakes of the same kind, and take turns; each card is in a room of its own. A
press is decided in the store before anything is shown of it, and its transactions are counted as well, on the page: with
copies of the card in more places there may be one more for each place and each change of the card.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.channels import CHANNELS, UNBOUND, Side, bare_side, home, our_side, people
from bench.figures import Figure, at_most, high, middle, ratio_at_most
from bench.statements import CLICK, heard_of, quiet
from bench.tape import Operation
from runtime.contract import Role
from runtime.markup.moments import several

CLICKS: Final = 60
WARM: Final = 8
MOST: Final = 1.5  # x the bare handler's; source: the design of approvals
EXTRA_PLACES: Final = (1, 3)
SETTINGS: Final = '[web]\nport = 0\n[approvals]\nto = ["room"]\n'
"""The demo model asks for the call, and nobody else is shown the card."""
NOTES: Final = {"deny": "the card changes once", "approve": "the card changes twice: decided, done"}
NOBODY: Final = "http://127.0.0.1:9/v1"
LIFTED: Final = f"messages_per_second = {UNBOUND}"


@dataclass(frozen=True, slots=True)
class Sides:
    ours: Side
    bare: Side


async def clicks(short: bool) -> list[Figure]:
    figures = []
    for name in ("telegram",) if short else CHANNELS:
        with tempfile.TemporaryDirectory() as place:
            figures += await _on(name, Path(place), 2 if short else CLICKS)
    return figures + await _transactions(EXTRA_PLACES[:1] if short else EXTRA_PLACES)


async def _on(name: str, folder: Path, count: int) -> list[Figure]:
    with people(name, folder) as known:
        data = await home(folder / "ours", known, Role.OPERATOR)
        with our_side(known, data, SETTINGS) as ours, _bare(name, folder) as bare:
            sides = Sides(ours, bare)
            _in_turns(sides, WARM if count > WARM else 1)
            before = ours.program.processor_seconds, bare.program.processor_seconds
            our_times, bare_times = _in_turns(sides, count)
            used = ours.program.processor_seconds - before[0], bare.program.processor_seconds - before[1]
    tails = f"p99 {high(our_times) * 1000:.1f}, bare {high(bare_times) * 1000:.1f}; {LIFTED}"
    ours_ms, bare_ms = (max(seconds, 0.01) / count * 1000 for seconds in used)
    return [
        Figure(
            f"click {name}, p50",
            middle(our_times) * 1000,
            "ms",
            middle(bare_times) * 1000,
            ratio_at_most(MOST),
            tails,
        ),
        Figure(
            f"processor time, click {name}",
            ours_ms,
            "ms a card",
            bare_ms,
            note="with the request, the call and its answer; bare the card alone",
        ),
    ]


@contextmanager
def _bare(name: str, folder: Path) -> Iterator[Side]:
    with people(name, folder) as others, bare_side(name, others, folder, NOBODY, stream=False) as side:
        yield side


def _in_turns(sides: Sides, count: int) -> tuple[list[float], list[float]]:
    """Seconds of each click: ours, and the bare handler's."""
    pairs = [(sides.ours.people.clicks(1), sides.bare.people.clicks(1)) for _ in range(count)]
    return [ours.times[0] for ours, _ in pairs], [bare.times[0] for _, bare in pairs]


async def _transactions(places: Sequence[int]) -> list[Figure]:
    """Commits from the press until every copy says what came of it, beside those without a copy.

    A denial changes the card once, and that is bounded; an approval twice: who decided, and what came of it.
    """
    quiet()
    figures = []
    for choice in ("deny", "approve"):
        alone = await commits(choice, 0)
        figures.append(Figure(f"transactions of a click, {choice}", alone, "commits"))
        for extra in places:
            bound = at_most(alone + extra) if choice == "deny" else None
            name = f"transactions of a click, {choice}, {several(extra, 'extra place')}"
            figures.append(Figure(name, await commits(choice, extra), "commits", alone, bound, NOTES[choice]))
    return figures


async def commits(choice: str, extra: int) -> int:
    """Those that follow a press. The answer's is left out: where its room is free, it is shown by the run's last one."""
    with tempfile.TemporaryDirectory() as folder:
        heard = await heard_of(CLICK, Path(folder), choice=choice, extra=extra)
    return sum(operation.changes and not _shows_the_answer(operation) for operation in heard)


def _shows_the_answer(operation: Operation) -> bool:
    answered = any("UPDATE signals" in statement.sql for statement in operation.statements)
    return operation.name == "render_shown" and answered

"""The figures of two sides that answered the same messages: ours, and the bare handler. Pure, but for the fsync."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.disk import fsync_times
from bench.figures import Figure, at_most, high, middle, ratio_at_least, ratio_at_most
from bench.load import Told

COMMITS: Final = 5  # flushes that a reply may wait for; source: design.md, section 12
FULL: Final = 0.7  # of a processor: clients or a model that need more than this may be the bottleneck themselves


@dataclass(frozen=True, slots=True)
class Took:
    """One message after another: the seconds of each, and the processor seconds of all in the measured program."""

    times: Sequence[float]
    used: float

    @property
    def processor_ms(self) -> float:
        return max(self.used, 0.01) / len(self.times) * 1000  # a processor's time is counted in hundredths


@dataclass(frozen=True, slots=True)
class Round:
    """One side's load, and what it cost: processor seconds of the measured program and of the model."""

    told: Told
    used: float
    model_used: float

    @property
    def processor_ms(self) -> float:
        return self.used / self.told.replies * 1000

    @property
    def neighbours(self) -> tuple[float, float]:
        """Shares of a processor that the clients and the model needed."""
        return self.told.busy, self.model_used / self.told.seconds


def one_by_one(names: tuple[str, str], ours: Took, bare: Took, folder: Path, note: str = "") -> list[Figure]:
    """How long a message takes and what it costs, called so; `folder` is on the disk that is written to."""
    time, processor = names
    fsync = middle(fsync_times(folder, 100))
    most = at_most((2 * middle(bare.times) + COMMITS * fsync) * 1000)
    tails = (
        f"2 x bare + {COMMITS} x fsync {fsync * 1000:.2f} ms; p99 {high(ours.times) * 1000:.1f}, "
        f"bare {high(bare.times) * 1000:.1f}"
    )
    told = "; ".join(filter(None, [tails, note]))
    return [
        Figure(time, middle(ours.times) * 1000, "ms", middle(bare.times) * 1000, most, told),
        Figure(processor, ours.processor_ms, "ms a message", bare.processor_ms, ratio_at_most(1.5), "goal 1.00 x"),
    ]


def many(names: tuple[str, str], ours: Sequence[Round], bare: Sequence[Round]) -> list[Figure]:
    """How many messages a second, and what one costs, called so."""
    rate, processor = names
    return [
        Figure(
            rate,
            middle([one.told.rate for one in ours]),
            "messages/s",
            middle([one.told.rate for one in bare]),
            ratio_at_least(0.7),
            f"goal 1.00 x; {neighbours(ours, bare)}",
        ),
        Figure(
            processor,
            middle([one.processor_ms for one in ours]),
            "ms a message",
            middle([one.processor_ms for one in bare]),
            note=f"p50 {middle(times_of(ours)) * 1000:.0f} ms, bare {middle(times_of(bare)) * 1000:.0f} ms",
        ),
    ]


def times_of(rounds: Sequence[Round]) -> list[float]:
    return [seconds for one in rounds for seconds in one.told.times]


def neighbours(ours: Sequence[Round], bare: Sequence[Round]) -> str:
    """How busy clients and model were, and whether they may have been what was measured."""
    said = []
    for side, rounds in (("clients and model used", ours), ("bare's", bare)):
        clients, model = (middle([one.neighbours[which] for one in rounds]) for which in (0, 1))
        warning = " (the bottleneck!)" if max(clients, model) > FULL else ""
        said.append(f"{side} {clients:.0%} and {model:.0%} of a processor{warning}")
    return ", ".join(said)

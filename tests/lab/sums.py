"""The table of sums: figures of all trials, with their bounds and whether they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.lab.plants import CONTROL, is_found

Row = Mapping[str, Any]

PROMISES: Final = (
    "lost",
    "repeated",
    "disordered",
    "hung",
    "ghost",
    "orphaned",
    "kept",
    "exit code",
    "untrue",
    "stage",
    "grows",
)
"""First words of complaints that no trial may have, whatever the machine does. The others are figures."""
LATE: Final = ("slow", "slow answer", "untrue", "late", "missing", "not ready", "not healthy")
"""First words of complaints about time, which count where the machine did not stand still."""
LAG_MOST: Final = 0.5
"""Seconds for which a loop that does nothing may have been kept from going on: else the times of that trial prove nothing."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure and what it may be; `plus_lease`: so much beyond the lease."""

    words: str
    name: str
    most: float
    plus_lease: bool = False


BOUNDS: Final = (
    Bound("a thawed node serves again", "thawed", 3, plus_lease=True),
    Bound("a node whose way is open again is among the living", "healed", 10, plus_lease=True),
    Bound("after an outage of the database all serve again", "store healed", 15),
    Bound("idle work of a killed node is done elsewhere", "line killed", 6),
    Bound("idle work of a frozen node, or of one cut from the store", "line idle", 7),
    Bound("a node cut from a platform hands over", "line handed over", 20),
    Bound("work in flight is answered", "line in flight", 35),
    Bound("what was said in an outage is answered", "line outage", 35),
    Bound("work on a platform's forgotten connections is answered", "line forgotten", 45),
    Bound("a canary is answered where all say that they are ready", "line canary", 10),
    Bound("/readyz tells of the store", "store told", 3),
    Bound("/readyz tells of a lost database file", "file told", 5),
    Bound("/readyz tells of a platform", "platform told", 20),
    Bound("a node that is asked to leave is gone", "left", 10),
)


def samples(rows: Iterable[Row]) -> Iterator[tuple[str, float, float]]:
    """Each figure by its name, with its lease."""
    for row in rows:
        if row["lag"] > LAG_MOST:
            continue
        for name, seconds in row["figures"].items():
            yield name, seconds, row["lease"]
        for line in row["lines"]:
            if line["took"] is not None:
                yield _line_name(row, line), line["took"] - _alone(row, line), row["lease"]


def _line_name(row: Row, line: Mapping[str, Any]) -> str:
    if line["kind"] == "idle" and row["kind"].startswith("partition platform"):
        return "line handed over"
    return f"line {line['kind']}"


def _alone(row: Row, line: Mapping[str, Any]) -> float:
    """A process that is alone does nothing while it is frozen."""
    if line["kind"] == "idle" and row["sort"] == "freeze" and row["nodes"] == 1:
        return float(min(float(row["kind"].rpartition(" ")[2]) * row["lease"], line["took"]))
    return 0.0


def table(rows: Sequence[Row]) -> tuple[str, bool]:
    """The table as Markdown, and whether all of it holds."""
    plain = [row for row in rows if not row["plant"]]
    lines = [
        *_counts(plain),
        "",
        *_promises(plain),
        "",
        "| figure | bound | samples | half | 95 of 100 | most | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    holds = not any(_complaints(plain).values())
    for bound in BOUNDS:
        found = sorted(value - lease * bound.plus_lease for name, value, lease in samples(plain) if name == bound.name)
        if not found:
            continue
        is_kept = found[-1] <= bound.most
        holds &= is_kept
        said = f"{bound.most:g} s" + " beyond the lease" * bound.plus_lease
        figures = " | ".join(f"{max(0.0, at):.1f}" for at in (_share(found, 0.5), _share(found, 0.95), found[-1]))
        lines.append(f"| {bound.words} | {said} | {len(found)} | {figures} | {'kept' if is_kept else '**broken**'} |")
    planted = [row for row in rows if row["plant"]]
    if planted:
        names = {row["plant"] for row in planted}
        found_bugs = {row["plant"] for row in planted if is_found(row["plant"], counted(row))}
        holds &= names == found_bugs
        missed = ", ".join(sorted(names - found_bugs))
        controls = [row for row in plain if row["key"].startswith(CONTROL)]
        broke = sum(bool(counted(row)) for row in controls)
        lines += [
            "",
            f"Planted bugs found: {len(found_bugs)} of {len(names)}{f'; not {missed}' if missed else ''}. "
            f"Without a bug, {broke} of the {len(controls)} faults by which they are found broke something.",
        ]
    return "\n".join(lines), holds


def _share(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))]


def _counts(rows: Sequence[Row]) -> Iterator[str]:
    sorts = Counter((row["sort"], f"{row['lease']:g} s") for row in rows)
    places = sorted({(row["engine"], row["nodes"]) for row in rows})
    yield f"| fault | lease | {' | '.join(f'{engine}, {nodes}' for engine, nodes in places)} | in all |"
    yield f"| --- | --- |{' --- |' * len(places)} --- |"
    for (sort, lease), count in sorted(sorts.items()):
        by = Counter(
            (row["engine"], row["nodes"]) for row in rows if row["sort"] == sort and f"{row['lease']:g} s" == lease
        )
        yield f"| {sort} | {lease} | {' | '.join(str(by[place]) for place in places)} | {count} |"


def _complaints(rows: Sequence[Row]) -> Counter[str]:
    found = Counter(line.partition(":")[0] for row in rows for line in counted(row))
    return Counter({word: found[word] for word in (*PROMISES, *LATE)})


def counted(row: Row) -> Sequence[str]:
    """The complaints that count."""
    return [line for line in row["broken"] if row["lag"] <= LAG_MOST or line.partition(":")[0] not in LATE]


def _promises(rows: Sequence[Row]) -> Iterator[str]:
    lines = sum(len(row["lines"]) for row in rows)
    told = ", ".join(f"{word} {count}" for word, count in _complaints(rows).items())
    still = sum(row["lag"] > LAG_MOST for row in rows)
    yield f"{len(rows)} faults, {lines} lines. {told}. In {still} the machine stood still for more than {LAG_MOST:g} s: their times don't count."
    for row in rows:
        for line in counted(row):
            yield f"- {row['key']} ({row['engine']} {row['nodes']} {row['platform']}, load {row['load']:.1f}): {line}"

"""The nodes beside each other: settings that differ, clocks that are off, and programs of two versions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.doctor.rows import Rows, rows_of
from bot.doctor.subject import Subject, fault, fine, warning
from bot.node.comparing import clock_words, differing
from runtime.contract import Finding
from runtime.store.sql.driver import micros
from runtime.text.naming import listed

LIVE_NODES: Final = (
    "SELECT label, version, knows, settings, clock_offset, drain_until FROM nodes "
    "WHERE state = 'live' AND expires_at > {now} ORDER BY label"
)
SERVER_NOW: Final = "extract(epoch FROM clock_timestamp()) * 1000000"
"""By its clock leases end. That of this machine may be the one that is wrong."""


async def check_nodes(subject: Subject) -> Sequence[Finding]:
    now = micros(datetime.now(UTC)) if subject.settings.database_file else SERVER_NOW
    [rows] = await rows_of(subject.settings, LIVE_NODES.format(now=now))
    if not rows:
        return []
    found = [*_settings(rows), *_clocks(rows), *_programs(rows), *_draining(rows)]
    return found or [fine("nodes", f"live: {listed([str(label) for label, *_ in rows])}")]


def _settings(rows: Rows) -> Iterator[Finding]:
    names = sorted({name for one in rows for other in rows for name in differing(one[3], other[3])})
    if names:
        sides: dict[str, list[str]] = defaultdict(list)
        for label, _, _, told, *_ in rows:
            if told:
                sides[json.dumps([json.loads(told).get(name) for name in names])].append(label)
        what = f"the live nodes have different settings ({', '.join(names)}): {' against '.join(map(listed, sides.values()))}"
        why = "The answer depends on the node that gives it."
        yield warning("nodes.settings", what, why, f"give all nodes the same settings, then {_taken_over(names)}")


def _taken_over(names: Sequence[str]) -> str:
    """Words for how a node takes these settings over."""
    from bot.server.reload import MAY_CHANGE  # loads much, and is asked for where something is wrong

    at_once = all(any(name == one or name.startswith(f"{one}.") for one in MAY_CHANGE) for name in names)
    return "on each: signalbox reload" if at_once else "restart each that changes"


def _clocks(rows: Rows) -> Iterator[Finding]:
    for label, _, _, _, offset, _ in rows:
        if words := clock_words(None if offset is None else timedelta(microseconds=offset)):
            why = "Leases go by the database's clock; logs, files and calls to others by the machine's."
            yield fault(
                "nodes.clock", f"the clock of {label} is {words}", why, "timedatectl set-ntp true, on that machine"
            )


def _programs(rows: Rows) -> Iterator[Finding]:
    programs: dict[str, list[str]] = defaultdict(list)
    for label, version, knows, *_ in rows:
        programs[f"signalbox {version} (schema {knows})" if knows else "an older signalbox"].append(label)
    if len(programs) > 1:
        sides = "; ".join(f"{listed(labels)} runs {program}" for program, labels in sorted(programs.items()))
        why = "That is meant for the time of an upgrade: what is new works once all nodes have it."
        yield warning("nodes.programs", sides, why, "upgrade the others: docs/operations.md, Rolling upgrade")


def _draining(rows: Rows) -> Iterator[Finding]:
    if leaving := [str(row[0]) for row in rows if row[5] is not None]:
        yield fine("nodes.draining", f"{listed(leaving)} takes nothing more in, and leaves once its work is done")

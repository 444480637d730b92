"""Event sinks: how far each has got, and what keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from bot.doctor.rows import Rows, rows_of
from bot.doctor.subject import Subject, fine, warning
from runtime.contract import Finding

CURSORS: Final = "SELECT sink, number, failing_since, fault FROM event_cursors ORDER BY sink"
NEWEST_EVENT: Final = "SELECT max(number) FROM audit"
OLDEST_EVENT: Final = "SELECT min(number) FROM audit"


async def check_event_sinks(subject: Subject) -> Sequence[Finding]:
    names = [table.name for table in subject.settings.event_sinks]
    if not names:
        return []
    cursors, newest, oldest = await rows_of(subject.settings, CURSORS, NEWEST_EVENT, OLDEST_EVENT)
    return list(_told(names, cursors, _number(newest), _number(oldest)))


def _number(rows: Rows) -> int:
    return (rows[0][0] or 0) if rows else 0


def _told(names: Sequence[str], cursors: Rows, newest: int, oldest: int) -> Iterator[Finding]:
    known = {name: (number, since, fault) for name, number, since, fault in cursors}
    for name in names:
        ident = f"event_sinks.{name}"
        if name not in known:
            yield fine(ident, f"{name} begins with the next start, at the newest event")
            continue
        number, since, fault = known[name]
        behind = max(newest - number, 0)
        if number < oldest - 1:
            what = f"{name} missed events {number + 1:,} to {oldest - 1:,}: they were removed for their age"
            yield warning(ident, what, "Nobody can tell it of them any more.", "keep more with retention.audit_days")
        elif since is not None:
            began = datetime.fromtimestamp(since / 1_000_000, UTC)
            what = f"{name} takes nothing since {began:%Y-%m-%d %H:%M} UTC, and is {behind:,} events behind: {fault}"
            why = "It keeps its place, and gets all of them once it answers."
            yield warning(
                ident, what, why, "see that its address or file takes them; an address needs egress to let it"
            )
        else:
            yield fine(ident, f"{name}: {'up to date' if not behind else f'{behind:,} events behind'}")

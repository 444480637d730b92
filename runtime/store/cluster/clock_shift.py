"""Shift of what waits for a moment, with a clock that was set: it waits as long as was meant, not until a wrong hour."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, update

from runtime.store.schema import approvals, audit, cooldowns, deliveries, parts, pauses
from runtime.store.sql.driver import MICROSECOND, Op, is_word, maybe_moment

MOVED = (
    update(approvals)
    .where(is_word(approvals.c.state, "pending"))
    .values(expires_at=approvals.c.expires_at + bindparam("by")),
    update(deliveries)
    .where(is_word(deliveries.c.state, "queued", "open"))
    .values(not_before=deliveries.c.not_before + bindparam("by")),
    # From their marker it is counted when to look for them, from the first one how long a platform knows their key.
    update(parts)
    .where(is_word(parts.c.state, "pending", "marked", "unsettled"), parts.c.marked_at.is_not(None))
    .values(marked_at=parts.c.marked_at + bindparam("by"), first_at=parts.c.first_at + bindparam("by")),
    update(pauses).values(until=pauses.c.until + bindparam("by")),
    update(cooldowns).values(
        since=cooldowns.c.since + bindparam("by"),
        until=cooldowns.c.until + bindparam("by"),
        probe_until=cooldowns.c.probe_until + bindparam("by"),
    ),
)
NEWEST_FACT = select(audit.c.at).order_by(audit.c.entry.desc()).limit(1)


def shift(by: timedelta) -> Op[None]:
    for statement in MOVED:
        yield statement, {"by": by // MICROSECOND}


def last_written() -> Op[datetime | None]:
    rows = yield NEWEST_FACT, {}
    return maybe_moment(rows[0][0]) if rows else None

"""Shift of what waits for a moment, with a clock that was set: it waits as long as was meant, not until a wrong hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, or_, select, update

from runtime.store.common import fact
from runtime.store.schema import approvals, audit, cooldowns, deliveries, nodes, parts, pauses
from runtime.store.sql.driver import MICROSECOND, Op, is_word, maybe_moment, micros

CLOCK_SET: Final = "clock set"
NOTICED_WITHIN: Final = timedelta(minutes=1)
"""Nodes that look all the time notice one jump within so long of each other; no lease is longer."""
ONE_JUMP: Final = timedelta(seconds=5)
"""Jumps whose lengths differ by no more are one that several nodes noticed."""

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
# A lease that the old clock granted: it would end in the moment of the jump, or in as many hours.
LEASES = (
    update(nodes)
    .where(
        is_word(nodes.c.state, "live"),
        or_(nodes.c.expires_at <= bindparam("now"), nodes.c.expires_at > bindparam("far")),
    )
    .values(expires_at=nodes.c.expires_at + bindparam("by"))
)
EVERY_NODE = select(nodes.c.id).where(is_word(nodes.c.state, "live")).order_by(nodes.c.id).with_for_update()
SAID_LATELY = select(audit.c.subject).where(
    audit.c.kind == bindparam("kind"), audit.c.at >= bindparam("since"), audit.c.at <= bindparam("until")
)
NEWEST_FACT = select(audit.c.at).order_by(audit.c.entry.desc()).limit(1)


def shift(by: timedelta, unseen: timedelta, now: datetime) -> Op[None]:
    """Move it once, whoever notices the jump first: nodes share what waits. `now` is by the clock as it was set, `unseen` how
    long the clock was not looked at before the jump was noticed: it was set at any moment of that."""
    yield EVERY_NODE, {}
    lately = {"since": micros(now - unseen - NOTICED_WITHIN), "until": micros(now + NOTICED_WITHIN)}
    said = yield SAID_LATELY, {"kind": CLOCK_SET, **lately}
    if any(abs(timedelta(seconds=float(length)) - by) < ONE_JUMP for (length,) in said):
        return
    for statement in MOVED:
        yield statement, {"by": by // MICROSECOND}
    yield LEASES, {"by": by // MICROSECOND, "now": micros(now), "far": micros(now + NOTICED_WITHIN)}
    yield from fact(now, CLOCK_SET, "", f"{by.total_seconds():.0f}")


def last_written() -> Op[datetime | None]:
    rows = yield NEWEST_FACT, {}
    return maybe_moment(rows[0][0]) if rows else None

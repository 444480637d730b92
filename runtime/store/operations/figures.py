"""Counts, sums and lists for reports. Read beside the writer; each statement walks an index from an instant on.

Ids grow with time, so a range of them is a range of time: rows older than that are not looked at. A clock may be set
and a run may be long, so the ranges begin earlier and the row's own time decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import BigInteger, Executable, Integer, Select, bindparam, func, literal_column, select

from runtime.chat.cards.card_facts import asking_in_words
from runtime.contract import (
    Activity,
    Address,
    Asking,
    Content,
    Cost,
    Costs,
    DayCost,
    Failure,
    Opinion,
    Opinions,
    Pending,
    Stuck,
)
from runtime.domain.ids import first_at
from runtime.domain.schedules import NO_MODEL
from runtime.store.common import in_room
from runtime.store.events.feedback import standing
from runtime.store.schema import approvals, deliveries, occurrences, people, runs, schedules, signals, usage
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.text.glyphs import clip

LONGEST_RUN: Final = timedelta(days=2)
FAR_AHEAD: Final = timedelta(days=366)
"""No clock of ours is so far ahead."""
EXCERPT: Final = 200
"""Characters of a message or of arguments."""
DAY_MICROS: Final = str(24 * 3600 * 1_000_000)
PEOPLE: Final = "said"
RATINGS_COUNTED: Final = 10_000

Read = dict[bool, Select[Any]]
"""A statement about all rooms, and about one."""

ROWS_AT_MOST = bindparam("n", type_=Integer)


def _both(statement: Select[Any], column: Any) -> Read:
    return {False: statement, True: statement.where(in_room(column))}


def _between(column: Any) -> tuple[Any, Any]:
    """A range with both ends, which is walked by its index everywhere."""
    return column >= bindparam("first"), column <= bindparam("last")


MESSAGES = _both(
    select(signals.c.state, func.count())
    .where(*_between(signals.c.id), signals.c.accepted_at >= bindparam("since"), is_word(signals.c.kind, PEOPLE))
    .group_by(signals.c.state),
    signals.c.address,
)
RUNS = _both(
    select(runs.c.state, func.count()).where(runs.c.started_at >= bindparam("since")).group_by(runs.c.state),
    runs.c.address,
)
BUSIEST = _both(
    select(runs.c.address, func.count())
    .where(runs.c.started_at >= bindparam("since"))
    .group_by(runs.c.address)
    .order_by(func.count().desc(), runs.c.address)
    .limit(ROWS_AT_MOST),
    runs.c.address,
)
RUNS_FAILED = _both(
    select(runs.c.id, runs.c.address, runs.c.error, runs.c.started_at)
    .where(runs.c.started_at >= bindparam("since"), is_word(runs.c.state, "failed"))
    .order_by(runs.c.started_at.desc())
    .limit(ROWS_AT_MOST),
    runs.c.address,
)
APPROVALS_ASKED = _both(
    select(approvals.c.state, func.count())
    .where(approvals.c.asked_at >= bindparam("since"))
    .group_by(approvals.c.state),
    approvals.c.address,
)
MADE = _both(
    select(deliveries.c.state, func.count())
    .where(deliveries.c.created_at >= bindparam("since"))
    .group_by(deliveries.c.state),
    deliveries.c.address,
)
FIRED = _both(
    select(occurrences.c.state, func.count())
    .select_from(occurrences.outerjoin(schedules, schedules.c.id == occurrences.c.schedule))
    .where(*_between(occurrences.c.id), occurrences.c.created_at >= bindparam("since"))
    .group_by(occurrences.c.state),
    func.coalesce(schedules.c.home, occurrences.c.home),
)
USED = (
    func.count(func.distinct(usage.c.run_id)),
    func.count(),
    *(func.coalesce(func.sum(c), 0) for c in (usage.c.input_tokens, usage.c.output_tokens, usage.c.cost_micros)),
    func.coalesce(func.sum(usage.c.cached_tokens), 0),
    func.count().filter(usage.c.instead_of != ""),
)
SINCE = (
    *_between(usage.c.run_id),
    usage.c.at >= bindparam("since"),
    usage.c.model != literal_column(f"'{NO_MODEL}'"),
)
TOTAL = _both(select(*USED).where(*SINCE), usage.c.address)
COSTS = _both(
    select(usage.c.agent, usage.c.address, *USED)
    .where(*SINCE)
    .group_by(usage.c.agent, usage.c.address)
    .order_by(func.sum(usage.c.cost_micros).desc(), func.sum(usage.c.output_tokens).desc(), usage.c.address)
    .limit(ROWS_AT_MOST),
    usage.c.address,
)
on_day = (
    select(
        ((usage.c.at - bindparam("since", type_=BigInteger)) // literal_column(DAY_MICROS, BigInteger)).label("day"),
        usage.c.cost_micros.label("money"),
        (usage.c.input_tokens + usage.c.output_tokens).label("tokens"),
    )
    .where(*SINCE)
    .subquery("on_day")
)
BY_DAY = select(on_day.c.day, func.sum(on_day.c.money), func.sum(on_day.c.tokens)).group_by(on_day.c.day)
IS_PENDING = is_word(approvals.c.state, "pending")
PENDING_APPROVALS = _both(
    select(
        approvals.c.id,
        approvals.c.tool,
        approvals.c.arguments,
        approvals.c.effect,
        approvals.c.address,
        people.c.name,
        approvals.c.asked_at,
        approvals.c.expires_at,
        approvals.c.card,
    )
    .outerjoin(people, people.c.id == approvals.c.requester)
    .where(IS_PENDING)
    .order_by(approvals.c.expires_at)
    .limit(ROWS_AT_MOST),
    approvals.c.address,
)
HOW_MANY_PENDING = _both(select(func.count()).select_from(approvals).where(IS_PENDING), approvals.c.address)
IS_STUCK = deliveries.c.state.in_([literal_column("'held'"), literal_column("'dead'")])
STUCK = _both(
    select(
        deliveries.c.id,
        deliveries.c.state,
        deliveries.c.kind,
        deliveries.c.address,
        deliveries.c.reason,
        deliveries.c.content,
        deliveries.c.created_at,
    )
    .where(IS_STUCK)
    .order_by((deliveries.c.number + literal_column("0")).desc())  # plainly by number, SQLite walks the whole table
    .limit(ROWS_AT_MOST),
    deliveries.c.address,
)
HOW_MANY_STUCK = _both(select(func.count()).select_from(deliveries).where(IS_STUCK), deliveries.c.address)


def _within(since: datetime, now: datetime, most: int) -> dict[str, object]:
    first, last = first_at(since - LONGEST_RUN), first_at(now + FAR_AHEAD)
    return {"since": micros(since), "first": first, "last": last, "n": most}


def _here(room: Address | None) -> dict[str, object]:
    """A thread is told of with its whole room."""
    return {} if room is None else {"room": str(room.whole_room)}


def _counted(statement: Executable, given: Mapping[str, object]) -> Op[dict[str, int]]:
    return {str(state): int(count) for state, count in (yield statement, given)}


def _activity(since: datetime, now: datetime, room: Address | None, most: int) -> Op[Activity]:
    given, is_one = _within(since, now, most) | _here(room), room is not None
    messages = yield from _counted(MESSAGES[is_one], given)
    worked = yield from _counted(RUNS[is_one], given)
    asked = yield from _counted(APPROVALS_ASKED[is_one], given)
    made = yield from _counted(MADE[is_one], given)
    fired = yield from _counted(FIRED[is_one], given)
    busiest = yield BUSIEST[is_one], given
    failed = yield RUNS_FAILED[is_one], given
    return Activity(
        messages,
        worked,
        asked,
        made,
        fired,
        tuple((Address.parse(address), int(count)) for address, count in busiest),
        tuple(Failure(run, Address.parse(address), _excerpt(error), moment(at)) for run, address, error, at in failed),
    )


def _costs(since: datetime, now: datetime, room: Address | None, most: int) -> Op[Costs]:
    given = _within(since, now, most) | _here(room)
    total = (yield TOTAL[room is not None], given)[0]
    rows = yield COSTS[room is not None], given
    dearest = tuple(Cost(agent, Address.parse(address), *map(int, sums)) for agent, address, *sums in rows)
    used, calls, read, written, money, cached, fallbacks = map(int, total)
    return Costs(used, calls, read, written, money, dearest, cached, fallbacks)


def _by_day(first: datetime, now: datetime, days: int) -> Op[list[DayCost]]:
    rows = yield BY_DAY, _within(first, now, days)
    used = {int(day): (int(money), int(tokens)) for day, money, tokens in rows}
    return [DayCost(first + timedelta(days=day), *used.get(day, (0, 0))) for day in range(days)]


def _pending(room: Address | None, most: int) -> Op[tuple[int, list[Pending]]]:
    given = {"n": most} | _here(room)
    count = (yield HOW_MANY_PENDING[room is not None], given)[0][0]
    rows = yield PENDING_APPROVALS[room is not None], given
    return int(count), [_question(row) for row in rows]


def _question(row: tuple[Any, ...]) -> Pending:
    ident, tool, arguments, effect, address, name, asked, expires, card = row
    question = _excerpt(asking_in_words(Asking.from_json(card)))
    return Pending(
        ident,
        tool,
        _excerpt(arguments),
        effect,
        Address.parse(address),
        name or "",
        moment(asked),
        moment(expires),
        question,
    )


def _stuck(room: Address | None, most: int) -> Op[tuple[int, list[Stuck]]]:
    given = {"n": most} | _here(room)
    count = (yield HOW_MANY_STUCK[room is not None], given)[0][0]
    rows = yield STUCK[room is not None], given
    return int(count), [_letter(row) for row in rows]


def _letter(row: tuple[Any, ...]) -> Stuck:
    ident, state, kind, address, reason, content, created = row
    text = _excerpt(Content.from_json(content).text)
    return Stuck(ident, state, kind, Address.parse(address), _excerpt(reason), text, moment(created))


def _opinions(since: datetime, room: Address | None, most: int) -> Op[Opinions]:
    found = yield from standing(since, room, RATINGS_COUNTED)
    rows = (
        Opinion(one.person, one.value.word, one.words, _excerpt(one.said), one.room, one.run, one.at)
        for one in found[:most]
    )
    good = sum(one.value > 0 for one in found)
    return Opinions(good, len(found) - good, tuple(rows))


def _excerpt(text: str) -> str:
    return clip(text, EXCERPT)


class FigureStore(Base):
    """Implements `contract.Figures`."""

    async def activity(self, since: datetime, *, room: Address | None = None, most: int = 10) -> Activity:
        now = self.now()
        return await self._driver.read(lambda: _activity(since, now, room, most))

    async def costs(self, since: datetime, *, room: Address | None = None, most: int = 1000) -> Costs:
        now = self.now()
        return await self._driver.read(lambda: _costs(since, now, room, most))

    async def cost_by_day(self, first: datetime, days: int) -> list[DayCost]:
        now = self.now()
        return await self._driver.read(lambda: _by_day(first, now, days))

    async def pending_approvals(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Pending]]:
        return await self._driver.read(lambda: _pending(room, most))

    async def dead_letters(self, *, room: Address | None = None, most: int = 50) -> tuple[int, list[Stuck]]:
        return await self._driver.read(lambda: _stuck(room, most))

    async def feedback(self, since: datetime, *, room: Address | None = None, most: int = 50) -> Opinions:
        return await self._driver.read(lambda: _opinions(since, room, most))

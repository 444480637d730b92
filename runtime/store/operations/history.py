"""History as conversations: messages of people and shown parts, in the order people saw them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
)

from runtime.contract import NOTHING_RAN, Address, Author, Entry, FileRef, Identity, Room, View, WorkBehind
from runtime.domain.approvals import LISTED_WITH
from runtime.domain.copies.copy import IMPORT_BEGINNING, IMPORTED
from runtime.policy.modes import NORMAL, Mode
from runtime.store.agents.held_back import at_work
from runtime.store.approvals.modes import MODE_IN, end_of, mode_of
from runtime.store.common import at_once, escaped
from runtime.store.runs.summaries import KEPT, STANDS_AT, kept_of
from runtime.store.schema import approvals, deliveries, parts, sessions, signals, summaries
from runtime.store.shelf.marks import UNMARKED, deleted_by, marks_of
from runtime.store.shelf.work_behind import ran_in, work_behind, work_of
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, Query, is_word, micros, moment
from runtime.text.glyphs import clip, visible

FAR = 2**62
NO_FILES = "[]"
TITLE = 80

# A message whose words are gone still tells who spoke first in a room, to whom it belongs.
taken_in = (is_word(signals.c.kind, "said"), signals.c.state != literal_column("'refused'"))
said = (*taken_in, signals.c.state != literal_column("'forgotten'"))


def _said_of(table: FromClause) -> tuple[ColumnElement[bool], ...]:
    """The same of the table under another name."""
    is_taken = is_word(table.c.kind, "said"), table.c.state != literal_column("'refused'")
    return *is_taken, table.c.state != literal_column("'forgotten'")


SPOKEN_IN = (
    select(signals.c.address, func.min(signals.c.accepted_at), func.max(signals.c.accepted_at))
    .where(*said, signals.c.address.like(bindparam("like"), escape="\\"))
    .group_by(signals.c.address)
    .order_by(func.max(signals.c.accepted_at).desc())
    .limit(bindparam("n", type_=Integer))
)
by_them = (signals.c.actor == bindparam("actor"), *taken_in)
# One step of the index from each room to the next: a thousand messages in a room cost what one does.
_spoken_in = select(func.min(signals.c.address).label("address")).where(*by_them).cte("spoken_in", recursive=True)
_next_one = select(func.min(signals.c.address)).where(*by_them, signals.c.address > _spoken_in.c.address)
SPOKEN_ROOMS = _spoken_in.union_all(
    select(_next_one.correlate(_spoken_in).scalar_subquery()).where(_spoken_in.c.address.is_not(None))
)
_in_room = (*by_them, signals.c.address == SPOKEN_ROOMS.c.address)
_last_said = (
    select(func.max(signals.c.accepted_at))
    .where(*_in_room, signals.c.state != literal_column("'forgotten'"))
    .correlate(SPOKEN_ROOMS)
    .scalar_subquery()
)
_of_account = SPOKEN_ROOMS.c.address.like(bindparam("like"), escape="\\")
_lasts = select(SPOKEN_ROOMS.c.address, _last_said.label("last")).where(_of_account).subquery()
ROOMS = (
    select(_lasts.c.address, _lasts.c.last)
    .where(_lasts.c.last.is_not(None))
    .order_by(_lasts.c.last.desc())
    .limit(bindparam("n", type_=Integer))
)
MOST_ROOMS = 200
BRIEF: Final = 40
"""Entries of a page that are read in less time than it takes to have another thread do it."""
FIRST_MESSAGES = 8
FIRST_WORDS = (
    select(signals.c.id, func.substr(signals.c.text, 1, 1_000), signals.c.replaces)
    .where(signals.c.address == bindparam("room"), *said)
    .order_by(signals.c.accepted_at)
    .limit(FIRST_MESSAGES)
)
"""The first message, and those right behind it that may stand in its place: only the newest of a room can be replaced."""
_listed = ROOMS.subquery("listed")
# A message that changes, such as a card whose Undo is over, is nothing new. By the time at which it was written, so that a
# room of 100,000 messages costs what one of ten does.
_last_shown = (
    select(deliveries.c.settled_at)
    .where(
        deliveries.c.address == _listed.c.address, deliveries.c.edits.is_(None), deliveries.c.settled_at.is_not(None)
    )
    .order_by(deliveries.c.created_at.desc())
    .limit(1)
    .correlate(_listed)
    .scalar_subquery()
)
_asked_there = (
    select(func.count())
    .select_from(approvals)
    .where(
        is_word(approvals.c.state, "pending"),
        approvals.c.address == _listed.c.address,
        ~approvals.c.card.contains(f'"{LISTED_WITH}":'),  # a card that lists several calls is one question to people
    )
    .correlate(_listed)
    .scalar_subquery()
)
# With a limit of its own, so that it is worked out once for each room and not for each of its first messages.
_rooms = (
    select(_listed.c.address, _listed.c.last, _last_shown.label("shown"), _asked_there.label("asked"))
    .order_by(_listed.c.last.desc())
    .limit(bindparam("n", type_=Integer))
    .subquery("rooms")
)
_first, _early = signals.alias("first"), signals.alias("early")
_until_first = (
    select(_early.c.accepted_at)
    .where(_early.c.address == _rooms.c.address, *_said_of(_early))
    .order_by(_early.c.accepted_at)
    .limit(1)
    .offset(FIRST_MESSAGES - 1)
    .correlate(_rooms)
    .scalar_subquery()
)
LISTED_ROOMS = (
    select(_rooms, _first.c.id, func.substr(_first.c.text, 1, 1_000), _first.c.replaces)
    .select_from(_rooms)
    .join(
        _first,
        and_(
            _first.c.address == _rooms.c.address,
            *_said_of(_first),
            _first.c.accepted_at <= func.coalesce(_until_first, literal_column(str(FAR))),
        ),
    )
    .order_by(_rooms.c.last.desc(), _rooms.c.address, _first.c.accepted_at)
)
"""The rooms of somebody, each with when something was shown there, its open questions, and a row for each of its first messages."""
posted_before = exists().where(
    deliveries.c.address == signals.c.address, deliveries.c.created_at < signals.c.accepted_at
)
# Of the rooms in which they spoke, those where nobody spoke and nothing was posted before.
_first_said = select(func.min(signals.c.accepted_at)).where(*_in_room).correlate(SPOKEN_ROOMS).scalar_subquery()
of_theirs = select(SPOKEN_ROOMS.c.address, _first_said.label("at")).where(_of_account).subquery()
other = signals.alias("other")
OWN_ROOMS = select(of_theirs.c.address).where(
    ~exists().where(
        other.c.address == of_theirs.c.address,
        is_word(other.c.kind, "said"),
        other.c.state != literal_column("'refused'"),
        other.c.accepted_at < of_theirs.c.at,
    ),
    ~exists().where(deliveries.c.address == of_theirs.c.address, deliveries.c.created_at < of_theirs.c.at),
)
FIRST_SPEAKER = (
    select(signals.c.actor, posted_before)
    .where(signals.c.address == bindparam("room"), *taken_in)
    .order_by(signals.c.accepted_at)
    .limit(1)
)
TOUCHED = select(
    exists().where(signals.c.address == bindparam("room"), *taken_in),
    exists().where(deliveries.c.address == bindparam("room")),
)
SAID = (
    select(
        signals.c.id,
        signals.c.actor_name,
        signals.c.accepted_at,
        signals.c.text,
        signals.c.files,
        signals.c.answered_at,
        signals.c.dedupe_key,
        signals.c.run_id,
        signals.c.replaces,
    )
    .where(signals.c.address == bindparam("room"), *said, signals.c.accepted_at < bindparam("before"))
    .order_by(signals.c.accepted_at.desc())
    .limit(bindparam("n", type_=Integer))
)
PARTS_SHOWN = (
    select(
        deliveries.c.id, parts.c.ordinal, parts.c.shown_at, parts.c.body, deliveries.c.run_id, deliveries.c.created_at
    )
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(
        deliveries.c.address == bindparam("room"),
        deliveries.c.edits.is_(None),
        is_word(parts.c.state, "shown"),
        deliveries.c.created_at < bindparam("before"),
        parts.c.shown_at < bindparam("before"),
    )
    .order_by(deliveries.c.created_at.desc(), parts.c.ordinal.desc())
    .limit(bindparam("n", type_=Integer))
)
# The times of what comes next after an instant: where a page that begins there has to end.
SAID_AFTER = (
    select(signals.c.accepted_at)
    .where(signals.c.address == bindparam("room"), *said, signals.c.accepted_at > bindparam("after"))
    .order_by(signals.c.accepted_at)
    .limit(bindparam("n", type_=Integer))
)
WRITTEN_AFTER = (
    select(deliveries.c.created_at)
    .where(
        deliveries.c.address == bindparam("room"),
        deliveries.c.edits.is_(None),
        deliveries.c.created_at > bindparam("after"),
    )
    .order_by(deliveries.c.created_at)
    .limit(bindparam("n", type_=Integer))
)
PLACE_OF_SAID = select(signals.c.accepted_at).where(
    signals.c.id == bindparam("entry"), signals.c.address == bindparam("room"), *said
)
PLACE_OF_SHOWN = (
    select(parts.c.shown_at)
    .join(deliveries, parts.c.delivery_id == deliveries.c.id)
    .where(
        parts.c.delivery_id == bindparam("entry"),
        parts.c.ordinal == bindparam("ordinal", type_=Integer),
        is_word(parts.c.state, "shown"),
        deliveries.c.address == bindparam("room"),
    )
)
EDITED = (
    select(deliveries.c.edits, deliveries.c.ordinal, parts.c.body, deliveries.c.origin)
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(
        deliveries.c.address == bindparam("room"),
        deliveries.c.edits.is_not(None),
        is_word(parts.c.state, "shown"),
        deliveries.c.created_at >= bindparam("since"),
    )
    .order_by(deliveries.c.number)
)


class _Changed(NamedTuple):
    """Newest number of a change, the text that stands there now unless it is as ever, and reactions as they are rendered."""

    version: int
    body: str | None = None
    reactions: tuple[str, ...] = ()


UNCHANGED: Final = _Changed(0)
SUMMARY: Final = "summary."
"""Begins the id of a summary."""
SUMMARY_VERSION: Final = 1
ORDINAL_DIGITS: Final = 10
"""Of the number of a part; what is longer is none."""
REACTED: Final = "reacted:"
"""Begins the origin of a reaction."""

Found = tuple[int, str, Callable[[], Entry]]
"""When an entry stands in a room, in microseconds, its id, and how it is made."""

earlier = summaries.alias("earlier")
# Those made before the page begins stand before it too, but the last of them: its next turn may be on the page.
last_before = (
    select(func.max(earlier.c.at))
    .where(earlier.c.session == summaries.c.session, earlier.c.at < bindparam("since"))
    .scalar_subquery()
)
of_room = summaries.c.session.in_(select(sessions.c.key).where(sessions.c.address == bindparam("room")))
SUMMARISED = (
    KEPT.where(
        of_room,
        or_(summaries.c.at >= bindparam("since"), summaries.c.at == last_before),
        bindparam("before") > STANDS_AT,
    )
    .order_by(STANDS_AT.desc())
    .limit(bindparam("n", type_=Integer))
)
mode_in = MODE_IN.subquery("mode_in")
STATE = select(
    exists().where(
        sessions.c.address == bindparam("room"),
        sessions.c.state != literal_column("'idle'"),
        or_(
            sessions.c.state != literal_column("'ready'"), at_work()
        ),  # nobody works on what waits for a suspended agent
    ),
    exists().where(deliveries.c.address == bindparam("room"), is_word(deliveries.c.state, "queued", "open")),
    exists().where(of_room),
    *mode_in.c,
).select_from(select(literal_column("1")).subquery("once").outerjoin(mode_in, true()))
"""Whether somebody works in a room, something waits to be shown there, and old turns are summarised; and the mode of one that
has one."""
SUMMARISED_AT: Final = 2


def rooms(channel: str, account: str, owner: Identity) -> Op[list[Room]]:
    rows = yield LISTED_ROOMS, {"actor": owner, "like": _like(channel, account), "n": MOST_ROOMS}
    marks = yield from marks_of(owner)
    deleted = yield from deleted_by(owner)
    found = []
    for (address, last, shown, asked), first in groupby(rows, key=itemgetter(0, 1, 2, 3)):
        if last <= deleted.get(address, 0):  # a room where somebody went on is one again
            continue
        at = moment(max(last, shown or 0))
        kept = marks.get(address, UNMARKED)
        unread = 0 < kept.read_at < micros(at)
        words = _newest_words(row[4:] for row in first)
        named = kept.title or visible(title(words), one_line=True)  # one that was given is so already
        found.append(Room(Address.parse(address), named, at, asked, kept.is_pinned, kept.is_archived, unread))
    return sorted(found, key=lambda room: room.last_at, reverse=True)


def own_rooms(channel: str, account: str, owner: Identity) -> Op[frozenset[Address]]:
    rows = yield OWN_ROOMS, {"actor": owner, "like": _like(channel, account)}
    return frozenset(Address.parse(address) for (address,) in rows)


def titles(addresses: Collection[Address], owner: Identity | None = None) -> Op[dict[Address, str]]:
    marks = (yield from marks_of(owner)) if owner else {}
    found = {}
    for address in addresses:
        if given := marks.get(str(address), UNMARKED).title:
            found[address] = given
            continue
        words = _newest_words((yield FIRST_WORDS, {"room": str(address)}))
        if words.strip():  # else a file came alone
            found[address] = title(words)
    return found


def _newest_words(rows: Iterable[Sequence[Any]]) -> str:
    """The first words of a room as they were said last; empty where nothing was said. Rows are its first messages."""
    first, words = "", ""
    for number, (message, text, replaces) in enumerate(rows):
        if number and replaces != first:
            break
        first, words = message, text
    return words


def conversations(channel: str, account: str, limit: int, owner: Identity | None = None) -> Op[dict[Address, str]]:
    rows = yield SPOKEN_IN, {"like": _like(channel, account), "n": limit}
    return (yield from titles([Address.parse(address) for address, _, _ in rows], owner))


def _like(channel: str, account: str) -> str:
    return escaped(f"{channel}:{account}/") + "%"


def title(text: str) -> str:
    return clip(" ".join(text.split()), TITLE)


def room_owner(address: Address) -> Op[Identity | None]:
    rows = yield FIRST_SPEAKER, {"room": str(address)}
    return Identity(rows[0][0]) if rows and not rows[0][1] else None


def is_untouched(address: Address) -> Op[bool]:
    rows = yield TOUCHED, {"room": str(address)}
    return not any(rows[0])


def timeline(
    address: Address, before: datetime | None, limit: int, state: Query
) -> Op[tuple[Sequence[Any], list[Entry], dict[str, int]]]:
    """The row of `state`; entries of one page; and the versions of entries before it that were edited lately."""
    until = micros(before) if before else FAR
    key = {"room": str(address), "before": until, "n": limit + 1}
    states, said_rows, shown_rows = yield at_once(state, (SAID, key), (PARTS_SHOWN, key))
    summarised = bool(states[0][SUMMARISED_AT])  # as few rooms are
    # An edit is never older than the message it replaces.
    oldest = min((row[2] for row in (*shown_rows, *said_rows)), default=until)
    changed = EDITED, {"room": str(address), "since": oldest - 24 * 3600 * 10**6}
    behind = [ran_in(address, min(row[5] for row in shown_rows), until)] if shown_rows else []
    answers: Any = yield at_once(changed, *behind, last=not summarised)
    latest, ran = _changes(answers[0]), work_of(answers[1]) if behind else {}
    # By time and id; of most rows nothing more is made, since a page has room for half of them.
    found: list[Found] = [(row[2], row[0], partial(_said, row, latest.get(row[0]))) for row in said_rows]
    found += [
        (row[2], f"{row[0]}.{row[1]}", partial(_shown, row, latest.get(row[0]), ran.get(row[0], NOTHING_RAN)))
        for row in shown_rows
    ]
    found.sort(key=itemgetter(0, 1))
    if summarised:
        summary_rows = yield SUMMARISED, {**key, "since": found[-limit][0] if len(found) > limit else 0}
        found += [(row[6], f"{SUMMARY}{row[0]}.{row[7]}", partial(_summary, row)) for row in summary_rows]
    entries = [make() for _, _, make in last_page(sorted(found, key=itemgetter(0, 1)), limit)]
    told, spoken = {one.id for one in entries}, {row[0] for row in said_rows}
    edited = {(one if one in spoken else f"{one}.1"): change.version for one, change in latest.items()}
    edited |= {name: SUMMARY_VERSION for _, name, _ in found if name.startswith(SUMMARY)}
    return states[0], entries, {entry: version for entry, version in edited.items() if entry not in told}


def view(address: Address, before: datetime | None, limit: int, now: datetime) -> Op[View]:
    state = STATE, {"room": str(address), "end": end_of(address), "now": micros(now)}
    (works, waits, _, *row), entries, edited = yield from timeline(address, before, limit, state)
    here = mode_of(row) if row[0] else NORMAL
    mode = "" if here.mode is Mode.NORMAL else here.mode.value
    return View(tuple(entries), bool(works or waits), mode, here.until, here.person_name, edited, before is None)


def page_after(address: Address, after: int, limit: int, now: datetime) -> Op[View]:
    """A page of what comes next after an instant, in microseconds, and some before it, so that nothing is missing between."""
    end = yield from _end_after(address, after, limit * 2 // 5)
    return (yield from view(address, end, limit, now))


def page_around(address: Address, entry_id: str, limit: int, now: datetime) -> Op[View]:
    """A page with an entry in its midst; without entries where the room has none of that name."""
    delivery, dot, ordinal = entry_id.rpartition(".")
    if dot and ordinal.isascii() and ordinal.isdecimal() and len(ordinal) < ORDINAL_DIGITS:
        rows = yield PLACE_OF_SHOWN, {"room": str(address), "entry": delivery, "ordinal": int(ordinal)}
    else:
        rows = yield PLACE_OF_SAID, {"room": str(address), "entry": entry_id}
    if not rows:
        return View((), busy=False)
    end = yield from _end_after(address, rows[0][0], limit // 4)
    return (yield from view(address, end, limit, now))


def _end_after(address: Address, after: int, each: int) -> Op[datetime | None]:
    """The end of a page with at most `each` of what people and of what the agent said after an instant; None at the newest."""
    key = {"room": str(address), "after": after, "n": each}
    said_rows = yield SAID_AFTER, key
    written_rows = yield WRITTEN_AFTER, key
    ends = [rows[-1][0] for rows in (said_rows, written_rows) if len(rows) == each]
    return moment(min(ends) + 1) if ends else None


def last_page(found: list[Found], limit: int) -> list[Found]:
    """The last `limit`, less a first instant that is cut: the page before, which ends there, has all of it."""
    if len(found) <= limit:
        return found
    page, cut = found[-limit:], found[-limit - 1][0]
    return [one for one in page if one[0] != cut] or page


def _changes(rows: Sequence[tuple[Any, ...]]) -> dict[str, _Changed]:
    """Changes of each message: the newest text in its place, and the emoji on it."""
    found: dict[str, _Changed] = {}
    for message, version, body, origin in rows:
        known = found.get(message, UNCHANGED)
        if origin.startswith(REACTED):
            marks = known.reactions if body in known.reactions else (*known.reactions, body)
            found[message] = _Changed(version, known.body, marks)
        else:
            found[message] = _Changed(version, body, known.reactions)
    return found


def _said(row: tuple[Any, ...], change: _Changed | None) -> Entry:
    signal_id, name, at, text, files, answered, client_id, run, replaces = row
    refs = tuple(FileRef(*f) for f in json.loads(files)) if files != NO_FILES else ()
    made = Entry(
        *(signal_id, Author.PERSON, name, moment(at), text, refs, 0, answered is not None, client_id),
        run=run or "",
        replaces=replaces,
        is_notice=client_id.startswith(IMPORTED) and client_id.endswith(f":{IMPORT_BEGINNING}"),
    )
    return replace(made, version=change.version, reactions=change.reactions) if change else made


def _shown(row: tuple[Any, ...], change: _Changed | None, behind: WorkBehind) -> Entry:
    delivery, ordinal, at, body, run, _ = row
    told = behind if ordinal == 1 else NOTHING_RAN
    made = Entry(f"{delivery}.{ordinal}", Author.AGENT, "", moment(at), body, run=run or "", behind=told)
    if change is None or ordinal != 1:
        return made
    new = body if change.body is None else change.body
    return replace(made, body=new, version=change.version, reactions=change.reactions)


def _summary(row: tuple[Any, ...]) -> Entry:
    """Its version is never 0: one that is made now stands above what a reader may have already."""
    kept = kept_of(row)
    body = {
        "text": kept.text,
        "kind": kept.kind,
        "model": kept.model,
        "turns": kept.turns,
        "since": kept.since.isoformat(),
        "until": kept.until.isoformat(),
        "made_at": kept.at.isoformat(),
        "before": kept.tokens_before,
        "after": kept.tokens_after,
    }
    told = json.dumps(body, ensure_ascii=False)
    name = f"{SUMMARY}{kept.upto}.{micros(kept.at)}"
    return Entry(name, Author.SUMMARY, "", kept.until, told, version=SUMMARY_VERSION)


class HistoryStore(Base):
    """Implements `contract.History`."""

    async def rooms(self, channel: str, account: str, owner: Identity) -> list[Room]:
        return await self._driver.read(lambda: rooms(channel, account, owner))

    async def own_rooms(self, channel: str, account: str, owner: Identity) -> frozenset[Address]:
        return await self._driver.read(lambda: own_rooms(channel, account, owner))

    async def room_owner(self, address: Address) -> Identity | None:
        return await self._driver.read(lambda: room_owner(address), is_brief=True)

    async def is_untouched(self, address: Address) -> bool:
        return await self._driver.read(lambda: is_untouched(address), is_brief=True)

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        now = self._driver.now()
        if around:
            return await self._driver.read(lambda: page_around(address, around, limit, now))
        if after is not None:
            return await self._driver.read(lambda: page_after(address, micros(after), limit, now))
        return await self._driver.read(lambda: view(address, before, limit, now), is_brief=limit <= BRIEF)

    async def work_behind(self, address: Address, entry_id: str) -> WorkBehind:
        return await self._driver.read(lambda: work_behind(address, entry_id))

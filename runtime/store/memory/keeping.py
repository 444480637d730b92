"""Keeping a memory: what is known already, what it ends, and the limit of its scope, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, func, or_, select, update

from runtime.contract.memory.facts import Kept, Memory, MemoryKind, MemoryRequest, Scope, Trust
from runtime.contract.people import PersonId, RunId
from runtime.domain.memory.keeping import (
    MEMORIES_MAX,
    PROPOSALS_FULL,
    PROPOSED_MAX,
    SCOPE_FULL,
    ends,
    fault_of,
    hash_of,
    key_of,
    lasts_until,
    raised,
    says_nothing_new,
    stands_beside,
    worded,
)
from runtime.domain.memory.scopes import reach_of
from runtime.store.common import fact
from runtime.store.memory.ending.expiring import drop_earliest
from runtime.store.memory.ending.tombstones import is_buried, unbury
from runtime.store.memory.rows import ADD_MEMORY, DROP_VECTORS, MEMORIES, Row, of_id
from runtime.store.schema import children, forgotten, memories, memory_uses
from runtime.store.sql.driver import Op, micros

KEEP_TRIES: Final = 3
"""Times that somebody else may keep the same at the same moment."""
FORGOTTEN_BEFORE: Final = "People had this forgotten, so it isn't proposed again."
FORGOTTEN_MEANWHILE: Final = "This was forgotten meanwhile, so it isn't kept again."
RECALLED_ALREADY: Final = "This is kept already: {id}. Nothing that was recalled is kept once more."
MEMORY_RACED: Final = "Others keep the same thing right now. Look with `recall` whether it's there."

_same_topic = (
    (memories.c.reach == bindparam("reach"))
    & (memories.c.subject_key == bindparam("subject"))
    & (memories.c.relation_key == bindparam("relation"))
)
SAME_TEXT = MEMORIES.where(
    memories.c.reach == bindparam("reach"), memories.c.hash == bindparam("hash"), memories.c.valid_to.is_(None)
).with_for_update(of=memories)
SAME_TOPIC = (
    MEMORIES.where(_same_topic, memories.c.valid_to.is_(None)).order_by(memories.c.id).with_for_update(of=memories)
)
LAST_ENDED_BY = (
    MEMORIES.where(memories.c.superseded_by == bindparam("memory")).order_by(memories.c.number.desc()).limit(1)
)
END_MEMORY = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values(valid_to=bindparam("at"), superseded_by=bindparam("new"))
)
RENEW_MEMORY = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values(
        trust=bindparam("new_trust"),
        importance=bindparam("new_importance"),
        pinned=bindparam("new_pinned"),
        expires_at=bindparam("new_end"),
        by_person=bindparam("new_person"),
    )
)
COUNT_MEMORIES = (
    select(func.count(), func.count().filter(memories.c.trust != bindparam("said")))
    .select_from(memories)
    .where(
        memories.c.reach == bindparam("reach"),
        memories.c.valid_to.is_(None),
        or_(memories.c.expires_at.is_(None), memories.c.expires_at > bindparam("now")),
    )
)
WAS_FORGOTTEN = select(forgotten.c.id).where(forgotten.c.id == bindparam("memory"))
GIVEN_TO_RUN = (
    select(memories.c.id, memories.c.reach, memories.c.hash, memories.c.text)
    .join(memory_uses, memory_uses.c.memory_id == memories.c.id)
    .where(memory_uses.c.run_id == bindparam("run"))
    .order_by(memory_uses.c.rank)
)
# Sessions of children begin with a word and their id: by it the row is found without another index.
IS_CHILD = select(children.c.id).where(children.c.id == bindparam("child"), children.c.session == bindparam("session"))


@dataclass(frozen=True, slots=True)
class Keeping:
    """A memory on its way into its row: the request as it was found right, and where it comes from."""

    id: str
    wanted: MemoryRequest
    agent: str
    scope: Scope
    person: PersonId | None
    actor: str
    run: RunId | None = None
    step: int | None = None
    signal: str | None = None

    @property
    def reach(self) -> str:
        return reach_of(self.agent, self.scope)


def keep(new: Keeping, now: datetime) -> Op[Kept | str]:
    """Keep it, or find it; words where it is refused."""
    if fault := fault_of(new.wanted):
        return fault
    if made := (yield from _made_before(new)):
        return made
    new = _final(new)
    if new.wanted.trust is Trust.STAGED and (yield from is_buried(new.reach, new.wanted.text)):
        return FORGOTTEN_BEFORE
    if repeated := (yield from _was_given(new)):
        return repeated
    if new.wanted.trust is Trust.SAID:
        yield from unbury(new.reach, new.wanted.text)
    for _ in range(KEEP_TRIES):
        known = yield SAME_TEXT, {"reach": new.reach, "hash": hash_of(new.wanted.text)}
        if known:
            return (yield from _renewed(Row(*known[0]), new, now))
        if refused := (yield from _refused_for_number(new, now)):
            return refused
        ended = yield from _end_others(new, now)
        if (yield ADD_MEMORY, _values(new, now)):
            yield from fact(now, "memory kept", new.actor, new.id, f"{new.scope} {new.wanted.trust}")
            rows = yield of_id(new.id)
            return Kept(Row(*rows[0]).memory, ended=ended)
    return MEMORY_RACED


def _final(new: Keeping) -> Keeping:
    return Keeping(
        *(new.id, worded(new.wanted), new.agent, new.scope, new.person, new.actor), new.run, new.step, new.signal
    )


def _made_before(new: Keeping) -> Op[Kept | str | None]:
    """Result of the same call, where it was made before."""
    if found := (yield of_id(new.id)):
        ended = yield LAST_ENDED_BY, {"memory": new.id}
        return Kept(Row(*found[0]).memory, ended=Row(*ended[0]).memory if ended else None)
    return FORGOTTEN_MEANWHILE if (yield WAS_FORGOTTEN, {"memory": new.id}) else None


def _was_given(new: Keeping) -> Op[Kept | str | None]:
    """The row that a run was given and only says again: it is found where it is, and put nowhere else."""
    given = (yield GIVEN_TO_RUN, {"run": new.run}) if new.run else []
    hashed = hash_of(new.wanted.text)
    for memory, reach, hash_, text in given:
        is_same = hash_ == hashed or (new.wanted.trust is not Trust.SAID and says_nothing_new(new.wanted.text, text))
        if not is_same or (reach == new.reach and new.wanted.trust is Trust.SAID):
            continue
        if reach != new.reach:
            return RECALLED_ALREADY.format(id=memory)
        rows = yield of_id(memory)
        return Kept(Row(*rows[0]).memory, was_known=True)
    return None


def _renewed(row: Row, new: Keeping, now: datetime) -> Op[Kept]:
    """The row that says the same: trusted as the better of both, and as long as the later one says."""
    trust = raised(Trust(row.trust), new.wanted.trust)
    is_accepted = trust is Trust.SAID and row.trust != Trust.SAID
    if is_accepted:
        yield from end_same_topic(row._replace(trust=trust.value), now)
    was_said = row.trust == Trust.SAID and row.by_person is not None  # it stays the word of whoever said it first
    person = new.person if new.wanted.trust is Trust.SAID and new.person and not was_said else row.by_person
    end = lasts_until(trust, new.wanted.expires_at, now) if new.wanted.trust is trust else None
    after = {
        "new_trust": trust.value,
        "new_importance": max(row.importance, new.wanted.importance),
        "new_pinned": int(row.pinned or new.wanted.pinned),
        "new_end": micros(end) if end else (row.expires_at if new.wanted.trust is not trust else None),
        "new_person": person,
    }
    yield RENEW_MEMORY, {"memory": row.id, **after}
    if is_accepted:
        yield from fact(now, "memory accepted", new.actor, row.id, f"{new.scope} said again")
    rows = yield of_id(row.id)
    return Kept(Row(*rows[0]).memory, was_known=True)


def _refused_for_number(new: Keeping, now: datetime) -> Op[str]:
    counted = yield COUNT_MEMORIES, {"reach": new.reach, "now": micros(now), "said": Trust.SAID.value}
    current, proposed = counted[0]
    if new.wanted.trust is not Trust.SAID and proposed >= PROPOSED_MAX:
        return PROPOSALS_FULL
    return SCOPE_FULL if current >= MEMORIES_MAX else ""


def _end_others(new: Keeping, now: datetime) -> Op[Memory | None]:
    """End what had this subject and relation before; the newest that ended.

    A relation of two things stands beside others; only the very same two are one.
    """
    wanted, found = new.wanted, None
    topic = {"reach": new.reach, "subject": key_of(wanted.subject), "relation": key_of(wanted.relation)}
    if not topic["subject"] or not topic["relation"]:
        return None
    beside = stands_beside(wanted.kind, wanted.subject, wanted.relation)
    for row in [Row(*row) for row in (yield SAME_TOPIC, topic)]:
        is_same = key_of(row.object) == key_of(wanted.object)
        is_of_many = beside or row.kind == MemoryKind.RELATION
        if ends(wanted.trust, Trust(row.trust)) and (is_same if is_of_many else True):
            found = yield from _end(row, new.id, now)
    return found


def end_same_topic(row: Row, now: datetime) -> Op[Memory | None]:
    """End the other current values of what a row says, since it is a person's word by now."""
    if not row.subject_key or not row.relation_key:
        return None
    found = None
    topic = {"reach": row.reach, "subject": row.subject_key, "relation": row.relation_key}
    for other in [Row(*other) for other in (yield SAME_TOPIC, topic)]:
        is_of_many = MemoryKind.RELATION in (row.kind, other.kind)
        if other.id != row.id and (not is_of_many or key_of(other.object) == key_of(row.object)):
            found = yield from _end(other, row.id, now)
    return found


def _end(row: Row, new: str, now: datetime) -> Op[Memory]:
    """A row that is over is found by nobody, so it has no vectors any more."""
    yield END_MEMORY, {"memory": row.id, "at": micros(now), "new": new}
    yield DROP_VECTORS, {"memory": row.id}
    yield from drop_earliest({"reach": row.reach, "subject": row.subject_key, "relation": row.relation_key})
    return row._replace(valid_to=micros(now), superseded_by=new).memory


def is_of_child(session: str | None) -> Op[bool]:
    _, _, rest = (session or "").partition("|")
    child, is_long, _ = rest.partition("|")
    return bool(is_long and (yield IS_CHILD, {"child": child, "session": session}))


def _values(new: Keeping, now: datetime) -> dict[str, Any]:
    wanted = new.wanted
    end = lasts_until(wanted.trust, wanted.expires_at, now)
    return {
        "id": new.id,
        "agent": new.agent,
        "scope": str(new.scope),
        "reach": new.reach,
        "kind": wanted.kind.value,
        "subject": wanted.subject,
        "relation": wanted.relation,
        "object": wanted.object,
        "subject_key": key_of(wanted.subject),
        "relation_key": key_of(wanted.relation),
        "object_key": key_of(wanted.object),
        "text": wanted.text,
        "trust": wanted.trust.value,
        "importance": wanted.importance,
        "pinned": int(wanted.pinned),
        "source_signal": new.signal,
        "source_run": new.run,
        "source_step": new.step,
        "by_person": new.person,
        "valid_from": micros(now),
        "valid_to": None,
        "superseded_by": None,
        "expires_at": micros(end) if end else None,
        "uses": 0,
        "used_at": None,
        "hash": hash_of(wanted.text),
        "created_at": micros(now),
    }

"""Readers: whose memories may be read in a room, as the rows of people and rooms have it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, bindparam, exists, literal_column, select

from runtime.contract.memory.facts import Reader
from runtime.contract.people import Address, PersonId
from runtime.domain.memory.scopes import reaches_of
from runtime.store.memory.rows import in_reaches, reaching
from runtime.store.operations.history import FIRST_SPEAKER, taken_in
from runtime.store.schema import identities, memories, signals
from runtime.store.sql.driver import Op

PAGE_CHANNEL: Final = "web"
"""The channel where a person has many rooms, each theirs from its first message on."""

PRIVATE_OF = select(identities.c.person_id).where(identities.c.room == bindparam("room"))
OTHERS_SAID: Final[Select[Any]] = select(literal_column("1")).where(
    exists().where(signals.c.address == bindparam("room"), *taken_in, signals.c.actor != bindparam("actor"))
)
ANY_IN: Final[Select[Any]] = select(literal_column("1")).where(
    exists().where(in_reaches, memories.c.valid_to.is_(None))
)


def reader_at(agent: str, room: Address, person: PersonId | None) -> Op[Reader]:
    """The reader; with the person only where the whole room is a private one of theirs, and of nobody else."""
    is_theirs = person is not None and (yield from is_private(room.whole_room, person))
    return Reader(agent, room, person if is_theirs else None)


def is_private(room: Address, person: PersonId) -> Op[bool]:
    """True for a room of one person and the agent alone."""
    owners = yield PRIVATE_OF, {"room": str(room)}
    if owners:
        return {owner for (owner,) in owners} == {person}
    if room.channel != PAGE_CHANNEL:
        return False
    own = f"{PAGE_CHANNEL}:{person}"
    first = yield FIRST_SPEAKER, {"room": str(room)}
    if not first or first[0][0] != own or first[0][1]:
        return False
    return not (yield OTHERS_SAID, {"room": str(room), "actor": own})


def has_any(reader: Reader) -> Op[bool]:
    return bool((yield ANY_IN, reaching(reaches_of(reader))))

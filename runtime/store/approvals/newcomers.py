"""Newcomers: the card by which owners and operators let a stranger in, and how somebody becomes known."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from itertools import count

from sqlalchemy import bindparam, delete, exists, select

from runtime.chat import pairing
from runtime.chat.cards import open_cards
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Choice,
    Content,
    DeliveryId,
    Effect,
    Identity,
    Kind,
    NewId,
    Person,
    Role,
    Signal,
)
from runtime.domain.approvals import APPROVAL_MOVES, LETS_IN, Approval, ApprovalEvent, ApprovalState
from runtime.domain.ids import digest
from runtime.domain.machines import move
from runtime.store.approvals.rulings import ADD_APPROVAL, APPROVAL_COLUMNS, approval_of, record
from runtime.store.common import (
    ADD_DELIVERY,
    ADD_IDENTITY,
    delivery_row,
    fact,
    new_person,
    person,
    same_account,
    web_identity,
    whom,
)
from runtime.store.people.people import PERSON_NAMED, SET_ROLE, end_invitations, is_the_last_owner
from runtime.store.protocol import NewDelivery
from runtime.store.schema import approvals, identities, pairings, people, signals
from runtime.store.sql.driver import Op, is_word, micros
from runtime.text.glyphs import seen
from runtime.text.naming import alike, is_ours
from runtime.text.words import said_at, say

TOOL = "let in"
"""Stands in the place of a tool in lists of questions."""

DROP_CODE = delete(pairings).where(pairings.c.identity == bindparam("i"))
LAST_ASKED = (
    select(*APPROVAL_COLUMNS)
    .where(approvals.c.run_id == bindparam("i"), is_word(approvals.c.kind, ApprovalKind.PERSON))
    .order_by(approvals.c.id.desc())
    .limit(1)
    .with_for_update()
)
OPEN = select(approvals.c.address).where(
    is_word(approvals.c.kind, ApprovalKind.PERSON), is_word(approvals.c.state, "pending")
)
EVERY_NAME = select(people.c.name)
# Locked before names are looked through: of two who come at once, the later one sees the earlier one's, also where the two are only alike, which
# no constraint knows. The first person is there before anybody comes, and isn't locked by what people do each day.
FIRST_PERSON = select(people.c.id).order_by(people.c.added_at, people.c.id).limit(1).with_for_update()
MAY_ANSWER = people.c.role >= int(min(LETS_IN.values()))
PRIVATE_ROOMS = (
    select(identities.c.room)
    .join(people, people.c.id == identities.c.person_id)
    .where(MAY_ANSWER, identities.c.room.is_not(None))
    .order_by(identities.c.room)
)
# On the page a person has many rooms: of those in which nobody else spoke the one in which they spoke last.
another = signals.alias("another")
LAST_PAGE = (
    select(signals.c.address)
    .where(signals.c.actor == bindparam("i"), is_word(signals.c.kind, "said"), ~is_word(signals.c.state, "refused"))
    .where(
        ~exists().where(
            another.c.address == signals.c.address, another.c.actor != signals.c.actor, is_word(another.c.kind, "said")
        )
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(1)
)
VOICES = select(people.c.id, people.c.name, people.c.role).where(MAY_ANSWER).order_by(people.c.id)


# ------------------------------------------------------------------------------------------------------------ the card


def turned_away(identity: Identity, now: datetime) -> Op[bool]:
    """True if this stranger was refused too recently to ask again."""
    last = yield from last_asked(identity)
    return (
        last is not None
        and last.state is ApprovalState.DENIED
        and last.decided_at is not None
        and now < last.decided_at + pairing.SILENCE
    )


def ask(
    signal: Signal, named: Callable[[Address], str], given: Collection[str], now: datetime, new_id: NewId
) -> Op[tuple[Address, ...] | None]:
    """A card about a stranger for each who may let them in, in private; the rooms. None where nobody is asked so."""
    last = yield from last_asked(signal.actor)
    if last is not None and last.state is ApprovalState.PENDING:
        return ()
    rooms = () if (yield from _is_crowded(signal.address)) else (yield from _private_rooms())
    if not rooms:
        return None
    asked, about = ApprovalId(new_id()), (yield from _about(signal, named, given))
    yield ADD_APPROVAL, _row(asked, signal, about, now)
    for ordinal, room in enumerate(rooms):
        with said_at(room):
            content = open_cards.stranger(asked, about)
        card = NewDelivery(DeliveryId(new_id()), f"approval:{asked}", ordinal, Kind.APPROVAL, room, content)
        yield ADD_DELIVERY, delivery_row(card, now)
    yield from fact(now, "approval asked", signal.actor, asked, f"{TOOL} {signal.actor_name}")
    return rooms


def _is_crowded(at: Address) -> Op[bool]:
    """True if as many of an account wait for an answer as anybody should be asked about at once."""
    rows = yield OPEN, {}
    return sum(same_account(Address.parse(asked), at) for (asked,) in rows) >= pairing.CARDS


def called(name: str) -> str:
    """Name by which a stranger calls themselves, as people read it."""
    return seen(name)[: pairing.LONGEST_NAME]


def own(name: str) -> str:
    """Claimed name, safe as our name: never an identity, since settings name people by those too. Empty for one of ours."""
    safe = " ".join(called(name).replace(":", " ").split())
    return "" if is_ours(safe) else safe


def _about(signal: Signal, named: Callable[[Address], str], given: Collection[str]) -> Op[str]:
    """Stranger who wants to come in, as the card tells it, and what they will be called where their name is somebody else's."""
    channel, _, user = signal.actor.partition(":")
    workspace, slash, _ = user.rpartition("/")
    account = named(signal.address).partition("/")[0]
    about = {"name": called(signal.actor_name), "platform": channel, "id": signal.actor, "account": account}
    if slash:
        about["workspace"] = workspace
    mine = own(signal.actor_name)
    if mine and (free := (yield from free_name(mine, given, looks=True))) != mine:
        about["will be called"] = free
    return json.dumps(about, ensure_ascii=False)


def _row(asked: ApprovalId, signal: Signal, about: str, now: datetime) -> dict[str, object]:
    return _values(asked, signal.actor, signal.address, about, now)


def _values(asked: ApprovalId, identity: Identity, at: Address, about: str, now: datetime) -> dict[str, object]:
    values: dict[str, object] = {column.name: "" for column in APPROVAL_COLUMNS}
    values |= {"id": asked, "kind": ApprovalKind.PERSON.value, "state": ApprovalState.PENDING.value}
    values |= {"run_id": identity, "step": 0, "address": str(at)}
    values |= {"tool": TOOL, "effect": Effect.WRITE.value, "arguments": about, "arguments_hash": digest(about)}
    values |= {"asked_at": micros(now), "expires_at": micros(now + pairing.CARD_LIFE)}
    values |= {"requester": None, "decided_by": None, "decided_at": None, "choice": None}
    return values | {"calls": 0, "next_call_at": None}


def _private_rooms() -> Op[tuple[Address, ...]]:
    rooms = [Address.parse(room) for (room,) in (yield PRIVATE_ROOMS, {})]
    for row in (yield VOICES, {}):
        rooms += [Address.parse(at) for (at,) in (yield LAST_PAGE, {"i": web_identity(person(row))})]
    return tuple(dict.fromkeys(rooms))


def last_asked(identity: Identity) -> Op[Approval | None]:
    """The newest question about somebody, its row locked."""
    rows = yield LAST_ASKED, {"i": identity}
    return approval_of(rows[0]) if rows else None


# ---------------------------------------------------------------------------------------------------------- its answer


def answered(ruled: Approval, given: Collection[str], now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """The stranger is let in or turned away, and told so; one about whom nobody decided hears nothing."""
    identity = Identity(ruled.run_id)
    if ruled.state is ApprovalState.APPROVED and ruled.choice:
        name = json.loads(ruled.arguments)["name"]
        who = yield from known_as(identity, "", name, Role[ruled.choice.name], given, now, new_id)
        yield from fact(now, "paired", ruled.decided_name, identity, f"{who.name}, {who.role.word}")
        with said_at(ruled.address):
            welcome = pairing.welcome(who)
        yield from told(welcome, ruled.address, now, new_id)
    elif ruled.state is ApprovalState.DENIED and not (yield from whom(identity)):
        with said_at(ruled.address):
            turned_away = say(pairing.TURNED_AWAY)
        yield from told(turned_away, ruled.address, now, new_id)
    else:
        return ()
    yield DROP_CODE, {"i": identity}
    return (ruled.address,)


def let_in_otherwise(
    identity: Identity, who: Person, by: Person, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """A code was entered: the card that asks about the same person asks no more."""
    last = yield from last_asked(identity)
    if last is None or last.state is not ApprovalState.PENDING:
        return ()
    state = move(APPROVAL_MOVES, last.state, ApprovalEvent.APPROVE)
    reason = f"by their code, as {who.name} ({who.role.word})"
    ruled = replace(last, state=state, decided_by=by.id, decided_name=by.name, decided_at=now, reason=reason)
    return (yield from record(ruled, now, new_id))


def refuse(
    identity: Identity, name: str, at: Address, by: Person, actor: str, now: datetime, new_id: NewId
) -> Op[tuple[Address, ...]]:
    """The stranger is turned away, by their card where one asks, else by a question that is answered as it is asked."""
    last = yield from last_asked(identity)
    if last is None or last.state is not ApprovalState.PENDING:
        about = json.dumps({"name": called(name), "id": identity}, ensure_ascii=False)
        values = _values(ApprovalId(new_id()), identity, at, about, now)
        yield ADD_APPROVAL, values
        last = approval_of(tuple(values[column.name] for column in APPROVAL_COLUMNS))
    state = move(APPROVAL_MOVES, last.state, ApprovalEvent.DENY)
    ruled = replace(last, state=state, decided_by=by.id, decided_name=actor, decided_at=now, choice=Choice.NO)
    cards = yield from record(ruled, now, new_id)
    return (*(yield from answered(ruled, (), now, new_id)), *cards)


def told(text: str, at: Address, now: datetime, new_id: NewId) -> Op[None]:
    """Tell somebody in their own room about being let in."""
    new = NewDelivery(DeliveryId(new_id()), f"paired:{new_id()}", 0, Kind.FINAL, at, Content(text))
    yield ADD_DELIVERY, delivery_row(new, now)


# ------------------------------------------------------------------------------------------------------- becoming known


def known_as(
    identity: Identity,
    name: str,
    own_name: str,
    role: Role | None,
    given: Collection[str],
    now: datetime,
    new_id: NewId,
) -> Op[Person]:
    """The person that this identity is from now on. Only a name that the owner wrote names one who is there already, or
    one to whom settings give something: what strangers call themselves may be anybody's name."""
    if already := (yield from whom(identity)):
        return already
    rows = (yield PERSON_NAMED, {"n": name}) if name else []
    if rows:
        who = yield from _promoted(person(rows[0][:3]), role, now)
    else:
        free = name or (yield from free_name(own(own_name) or identity, given))
        who = yield from new_person(free, Role.USER if role is None else role, now, new_id)
        yield ADD_IDENTITY, {"identity": web_identity(who), "person_id": who.id, "room": None}
    yield ADD_IDENTITY, {"identity": identity, "person_id": who.id, "room": None}
    return who


def _promoted(who: Person, role: Role | None, now: datetime) -> Op[Person]:
    if role is None or role is who.role or (who.role is Role.OWNER and (yield from is_the_last_owner(who))):
        return who
    yield SET_ROLE, {"n": who.name, "new_role": int(role)}
    if who.role is Role.OWNER:
        yield from end_invitations(who.name, who.name, now)
    return Person(who.id, who.name, role)


def free_name(name: str, given: Collection[str], *, looks: bool = False) -> Op[str]:
    """`name`, with a number where somebody has it or one like it, or the settings give something to it.

    Nobody else gets it until this transaction ends; but with `looks` it's only told.
    """
    if not looks:
        yield FIRST_PERSON, {}
    rows = yield EVERY_NAME, {}
    taken = {alike(one) for one in (*(row[0] for row in rows), *given)}
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(free for free in numbered if alike(free) not in taken)

"""Audience of a question: the people who may decide, the places they are asked in, and the card in its own room. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final

from runtime.contract import Address, ApprovalKind, Identity, Mention, Person, PersonId, TaskKind
from runtime.domain.approvals import Approval, Home, Rights, Voter, entitled
from runtime.policy.terms import DM, PLACES, ROOM
from runtime.text.words import say

MENTIONS_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """One who may decide something. `rooms`: where they can be asked alone; `here`: they are in the room of the request.

    `away_until` tells when somebody is back who is away by now.
    """

    person: Person
    names: frozenset[str]
    rooms: tuple[Address, ...] = ()
    here: bool = False
    away_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Audience:
    """Request behind a question, and the people who may decide.

    `said` are the newest words that its run heard, `said_by` whose, `message` the platform's id of them. `private`: the room is one person's and the agent's.
    `open_cards` are those that the requester has open in the conversation. `plan`: it is in the mode of that name, and what the
    model said it would do. `heard` are all whose words its run heard. `work` is what a piece that was handed on is for: its kind and name.
    """

    said: str = ""
    said_by: str = ""
    candidates: tuple[Candidate, ...] = ()
    private: bool = False
    message: str = ""
    open_cards: int = 0
    plan: str | None = None
    heard: frozenset[PersonId] = frozenset()
    work: tuple[TaskKind, str] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """Places in which a question is put. `asked` are the people and rooms that read `copies`; `away` who would have, and until when."""

    home: Home
    copies: tuple[Address, ...] = ()
    asked: tuple[str, ...] = ()
    away: tuple[tuple[str, datetime], ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Knowledge about rooms. `serves` tells whether one can be written to, `room_name` what people call it, `link` is the
    address of a message there on the web, `mark` stands before a command."""

    serves: Callable[[Address], bool] = lambda _: True
    room_name: Callable[[Address], str] = lambda _: ""
    link: Callable[[Address, str], str] = lambda _, __: ""
    mark: Callable[[Address], str] = lambda _: "/"


def able(question: Approval, candidates: Sequence[Candidate], rights: Rights) -> list[Candidate]:
    """Candidates who may decide this question; of one to a person, that person."""
    if question.kind is ApprovalKind.ANSWER:
        return [one for one in candidates if one.names & {*question.terms.approvers}]
    voters = ((one, Voter(one.person, one.names, question.address)) for one in candidates)
    return [one for one, voter in voters if entitled(question, voter, rights)]


def mentions(question: Approval, room: Address, candidates: Sequence[Candidate], rights: Rights) -> tuple[Mention, ...]:
    """People whom a card in `room` calls: those who may decide and did not ask themselves. A private chat calls anyway."""
    if any(room.whole_room in one.rooms for one in candidates):
        return ()
    is_home = room.whole_room == question.address.whole_room
    deciding = [one for one in able(question, candidates, rights) if one.person.id != question.requester]
    found = (_mention(one, room) for one in deciding if one.here or not is_home)
    return tuple(islice(filter(None, found), MENTIONS_MAX))


def _mention(one: Candidate, room: Address) -> Mention | None:
    """A mention by their account on the platform of `room`, if they have one there."""
    own, any_of = f"{room.channel}:{room.account}/", f"{room.channel}:"
    known = [name for name in one.names if name.startswith(own) or (name.startswith(any_of) and "/" not in name)]
    return Mention(Identity(min(known)), one.person.name) if known else None


def reach(question: Approval, audience: Audience, rights: Rights, places: Places) -> Reach:
    """Places in which `question` is put by its terms, as far as people and rooms are known."""
    deciding = able(question, audience.candidates, rights)
    present = _present(deciding, question.terms.quorum)
    found = dict(_copies(question, question.terms.to, present, places))
    if not found and not any(one.here for one in present):
        found = dict(_copies(question, question.terms.to, deciding, places))  # better somebody away than nobody
    asked = tuple(dict.fromkeys(found.values()))
    if ROOM not in question.terms.to and not _is_their_own(question, deciding):
        home = Home.TOLD  # also where nobody is reached: the terms want it kept from the room
    elif any(one.here for one in deciding) or not (found or audience.private):
        home = Home.WHOLE  # somebody may decide there, or may be there without our knowing
    else:
        home = Home.QUIET
    would = [one for one in deciding if one.here or (DM in question.terms.to and one.rooms)]
    away = tuple((one.person.name, one.away_until) for one in would if one.away_until)
    return Reach(home, tuple(found), asked, away)


def _present(deciding: Sequence[Candidate], quorum: int) -> Sequence[Candidate]:
    """Candidates who are not away; all of them where those who are left could not settle it."""
    present = [one for one in deciding if one.away_until is None]
    return present if len(present) >= max(quorum, 1) else deciding


def _is_their_own(question: Approval, deciding: Sequence[Candidate]) -> bool:
    """True if the request was made in the private chat of a person who may decide: the question belongs there."""
    rooms = {room.whole_room for one in deciding for room in one.rooms}
    return DM in question.terms.to and question.address.whole_room in rooms


def reach_one(question: Approval, audience: Audience, places: Places) -> Reach:
    """Places in which a question to one person is put: their private chats, where they are not in the room of the request.

    Where they can be asked nowhere else, it stands in that room: they may come.
    """
    found = dict(_copies(question, PLACES, audience.candidates, places))
    return Reach(Home.QUIET if found else Home.WHOLE, tuple(found), tuple(dict.fromkeys(found.values())))


def escalation(
    question: Approval, candidates: Sequence[Candidate], rights: Rights, places: Places
) -> dict[Address, str]:
    """Rooms to which an unanswered question goes, each with whom it reaches: also those who are in its room, each alone."""
    deciding = [replace(one, here=False) for one in _present(able(question, candidates, rights), question.terms.quorum)]
    return dict(_copies(question, question.terms.escalate_to, deciding, places))


def _copies(
    question: Approval, to: Sequence[str], deciding: Sequence[Candidate], places: Places
) -> Iterator[tuple[Address, str]]:
    """Rooms beside the one of the request, each with whom it reaches."""
    home = question.address.whole_room
    for one in deciding if DM in to else ():
        for room in () if one.here and ROOM in to else one.rooms:
            if room.whole_room != home and places.serves(room):
                yield room, one.person.name
    for place in to:
        if place in PLACES:
            continue
        room = Address.parse(place)
        if room.whole_room != home and places.serves(room):
            yield room, places.room_name(room) or say("another room")

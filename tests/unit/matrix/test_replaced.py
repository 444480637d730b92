"""A room that is replaced, and one that only claims to be: whoever may end a room can name any other as its next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from runtime.contract import SignalId
from signalbox.channels import AdapterContext, Moved, Outcome, PlatformClock, Signal, Verdict
from signalbox.testing import Clock
from signalbox_matrix.api import Api
from signalbox_matrix.errors import Refused
from signalbox_matrix.incoming.choosing import Choosing
from signalbox_matrix.incoming.encrypted import EncryptedRooms
from signalbox_matrix.incoming.intake import Intake
from signalbox_matrix.incoming.known import KnownEvents
from signalbox_matrix.parse import Me
from signalbox_matrix.rooms import Rooms

BOT, EVE = "@bot:example.org", "@eve:example.org"
HERS, THEIRS = "!hers:example.org", "!theirs:example.org"


class Homeserver:
    """A homeserver with rooms and what each says it replaces."""

    def __init__(self, replaces: Mapping[str, str], joined: set[str]) -> None:
        self.replaces = replaces
        self.joined = joined

    async def join(self, room: str, via: str = "") -> str:
        self.joined.add(room)
        return room

    async def leave(self, room: str) -> None:
        self.joined.discard(room)

    async def joined_rooms(self) -> list[str]:
        return sorted(self.joined)

    async def state(self, room: str, kind: str, key: str = "") -> Mapping[str, Any]:
        if room not in self.joined:
            raise Refused(403, "M_FORBIDDEN", "not in the room")
        old = self.replaces.get(room)
        return {"predecessor": {"room_id": old}} if old else {}

    async def event(self, room: str, event: str) -> Mapping[str, Any]:
        raise Refused(404, "M_NOT_FOUND", "no such event")


class Desk:
    """An intake before that homeserver, with what it handed in. Strangers may not invite it."""

    def __init__(self, replaces: Mapping[str, str], joined: set[str]) -> None:
        self.home = Homeserver(replaces, joined)
        self.rooms, self.taken, clock = Rooms(), list[Signal](), Clock()
        api = cast(Api, self.home)
        self.known = KnownEvents(api)

        class Given:
            now = clock

            async def may_invite(self, *asked: object) -> bool:
                return False

        self.intake = Intake(
            api=api,
            account="main",
            rooms=self.rooms,
            known=self.known,
            choosing=cast(Choosing, None),
            encrypted=cast(EncryptedRooms, None),
            given=cast(AdapterContext, Given()),
            clock=PlatformClock("the homeserver", clock),
        )
        self.intake.me, self.known.me = Me(BOT), BOT

    async def sink(self, signal: Signal) -> Verdict:
        self.taken.append(signal)
        return Verdict(Outcome.DECIDED, SignalId("s"))

    async def ends(self, room: str, successor: str) -> None:
        content = {"replacement_room": successor}
        event = {"type": "m.room.tombstone", "state_key": "", "sender": EVE, "event_id": "$end", "content": content}
        await self.intake.take(event, self.rooms.of(room), self.sink)

    async def invited(self, room: str, claims: str) -> None:
        made = {"type": "m.room.create", "state_key": "", "content": {"predecessor": {"room_id": claims}}}
        ours = {"type": "m.room.member", "state_key": BOT, "sender": EVE, "content": {"membership": "invite"}}
        await self.intake.invited(room, {"events": [made, ours]}, self.sink)


async def test_a_room_is_followed_where_the_next_one_names_it() -> None:
    desk = Desk({THEIRS: HERS}, {HERS})
    await desk.ends(HERS, THEIRS)
    assert [signal.body for signal in desk.taken] == [Moved(THEIRS)]
    assert desk.rooms.row(THEIRS) == HERS


@pytest.mark.parametrize("was_there", [True, False])
async def test_nobody_takes_over_another_room_by_naming_it_as_the_next(was_there: bool) -> None:
    desk = Desk({}, {HERS, THEIRS} if was_there else {HERS})
    await desk.ends(HERS, THEIRS)
    assert desk.taken == []
    assert (desk.rooms.row(THEIRS), desk.rooms.row(HERS)) == (THEIRS, HERS)
    assert (THEIRS in desk.home.joined) is was_there


async def test_an_invitation_into_a_named_room_is_one_like_any_other() -> None:
    desk = Desk({}, {HERS})
    desk.rooms.of(HERS).successor = THEIRS
    await desk.invited(THEIRS, claims="!other:example.org")
    assert (desk.taken, THEIRS in desk.home.joined) == ([], False)
    await desk.invited(THEIRS, claims=HERS)  # which isn't true
    assert (desk.taken, THEIRS in desk.home.joined, desk.rooms.row(THEIRS)) == ([], False, THEIRS)


async def test_an_invitation_into_the_next_room_is_taken_whoever_makes_it() -> None:
    desk = Desk({THEIRS: HERS}, {HERS})
    desk.rooms.of(HERS).successor = THEIRS
    await desk.invited(THEIRS, claims=HERS)
    assert [signal.body for signal in desk.taken] == [Moved(THEIRS)]
    assert THEIRS in desk.home.joined


async def test_an_event_of_another_room_means_nothing_here() -> None:
    desk = Desk({}, {HERS, THEIRS})
    content = {"body": "?", "msgtype": "m.text", "signalbox.choices": [["a1", "approve", "Approve", "+"]]}
    event = {"type": "m.room.message", "sender": BOT, "event_id": "$card", "content": content}
    await desk.intake.take(event, desk.rooms.of(THEIRS), desk.sink)
    found = await desk.known.of(THEIRS, "$card")
    assert found
    assert found.offers
    assert await desk.known.of(HERS, "$card") is None

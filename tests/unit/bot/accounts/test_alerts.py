"""What operators are told of accounts: once when one cannot work for too long, once when it works again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from bot.accounts.alerts import AccountAlerts, in_words
from bot.accounts.status import AccountStatuses
from runtime.contract import CONNECTED, Address, Connection, ConnectionStatus
from runtime.errors import Rejected, StoreError
from runtime.store.protocol import NewDelivery

START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
ROOM = Address("slack", "T1", "C1")
REFUSED = ConnectionStatus(Connection.REFUSED, 'account "tg": the token was revoked; make a new one with @BotFather.')
DEAF = ConnectionStatus(Connection.DEAF, 'account "tg": nothing was heard.')
RECONNECTING = ConnectionStatus(Connection.RECONNECTING, 'account "tg": away.')
AFTER = timedelta(seconds=60)


@dataclass
class Account:
    name: str = "telegram:tg"
    stands: ConnectionStatus = CONNECTED

    def standing(self) -> ConnectionStatus:
        return self.stands


@dataclass
class Outbox:
    """Shared by processes, as a store is."""

    posted: list[NewDelivery] = field(default_factory=list)
    trouble: Exception | None = None

    async def newest_of(self, prefix: str) -> tuple[str, int] | None:
        found = sorted((d.origin, d.ordinal) for d in self.posted if d.origin.startswith(prefix))
        return found[-1] if found else None

    async def post(self, delivery: NewDelivery) -> bool:
        if self.trouble:
            raise self.trouble
        fresh = (delivery.origin, delivery.ordinal) not in {(d.origin, d.ordinal) for d in self.posted}
        if fresh:
            self.posted.append(delivery)
        return fresh

    @property
    def texts(self) -> list[str]:
        return [delivery.content.text for delivery in self.posted]


class Process:
    """One that looks each second; `has_role` before others."""

    def __init__(self, outbox: Outbox, *accounts: Account, has_role: bool = True) -> None:
        self.now = START
        self.room: Address | None = ROOM
        self.has_role = has_role
        self._standings = AccountStatuses(accounts, lambda: self.now)
        self._outages = AccountAlerts(
            room=lambda: self.room,
            after=lambda: AFTER,
            told=outbox,
            post=outbox.post,
            take=self._take,
            now=lambda: self.now,
            new_id=lambda: "d",
        )

    async def _take(self, role: str) -> object | None:
        return role if self.has_role else None

    async def live(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += timedelta(seconds=1)
            await self._outages.see(self._standings.look())


@pytest.mark.parametrize("standing", [REFUSED, DEAF])
async def test_an_account_that_cannot_work_for_a_minute_is_told_once_and_so_is_its_end(
    standing: ConnectionStatus,
) -> None:
    outbox, account = Outbox(), Account()
    process = Process(outbox, account)
    await process.live(5)
    account.stands = standing
    await process.live(60)
    assert outbox.texts == []
    await process.live(300)
    [begun] = outbox.posted
    assert begun.address == ROOM
    assert begun.content.text == (
        f"**telegram:tg is {standing.connection.value}** since [2026-11-22 12:00 UTC](time:2026-11-22T12:00:06Z). {standing.reason}"
    )
    account.stands = CONNECTED
    await process.live(5)
    assert outbox.texts[1:] == ["**telegram:tg works again**, after 6 minutes."]
    assert {(d.origin, d.ordinal) for d in outbox.posted} == {(begun.origin, 1), (begun.origin, 2)}


async def test_each_outage_is_told_anew() -> None:
    outbox, account = Outbox(), Account()
    process = Process(outbox, account)
    for standing in (REFUSED, CONNECTED, DEAF, CONNECTED):
        account.stands = standing
        await process.live(70)
    assert len(outbox.texts) == len({d.origin for d in outbox.posted}) * 2 == 4


async def test_a_short_trouble_and_one_that_mends_itself_are_not_told() -> None:
    outbox, account = Outbox(), Account()
    process = Process(outbox, account)
    for standing in (REFUSED, CONNECTED, DEAF, CONNECTED):
        account.stands = standing
        await process.live(50)
    account.stands = RECONNECTING
    await process.live(600)
    assert outbox.texts == []


async def test_a_try_in_between_does_not_begin_the_minute_anew() -> None:
    outbox, account = Outbox(), Account()
    process = Process(outbox, account)
    for standing in (REFUSED, RECONNECTING, REFUSED, RECONNECTING, REFUSED):
        account.stands = standing
        await process.live(15)
    assert len(outbox.texts) == 1


async def test_the_next_start_tells_that_it_works_again() -> None:
    outbox, account = Outbox(), Account(stands=REFUSED)
    await Process(outbox, account).live(70)
    again = Process(outbox, account)
    again.now += timedelta(minutes=30)
    account.stands = ConnectionStatus(Connection.CONNECTING)
    await again.live(3)
    account.stands = CONNECTED
    await again.live(3)
    assert outbox.texts[1:] == ["**telegram:tg works again**, after 30 minutes."]


async def test_the_next_start_does_not_tell_again_what_goes_on() -> None:
    outbox, account = Outbox(), Account(stands=REFUSED)
    await Process(outbox, account).live(70)
    await Process(outbox, account).live(200)
    assert len(outbox.texts) == 1


@pytest.mark.parametrize("alive", [True, False])
async def test_of_processes_that_see_the_same_one_tells(alive: bool) -> None:
    outbox, account = Outbox(), Account(stands=REFUSED)
    first, second = Process(outbox, account), Process(outbox, account, has_role=False)
    for _ in range(80):
        if alive:
            await first.live(1)
        await second.live(1)
    account.stands = CONNECTED
    await first.live(1)
    await second.live(1)
    assert len(outbox.texts) == 2


@pytest.mark.parametrize("trouble", [StoreError("away"), Rejected("nobody serves it")])
async def test_what_cannot_be_told_now_is_told_later(trouble: Exception) -> None:
    outbox, account = Outbox(trouble=trouble), Account(stands=REFUSED)
    process = Process(outbox, account)
    await process.live(100)
    assert outbox.texts == []
    outbox.trouble = None
    await process.live(1)
    assert len(outbox.texts) == 1


async def test_a_room_that_is_not_known_yet_is_waited_for() -> None:
    outbox, account = Outbox(), Account(stands=REFUSED)
    process = Process(outbox, account)
    process.room = None
    await process.live(100)
    process.room = ROOM
    await process.live(1)
    assert len(outbox.texts) == 1


async def test_one_account_hides_no_other() -> None:
    outbox, good, bad = Outbox(), Account("slack:work"), Account(stands=REFUSED)
    await Process(outbox, good, bad).live(70)
    assert [text.split(" is ")[0] for text in outbox.texts] == ["**telegram:tg"]


def test_since_is_when_the_kind_of_trouble_began() -> None:
    account, now = Account(stands=REFUSED), START
    standings = AccountStatuses([account], lambda: now)
    standings.look()
    now += timedelta(seconds=9)
    account.stands = ConnectionStatus(Connection.REFUSED, "another reason")
    [state] = standings.look()
    assert (state.since, state.standing.reason) == (START, "another reason")
    account.stands = CONNECTED
    assert standings.look()[0].since == now


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (40, "40 seconds"),
        (119, "119 seconds"),
        (720, "12 minutes"),
        (10_800, "3 hours"),
        (200_000, "2 days"),
    ],
)
def test_times_are_told_as_people_say_them(seconds: float, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words

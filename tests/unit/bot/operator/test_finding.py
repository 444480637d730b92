"""One way to name things: an id, its first characters, a room by its name or address; on a store as platforms fill it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import pytest

from bot.accounts.naming import calling, naming
from bot.operator.actor import Actor
from bot.operator.lookups.finding import Finder
from bot.operator.operations import Operations
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address, Busy, Content, DeliveryId, Identity, Kind, Role, Said, Signal
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.http.errors import Refusal
from runtime.intake.room_names import RoomNames
from runtime.store.protocol import Gate, NewDelivery
from runtime.store.store import Store, open_store
from runtime.timeline.trail import Candidate, Thing
from tests.unit.bot.fake_store import FakeStore, context_of

GATE: Final = Gate(open_to_all=True, busy=Busy.STEER, rights=Rights(), agent="main")
GENERAL: Final = Address("slack", "T1", "C1GENERAL", "1795.0001")
RANDOM: Final = Address("slack", "T1", "C2RANDOM")
KITCHEN: Final = Address("telegram", "77", "-1001")
OTHER: Final = Address("discord", "88", "700")
NAMES: Final = {GENERAL: "#general", RANDOM: "#random", KITCHEN: "Family Kitchen", OTHER: "#general"}
PLATFORMS: Final = {"slack": "slack:T1", "telegram": "telegram:77", "discord": "discord:88"}
"""As adapters name them, which is not as addresses do."""
ACCOUNTS: Final = {"work": ("slack", "T1"), "home": ("telegram", "77"), "guild": ("discord", "88")}


NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
ENDS: Final = (("a", "denied"), ("b", "pending"), ("c", "approved"))


@dataclass
class House:
    store: Store
    do: Operations
    messages: dict[Address, str]

    async def deliver(self, at: Address) -> DeliveryId:
        ident = DeliveryId(new_id())
        assert await self.store.outbox.enqueue(NewDelivery(ident, f"test:{ident}", 1, Kind.FINAL, at, Content("hello")))
        return ident


@pytest.fixture
async def house() -> AsyncIterator[House]:
    store = await open_store("sqlite:///:memory:")
    for name, (channel, identity) in ACCOUNTS.items():
        await store.cluster.note_account(channel, name, identity)
    rooms = RoomNames(store.places, LocalNotifier())
    messages: dict[Address, str] = {}
    for number, (at, name) in enumerate(NAMES.items()):
        actor = Identity(f"{at.channel}:{number}")
        signal = Signal(PLATFORMS[at.channel], f"e{number}", actor, "Ada", at, Said(name), store.now())
        messages[at] = (await store.intake.accept(signal, GATE)).verdict.signal_id
    await store.places.name_rooms({replace(at, thread=""): name for at, name in NAMES.items()})
    person = await store.people.add_person("olga", Role.OWNER, [], actor="")
    assert person
    named = naming(await store.cluster.named_accounts())
    context = replace(context_of(FakeStore()), store=store, links=store.people, named=named, rooms=rooms)
    yield House(store, Operations(context, Actor(person, Identity(f"web:{person.id}"))), messages)
    await store.close()


# ------------------------------------------------------------------------------------------------------------ rooms


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("slack:work/C1GENERAL", GENERAL),
        ("slack:T1/C1GENERAL", GENERAL),
        ("slack:work/#general", GENERAL),
        ("slack:work/general", GENERAL),
        ("slack:work/C1GENERAL/1795.0001", GENERAL),
        ("slack:work/general/1795.0001", GENERAL),
        ("C1GENERAL", GENERAL),
        ("#random", RANDOM),
        ("Random", RANDOM),
        ("family kitchen", KITCHEN),
        ("telegram:home/-1001", KITCHEN),
        ("discord:guild/general", OTHER),
    ],
)
async def test_a_room_goes_by_its_name_its_address_and_the_address_of_a_thread(
    house: House, words: str, at: Address
) -> None:
    assert [row["id"] for row in await house.do.traceable(words)] == [house.messages[at]]


async def test_what_a_list_calls_a_room_finds_it_again(house: House) -> None:
    """With its account, also where several accounts have a room of that name."""
    for words, at in (("#general (guild)", OTHER), ("Family Kitchen (home)", KITCHEN)):
        assert [row["id"] for row in await house.do.traceable(words)] == [house.messages[at]]


async def test_a_name_that_several_rooms_have_lists_them(house: House) -> None:
    with pytest.raises(Refusal) as told:
        await house.do.traceable("general")
    assert told.value.status == 409
    assert "slack:work/C1GENERAL (#general)" in str(told.value)
    assert "discord:guild/700 (#general)" in str(told.value)


async def test_of_several_that_begin_alike_the_one_that_waits_is_meant(house: House) -> None:
    class Two(Finder):
        async def found(self, words: str, *things: Thing) -> list[Candidate]:
            return [Candidate(f"0353{n}", Thing.APPROVAL, NOON, "Ada", OTHER, state, "ls") for n, state in ENDS]

    finder = Two(house.store, None, str, str, "main")
    assert await finder.one("0353", Thing.APPROVAL, state="pending") == "0353b"
    with pytest.raises(Refusal, match="Several begin with '0353'"):
        await finder.one("0353", Thing.APPROVAL)


async def test_a_room_that_is_not_there_is_told_with_those_that_are(house: House) -> None:
    with pytest.raises(Refusal, match=r"No room is called 'attic'.*#general, #random, Family Kitchen"):
        await house.do.deliveries(room="attic")


async def test_rooms_are_shown_by_name_with_their_account_and_their_address_beside_it(house: House) -> None:
    rows = {row["address"]: row["room"] for row in await house.do.traceable()}
    assert rows == {
        "slack:work/C1GENERAL/1795.0001": "#general (work, thread)",
        "slack:work/C2RANDOM": "#random (work)",
        "telegram:home/-1001": "Family Kitchen (home)",
        "discord:guild/700": "#general (guild)",
    }
    await house.deliver(GENERAL)
    [row] = await house.do.deliveries(room="slack:work/general")
    assert (row["room"], row["address"]) == ("#general (work, thread)", "slack:work/C1GENERAL/1795.0001")


def test_a_room_that_nobody_named_is_written_as_before() -> None:
    called = calling(naming([("slack", "T1", "work")]), lambda _: "")
    assert called(GENERAL) == "slack:work/C1GENERAL/1795.0001"


# -------------------------------------------------------------------------------------------------------------- ids


async def test_first_characters_are_enough_wherever_an_id_is(house: House) -> None:
    delivery = await house.deliver(RANDOM)
    assert (await house.do.delivery(f"  {delivery[:-2]} "))["id"] == delivery
    assert (await house.do.discard(delivery[:-2]))["id"] == delivery
    told = await house.do.trace(house.messages[KITCHEN][:-1])
    assert [told["trace"]["about"]] if told["trace"] else [one["id"] for one in told["matches"]]


async def test_several_that_begin_alike_are_listed_to_choose_from(house: House) -> None:
    ids = [await house.deliver(at) for at in (RANDOM, KITCHEN)]
    with pytest.raises(Refusal) as told:
        await house.do.requeue(ids[0][:4])
    assert told.value.status == 409
    assert all(f"{one} (hello, in " in str(told.value) for one in ids)
    assert "Family Kitchen (home)" in str(told.value)


async def test_what_is_named_and_is_something_else_is_told(house: House) -> None:
    delivery = await house.deliver(RANDOM)
    for work in (house.do.decide(delivery, "approve"), house.do.run(delivery)):
        with pytest.raises(Refusal, match=r"is a delivery, and not an? (approval|run)"):
            await work
    with pytest.raises(Refusal, match=r"There is no approval zzzz\. Give its id, or at least its first four"):
        await house.do.decide("zzzz", "approve")

"""Whether something can be posted in a room is told beforehand, with what mends it; and what is told holds."""

from __future__ import annotations

import pytest

from runtime.contract import Address, ChannelAdapter
from runtime.errors import Rejected
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Barrier, KeepsShown, Place, Skill, Trouble
from tests.contract.adapters.stage import Stage


def kinds(stage: Stage) -> list[Place]:
    rooms = stage.rig.rooms()
    return [place for place in (rooms.direct, rooms.shared, rooms.thread) if place]


async def test_a_room_in_which_people_talk_to_us_can_be_reached(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        reach = adapter.features().reach
        assert reach
        for place in kinds(stage):
            await spoken(stage, place)
            assert await reach(place.address) is None
            assert await stage.visible(place) == [], "who asks leaves nothing"


async def spoken(stage: Stage, place: Place) -> None:
    """A conversation of the page is there once somebody spoke in it, which our ledger knows."""
    if isinstance(stage.rig, KeepsShown):
        await stage.rig.begin(place)


@pytest.mark.parametrize("barrier", Barrier)
async def test_what_keeps_us_out_is_told_with_what_mends_it(opened: Opened, barrier: Barrier) -> None:
    async with opened() as stage, stage.life() as adapter:
        reach = adapter.features().reach
        assert reach
        if barrier not in stage.rig.fixes:
            pytest.skip(f"{stage.rig.name}: it never is that {barrier}")
        room = await stage.rig.bar(barrier)
        told = await reach(room)
        assert told is not None
        assert stage.rig.fixes[barrier] in told
        assert told.endswith(".")
        if not adapter.features().stored:
            await refused(stage, adapter, room)


async def refused(stage: Stage, adapter: ChannelAdapter, room: Address) -> None:
    """What is posted there all the same is refused by the platform, so that nobody was kept out for nothing."""
    [part] = stage.parts(adapter, stage.delivery("hello", address=room))
    with pytest.raises(Rejected):
        await adapter.show(part)


async def test_while_the_platform_is_away_nobody_is_kept_out(opened: Opened) -> None:
    async with opened(Skill.AWAY) as stage, stage.life() as adapter:
        reach = adapter.features().reach
        assert reach
        await stage.rig.fault(Trouble.AWAY)
        assert await reach(stage.place.address) is None
        await stage.rig.lift()


async def test_what_is_no_address_of_the_platform_is_told_as_such(opened: Opened) -> None:
    async with opened() as stage, stage.life() as adapter:
        reach = adapter.features().reach
        assert reach
        here = stage.place.address
        assert await reach(Address(here.channel, here.account, "no such room")) is not None

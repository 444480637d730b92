"""Reports under an earlier message: its thread is begun where it is not there, and the room serves where none can be."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from adapters.discord.outgoing.reach import rights
from runtime.contract import Address, Attempt, SettleResult, Shown
from runtime.errors import Rejected, Uncertain
from tests.fakes.discord_faults import Do
from tests.fakes.discord_rules import RIGHTS
from tests.fakes.discord_world import BOT, GENERAL
from tests.wire.discord.stage import ADA, CHANNEL, On


async def root_of(on: On, adapter: Any, address: Address = CHANNEL) -> str:
    receipt = await adapter.show(on.part("The report of Monday", address=address, number="r" * 22))
    return str(receipt.message_id)


async def test_the_first_that_stands_under_a_message_begins_its_thread_under_its_words(on: On) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        for number in ("a", "b"):
            await adapter.show(replace(on.part(number, number=number * 22), under=root))
        assert await on.texts() == ["The report of Monday"]
        assert await on.texts(root) == ["a", "b"]
        assert (await on.driver.screen()).raw["channels"][root]["name"] == "The report of Monday"


async def test_a_thread_that_somebody_began_meanwhile_is_taken(on: On) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        await on.driver.do("thread", id=root, parent=GENERAL, name="ours")
        await adapter.show(replace(on.part("a"), under=root))
        assert await on.texts(root) == ["a"]


@pytest.mark.parametrize("why", ["no right to begin one", "locked", "the message is gone", "never known"])
async def test_where_there_can_be_no_thread_it_stands_in_the_room_once(on: On, why: str) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        match why:
            case "no right to begin one":
                await on.driver.set(denied=["CREATE_PUBLIC_THREADS"])
            case "locked":
                await on.driver.do("thread", id=root, parent=GENERAL, name="ours")
                await on.driver.do("set", channel=root, changes={"locked": True})
            case "the message is gone":
                await on.driver.do("delete", message=root)
            case _:
                root = "deleted"
        part = replace(on.part("a"), under=root)
        first = await adapter.show(part)
        assert await adapter.show(part) == first
        assert (await on.texts())[-1] == "a"
        assert (await on.texts()).count("a") == 1


async def test_alone_with_a_person_there_are_no_threads(on: On) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter, ADA)
        await adapter.show(replace(on.part("a", address=ADA), under=root))
        assert await on.texts(ADA.room) == ["The report of Monday", "a"]


async def test_in_a_thread_all_stands_there(on: On) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        here = Address("discord", BOT, GENERAL, root)
        under = await root_of(on, adapter)
        await adapter.show(replace(on.part("a", address=here), under=under))
        assert await on.texts(root) == ["a"]


async def test_a_closed_room_is_refused_as_ever(on: On) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        await on.driver.do("set", channel=GENERAL, changes={"closed": True})
        with pytest.raises(Rejected, match="50001"):
            await adapter.show(replace(on.part("a"), under=root))


@pytest.mark.parametrize("has_thread", [True, False], ids=["in the thread", "in the room"])
@pytest.mark.parametrize("applied", [True, False])
async def test_long_after_a_cut_it_is_looked_for_in_the_thread_and_in_the_room(
    on: On, has_thread: bool, applied: bool
) -> None:
    async with on.life() as adapter:
        root = await root_of(on, adapter)
        if has_thread:
            await on.driver.do("thread", id=root, parent=GENERAL, name="ours")
        else:
            await on.driver.set(denied=["CREATE_PUBLIC_THREADS"])
        part, now = replace(on.part("a"), under=root), on.stage.clock()
        attempt = Attempt(1, now, "", now)
        if applied and not has_thread:
            receipt = await adapter.show(part)  # nobody recorded it
        else:
            await on.driver.fault(Do.CUT_AFTER if applied else Do.CUT_BEFORE)
            with pytest.raises(Uncertain):
                await adapter.show(part)
            receipt = None
        await on.driver.lift()
        on.stage.clock.ahead += timedelta(minutes=5)
        on.fake.rest.nonce_seconds = 0
        settled = await adapter.settle(part, attempt)
        if not applied:
            assert settled is SettleResult.ABSENT
            return
        assert isinstance(settled, Shown)
        [shown] = [post for post in (await on.driver.screen()).posts() if post["content"] == "a"]
        assert settled.receipt.message_id == shown["id"]
        assert receipt in (None, settled.receipt)


# ------------------------------------------------------------------------------------------------------------- rights

SEND, VIEW = RIGHTS["SEND_MESSAGES"], RIGHTS["VIEW_CHANNEL"]
ADMINISTRATOR = 1 << 3


def told(everybody: int = VIEW | SEND, role: int = 0, *, owner: str = "42", **overwrites: tuple[int, int]) -> Any:
    """What a member with role 2 of server 1 may do, where a channel says (allow, deny) of those named."""
    permissions = {"1": everybody, "2": role, "3": ADMINISTRATOR}
    roles = [{"id": name, "permissions": str(flags)} for name, flags in permissions.items()]
    server = {"id": "1", "owner_id": owner, "roles": roles}
    said = [{"id": name[1:], "allow": str(a), "deny": str(d)} for name, (a, d) in overwrites.items()]
    return rights(server, {"roles": ["2"]}, {"permission_overwrites": said}, "9")


@pytest.mark.parametrize(
    ("held", "may"),
    [
        (told(), True),
        (told(0), False),
        (told(0, SEND), True),
        (told(_1=(0, SEND)), False),
        (told(_1=(0, SEND), _2=(SEND, 0)), True),
        (told(_2=(0, SEND), _9=(SEND, 0)), True),
        (told(_9=(0, SEND)), False),
        (told(_3=(0, SEND)), True),
        (told(0, ADMINISTRATOR, _1=(0, SEND)), True),
        (told(0, owner="9"), True),
    ],
)
def test_rights_come_of_everybody_then_of_roles_then_of_oneself(held: Any, may: bool) -> None:
    assert held.send_messages is may

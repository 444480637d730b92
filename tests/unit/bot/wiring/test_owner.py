"""The first owner and their link."""

from __future__ import annotations

import asyncio
from typing import cast

from bot.wiring.owner import owner_name, settle_owner
from runtime.contract import Identity, Role
from runtime.store.protocol import People
from runtime.store.store import open_store
from tests.unit.bot.fake_store import FakeStore


def people(store: FakeStore) -> People:
    return cast("People", store)


async def test_the_first_start_makes_an_owner_and_tells_the_link_once() -> None:
    store = FakeStore()
    token = await settle_owner(people(store), ["telegram:1"], None)
    assert token is not None
    assert store.links == {token: "owner"}
    assert store.known["owner"].identities[0] == "telegram:1"
    assert await settle_owner(people(store), ["telegram:1"], None) is None
    assert len(store.known) == 1


async def test_a_token_of_the_settings_is_the_link_and_is_not_told() -> None:
    store = FakeStore()
    assert await settle_owner(people(store), [], "sesame") is None
    assert store.links == {"sesame": "owner"}
    assert await settle_owner(people(store), [], "another") is None
    assert store.links == {"another": "owner"}


async def test_without_a_reader_no_link_is_made() -> None:
    store = FakeStore()
    assert await settle_owner(people(store), [], None, with_link=False) is None
    assert store.links == {}
    assert await settle_owner(people(store), [], None) is not None


async def test_an_owner_added_to_the_settings_later_becomes_one() -> None:
    store = FakeStore()
    await settle_owner(people(store), [], None)
    await store.add_person("uma", Role.USER, [Identity("slack:T1/U1")], actor="test")
    await settle_owner(people(store), ["slack:T1/U1", "discord:5"], None)
    assert store.known["uma"].person.role is Role.OWNER
    assert store.known["discord:5"].person.role is Role.OWNER


async def test_a_name_that_is_taken_gets_a_number() -> None:
    store = FakeStore()
    await store.add_person("owner", Role.USER, [], actor="test")
    await settle_owner(people(store), [], None)
    assert store.known["owner 2"].person.role is Role.OWNER


async def test_nodes_that_start_at_once_agree_on_one_owner() -> None:
    store = await open_store("sqlite:///:memory:")
    try:
        async with asyncio.timeout(30):
            await asyncio.gather(*(settle_owner(store.people, ["telegram:1", "slack:T1/U1"], None) for _ in range(3)))
        known = await store.people.people()
    finally:
        await store.close()
    assert [(one.person.name, one.person.role) for one in known] == [("owner", Role.OWNER)]
    assert {"telegram:1", "slack:T1/U1"} <= set(known[0].identities)


async def test_the_owner_is_known_by_name() -> None:
    store = FakeStore()
    await people(store).add_person("Ada", Role.OWNER, [], actor="test")
    await settle_owner(people(store), [], None)
    assert await owner_name(people(store)) == "Ada"

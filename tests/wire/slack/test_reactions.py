"""Emoji on messages: by Slack's own names, and once, whatever was cut."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from runtime.contract import Content, Identity, Part, Reaction, Receipt
from runtime.errors import Rejected, StoreError, Uncertain
from tests.contract.adapters.stage import until
from tests.fakes.slack_teams import BOT_USER
from tests.wire.slack.stage import DIRECT, THREAD, Workspace, delivery, parts

ASKED = Receipt("1700000000.000001")


def reaction(adapter: object, emoji: str) -> Part:
    [only] = parts(adapter, replace(delivery("", address=THREAD), content=Content("", reaction=emoji)))  # type: ignore[arg-type]
    return only


async def marks(on: Workspace) -> list[str]:
    calls = (await on.screen()).calls("reactions.add")
    return [f"{one['channel']} {one['timestamp']} {one['name']}" for one in calls]


async def test_a_message_of_a_person_is_marked_by_slacks_name(on: Workspace) -> None:
    async with on.life() as adapter:
        assert await adapter.edit(ASKED, reaction(adapter, "🎉")) == ASKED
    assert await marks(on) == ["C1 1700000000.000001 tada"]


async def test_one_that_was_cut_is_done_when_slack_has_it_already(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault("cut_after", on="reactions.add")
        with pytest.raises(Uncertain):
            await adapter.edit(ASKED, reaction(adapter, "👍"))
        assert await adapter.edit(ASKED, reaction(adapter, "👍")) == ASKED
    assert await marks(on) == ["C1 1700000000.000001 +1"] * 2


async def test_without_the_scope_the_missing_one_is_named(on: Workspace) -> None:
    await on.driver.switch(without=["reactions:write"])
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="reactions:write"):
            await adapter.edit(ASKED, reaction(adapter, "👍"))


async def test_an_app_without_the_scope_says_so_before_anything_is_tried(on: Workspace) -> None:
    await on.driver.switch(without=["reactions:write"])
    async with on.life() as adapter:
        reacts = adapter.features().reacts
        assert reacts is not None
        assert "lacks the scope reactions:write" in reacts("👍")
    assert await marks(on) == []


async def test_a_rating_of_a_person_is_told_and_taken_back(on: Workspace) -> None:
    rated: list[Reaction] = []

    async def rate(reaction: Reaction) -> bool:
        rated.append(reaction)
        return True

    on.given = replace(on.given, rated=rate)
    async with on.life() as adapter:
        receipt = await adapter.show(parts(adapter, delivery("hello"))[0])
        for removed in (False, True):
            told = await on.driver.do(
                "react", channel="DU1", ts=receipt.message_id, name="+1::skin-tone-2", removed=removed
            )
            await until(partial(on.acked, told), "acknowledgement")
        told = await on.driver.do("react", channel="DU1", ts=receipt.message_id, name="+1", user=BOT_USER)
        await until(partial(on.acked, told), "acknowledgement of our own")
    here = (DIRECT, Identity("slack:T1/U1"), receipt.message_id)
    assert rated == [Reaction(*here, ("+1::skin-tone-2",)), Reaction(*here, (), ("+1::skin-tone-2",))]


async def test_a_rating_waits_for_a_store_that_is_away(on: Workspace) -> None:
    tries: list[Reaction] = []

    async def rate(reaction: Reaction) -> bool:
        tries.append(reaction)
        if len(tries) == 1:
            raise StoreError("away")
        return True

    on.given = replace(on.given, rated=rate)
    async with on.life() as adapter:
        receipt = await adapter.show(parts(adapter, delivery("hello"))[0])
        told = await on.driver.do("react", channel="DU1", ts=receipt.message_id, name="-1")
        await until(partial(on.acked, told), "acknowledgement")
    assert len(tries) == 2

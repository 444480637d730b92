"""Emoji on messages: by Slack's own names, and once, whatever was cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtime.contract import Content, Part, Receipt
from runtime.errors import Rejected, Uncertain
from tests.wire.slack.stage import THREAD, Workspace, delivery, parts

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

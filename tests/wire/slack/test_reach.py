"""What Slack tells of a channel before something is posted there, and what is made of it where a scope is missing."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.contract import Address
from tests.wire.slack.stage import TEAM, Workspace

CHANNEL = Address("slack", TEAM, "C1")
NO_INFO = ["channels:read", "groups:read", "im:read", "mpim:read"]


async def asked(on: Workspace, address: Address = CHANNEL, **switches: Any) -> str | None:
    async with on.life() as adapter:
        await on.driver.switch(**switches)
        return await adapter.reach(address)


@pytest.mark.parametrize(
    ("room", "told"),
    [
        ({}, None),
        ({"is_member": False}, "/invite @signalbox"),
        ({"is_archived": True}, None),  # only conversations.info tells
    ],
)
async def test_without_the_scope_to_ask_what_may_be_read_tells(on: Workspace, room: Any, told: str | None) -> None:
    found = await asked(on, without=NO_INFO, rooms={"C1": room})
    assert found is None if told is None else told in str(found)


async def test_with_no_scope_at_all_nobody_is_kept_out(on: Workspace) -> None:
    assert await asked(on, without=[*NO_INFO, "channels:history"], rooms={"C1": {"is_member": False}}) is None


async def test_a_thread_that_is_gone_is_told(on: Workspace) -> None:
    assert "thread is gone" in str(await asked(on, Address("slack", TEAM, "C1", "1600000000.000001")))


@pytest.mark.parametrize("fault", ["busy", "error", "cut_before"])
async def test_trouble_is_no_reason_to_keep_anybody_out(on: Workspace, fault: str) -> None:
    async with on.life() as adapter:
        await on.driver.fault(fault, on="conversations.info", seconds=1)
        assert await adapter.reach(CHANNEL) is None

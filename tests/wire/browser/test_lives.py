"""How long browsers live, and what the conversation is told once one is gone."""

from __future__ import annotations

import asyncio

import pytest

from runtime.egress import Egress
from runtime.errors import ToolFailed
from tests.wire.browser.house import NEEDS_CHROMIUM, browsers
from tools.browser.browsers import Browsers
from tools.browser.terms import BrowserTerms

pytestmark = NEEDS_CHROMIUM


async def why(made: Browsers, owner: str) -> str:
    with pytest.raises(ToolFailed) as gone:
        await made.of(owner)
    return str(gone.value)


async def test_the_browser_unused_for_longest_gives_way_and_one_that_takes_too_much_is_closed() -> None:
    async with browsers(Egress(), BrowserTerms(sessions=1, memory_mib=1)) as made:
        first = await made.opened("one")
        second = await made.opened("two")
        assert first.name != second.name
        assert "another conversation needed one" in await why(made, "one")
        await asyncio.wait_for(second.gone.wait(), 20)
        assert "and 1 is the most" in await why(made, "two")


async def test_a_browser_that_nobody_uses_is_closed() -> None:
    clock = [0.0]
    async with browsers(Egress(), BrowserTerms(), now=lambda: clock[0]) as made:
        session = await made.opened("one")
        clock[0] = BrowserTerms().idle.total_seconds()
        await asyncio.wait_for(session.gone.wait(), 20)
        assert "nobody used it for a while" in await why(made, "one")

"""Bounds of conversations: kept before the first word, and never changed."""

from __future__ import annotations

from runtime.contract import Address
from runtime.domain.agents.bounds import Bounds
from tests.contract.store.stage import Stage

ROOM = Address("web", "main", "bounded0123456789ab")
NARROW = Bounds(("web_*", "read_file"), "sonnet")


async def test_bounds_are_kept_once_and_never_change(stage: Stage) -> None:
    lives, runs = stage.store.lives, stage.store.runs
    assert await runs.bounds_of(ROOM) is None
    assert await lives.keep_bounds(ROOM, NARROW)
    assert await lives.keep_bounds(ROOM, NARROW)
    assert not await lives.keep_bounds(ROOM, Bounds())
    assert await runs.bounds_of(ROOM) == NARROW

"""A node beside the others of its database."""

from __future__ import annotations

from bot.node.comparing import compare
from runtime.contract import NodeId
from runtime.store.protocol import Lease
from runtime.store.store import open_store


async def test_a_store_that_is_away_as_nodes_are_compared_ends_no_process() -> None:
    store = await open_store("sqlite:///:memory:")
    roster = store.roster
    await store.close()
    await compare(roster, Lease(NodeId("n"), 1))

"""Contracts on a server: made once no node is live whose program needs what they take away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog

from runtime.errors import StoreError
from runtime.store.schema import CONTRACTS
from runtime.store.upgrade import MIGRATION_TIMEOUT_SECONDS, contract, postgres_engine, unmade

if TYPE_CHECKING:
    from sqlalchemy import Connection

log = structlog.get_logger("store")

CONTRACT_RETRY_DELAY: Final = timedelta(seconds=30)
LOCK_TIMEOUT: Final = "SET LOCAL lock_timeout = '5s'"
"""Others wait behind whoever waits for a table: then rather another time."""
# Nobody joins or beats until the commit; a program that joins after it finds the contract, and refuses.
HOLD_NODES: Final = "LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE"
LOST_WITHIN: Final = timedelta(minutes=10)
"""A node that was declared dead may only be frozen or cut off: for so long it counts as one that comes back."""
UNAWARE: Final = (
    "SELECT label, version FROM nodes WHERE knows < :revision AND (state = 'live' OR (left_at IS NULL AND expires_at > "
    "(extract(epoch FROM clock_timestamp()) - :lost_within) * 1000000)) ORDER BY label"
)
WAITS: Final = "the schema keeps what an older program needs, until the last node with it is gone"


async def run_contracts(url: str) -> None:
    """Make all contracts, then return. While an older node is live, they wait, and the log names it."""
    told: Sequence[str] = ()
    while True:
        try:
            waits_for = await make_contracts(url)
        except StoreError as error:
            log.debug("contracts not made yet", reason=str(error))
        else:
            if not waits_for:
                return
            if waits_for != told:
                log.warning(WAITS, nodes=waits_for)
                told = waits_for
        await asyncio.sleep(CONTRACT_RETRY_DELAY.total_seconds())


async def make_contracts(url: str) -> Sequence[str]:
    """Make those that may be made; the nodes that the first other one waits for. Errors: StoreError."""
    from sqlalchemy.exc import DBAPIError

    from runtime.store.sql.wire.database_errors import AWAY, explain

    engine = postgres_engine(url)
    try:
        for revision in CONTRACTS:
            async with asyncio.timeout(MIGRATION_TIMEOUT_SECONDS), engine.begin() as connection:
                if waits_for := await connection.run_sync(_make, revision):
                    return waits_for
    except (*AWAY, DBAPIError) as error:
        raise explain(error) from error
    finally:
        await engine.dispose()
    return ()


def _make(connection: Connection, revision: str) -> Sequence[str]:
    from sqlalchemy import text

    if revision not in unmade(connection):
        return ()
    connection.execute(text(LOCK_TIMEOUT))
    connection.execute(text(HOLD_NODES))
    if revision not in unmade(connection):  # another node was first
        return ()
    unaware = connection.execute(text(UNAWARE), {"revision": revision, "lost_within": LOST_WITHIN.total_seconds()})
    if waits_for := [f"{label} (signalbox {version or 'of an older version'})" for label, version in unaware]:
        return waits_for
    contract(connection, revision)
    log.info("the schema lets go of what no program needs any more", revision=revision)
    return ()

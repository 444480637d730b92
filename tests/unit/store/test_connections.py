"""Connections that end under those who use them are told in the words of the store, and not as a fault of ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from runtime.store.sql.connections import Way, Ways
from runtime.store.sql.wire.pipeline import Pipelined
from tests.fakes.postgres import Postgres

PATIENCE_SECONDS = 0.02


@pytest.fixture
async def pool(postgres: Postgres) -> AsyncIterator[asyncpg.Pool[Any]]:
    async with asyncpg.create_pool(
        postgres.create_database(), connection_class=Pipelined, min_size=1, max_size=1
    ) as made:
        yield made


@pytest.fixture
async def told() -> AsyncIterator[list[str]]:
    """What the loop would put into the log."""
    heard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(str(context)))
    yield heard
    asyncio.get_running_loop().set_exception_handler(None)


async def test_a_connection_that_has_ended_is_not_told_to_drop_anything(
    pool: asyncpg.Pool[Any], told: list[str]
) -> None:
    way = Way(Ways(pool, 1), PATIENCE_SECONDS)
    connection = await way.__aenter__()
    connection.terminate()  # as another operation does that found the server silent
    await asyncio.sleep(3 * PATIENCE_SECONDS)
    with pytest.raises(TimeoutError, match="no answer within"):
        await way.__aexit__(None, None, None)
    assert told == []

"""A request that is too late never leaves: neither before its connection's first write, nor behind its look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import ClientConnectorError, ClientSession, web

from bot.testing.serve import serving
from runtime.contract import TOO_LATE, in_time
from runtime.http.last_look import LookingRequest

HEARD = web.AppKey("heard", list[int])


@pytest_asyncio.fixture
async def heard() -> AsyncIterator[tuple[str, list[int]]]:
    """Its address, and the length of each body that came."""

    async def hear(request: web.Request) -> web.Response:
        request.app[HEARD].append(len(await request.read()))
        return web.Response(text="heard")

    app = web.Application()
    app[HEARD] = []
    app.router.add_post("/", hear)
    async with serving(app) as url:
        yield url, app[HEARD]


@pytest.mark.parametrize("size", [0, 5, 300_000])
@pytest.mark.parametrize("looks", [0, 1])
async def test_what_is_too_late_never_leaves_and_later_ones_do(
    heard: tuple[str, list[int]], size: int, looks: int
) -> None:
    url, bodies = heard
    async with ClientSession(request_class=LookingRequest) as session:
        if size or not looks:  # without a body there is one look
            told = iter([True] * looks)
            with in_time(lambda: next(told, False)), pytest.raises(ClientConnectorError, match=TOO_LATE):
                await session.post(url, data=b"x" * size)
        await asyncio.sleep(0.01)
        assert bodies == []
        async with session.post(url, data=b"x" * size) as answer:
            assert await answer.text() == "heard"
        with in_time(lambda: True):
            await session.post(url, data=b"x" * size)
    assert bodies == [size, size]

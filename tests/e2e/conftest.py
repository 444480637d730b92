"""What tests of the whole product share."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext

from tests.e2e.browser import tab_in, window_of
from tests.e2e.house import House
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.shell import ShellSettings


@pytest.fixture(scope="session")
def sandbox_trouble() -> str | None:
    return asyncio.run(Bubblewrap(ShellSettings()).self_test())


@pytest.fixture
def sandbox(sandbox_trouble: str | None) -> None:
    """For tests that run commands: where the machine can have no sandbox, a skip (in CI a failure) says why."""
    if sandbox_trouble:
        not_here(sandbox_trouble)


def not_here(reason: str) -> None:
    """This machine lacks what the test needs."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def window(browser: Browser, house: House) -> AsyncIterator[BrowserContext]:
    """The owner's window at the `house` of the module, signed in: pages of several tests share it."""
    async with window_of(browser) as window:
        async with tab_in(window, house.link):
            pass
        yield window

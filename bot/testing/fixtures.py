"""Fixtures for pytest. Nothing else imports this module, as nobody else needs pytest."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.testing.agents import scripted_agent
from bot.testing.clocks import Clock


@pytest.fixture
def scripted(tmp_path: Path) -> Any:
    """`async with scripted("Hello!") as agent`: as `scripted_agent`, in a folder of the test's own."""
    return partial(scripted_agent, tmp_path)


@pytest.fixture
def clock() -> Clock:
    """The real time, which the test may set; hand it on as `now=clock`."""
    return Clock()


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests that are coroutines, where no other plugin does."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True

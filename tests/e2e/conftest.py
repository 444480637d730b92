"""What tests of the whole product share."""

from __future__ import annotations

import asyncio
import os

import pytest

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

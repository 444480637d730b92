"""Attacks from inside the sandbox of the shell: places, devices, system calls, bombs. As root, and as another user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.security.attacks import Case, attacked
from tests.security.ordinary import as_ordinary_user
from tests.security.tally import Tallied

WHO = ("root", "an ordinary user")


async def tried(suite: str, who: str, folder: Path) -> list[Case]:
    """The cases, or a skip (in CI a failure) that says why they cannot be tried."""
    is_root = os.geteuid() == 0
    if who == "root" and not is_root:
        pytest.skip("these tests do not run as root")
    try:
        return await (as_ordinary_user(suite) if is_root and who != "root" else attacked(suite, folder))
    except RuntimeError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(("suite", "name", "least"), [("walls", "sandbox", 50), ("bombs", "exhaustion, bombs", 15)])
async def test_walls_hold(suite: str, name: str, least: int, who: str, tmp_path: Path, tallied: Tallied) -> None:
    tally = tallied(f"{name}, as {who}", least)
    for held, words in await tried(suite, who, tmp_path):
        tally.case(held, words)
    tally.close()

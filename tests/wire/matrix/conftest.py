"""A bot and two people on a real homeserver, with everything around the adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.adapters.rigs.matrix import MatrixRig, synapse
from tests.contract.adapters.stage import Stage, stage_for
from tests.fakes import homeserver


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.soak)
            item.add_marker(pytest.mark.xdist_group("homeserver"))


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[MatrixRig]:
    if not homeserver.is_installed():
        pytest.skip("Synapse isn't installed: make cuts sets it up")
    async with synapse(tmp_path) as made:
        yield made


@pytest.fixture
def stage(rig: MatrixRig, tmp_path: Path) -> Stage:
    return stage_for(rig, tmp_path / "workspaces")

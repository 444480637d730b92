from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wire.slack.stage import Workspace, workspace


@pytest.fixture
async def on(tmp_path: Path) -> AsyncIterator[Workspace]:
    """A workspace with nobody connected to it yet."""
    async with workspace(tmp_path / "workspaces") as made:
        yield made

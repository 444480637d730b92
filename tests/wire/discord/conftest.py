from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wire.discord.stage import On, stand


@pytest.fixture
async def on(tmp_path: Path) -> AsyncIterator[On]:
    """The platform, and an account with nobody connected yet."""
    async with stand(tmp_path) as made:
        yield made

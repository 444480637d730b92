"""Each test has a fake Telegram of its own, and the real adapter and library before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.testing.serve import serving
from tests.contract.adapters.rigs.telegram import TelegramRig
from tests.contract.adapters.stage import stage_for
from tests.fakes.telegram import Telegram
from tests.wire.telegram.stage import Bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """In it the bot knows Ada (11), and nothing waits."""
    fake = Telegram(acquainted=100)
    async with serving(fake.app()) as url:
        rig = TelegramRig(url)
        await rig.driver.inject(type="introduce", chat=11, user=11, ago=60)
        yield Bench(rig, fake, stage_for(rig, tmp_path / "workspaces"))

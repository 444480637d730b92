"""A wire whose session was closed: as the screen has it while it finds another process."""

import pytest

from bot.node.lock import Control
from bot.operator.client import Gone
from bot.terminal.room_wire import wired


async def test_a_wire_that_was_closed_meanwhile_is_one_whose_process_is_gone() -> None:
    async with wired(Control(pid=1, url="http://127.0.0.1:9", token="none")) as wire:
        pass
    for asked in (wire.timeline("talk01"), wire.operator.overview(), anext(wire.events("talk01"))):
        with pytest.raises(Gone, match="does not answer"):
            await asked

"""The way to the running process: found again after each restart, and told in words while it is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

from bot.node.lock import Control, control_of
from bot.node.version import VERSION
from bot.operator.client import Gone
from bot.terminal.room_wire import RoomWire, wired
from runtime.errors import BotError

LINK_LOOK: Final = timedelta(milliseconds=500)
NOT_RUNNING: Final = "Signalbox isn't running. What you write waits; start it: signalbox run"
NOT_ANSWERING: Final = "Signalbox doesn't answer. What you write waits until it does."
OTHER_VERSION: Final = "Signalbox {runs} runs, and this is {own}. Restart it, so that both are the same."

Answer = TypeVar("Answer")


class Link:
    """Keeps a wire to the process that owns `data_dir`. `trouble` is a sentence while there is none."""

    def __init__(self, data_dir: Path, changed: Callable[[], None]) -> None:
        self._data_dir = data_dir
        self._changed = changed
        self._wire: RoomWire | None = None
        self._doubted = asyncio.Event()
        self._there = asyncio.Event()
        self.trouble = NOT_ANSWERING
        self.note = ""
        self.lives = 0
        """Processes that were met: a view of an earlier one is to be read anew."""

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if (control := control_of(self._data_dir)) is None:
                self._away(NOT_RUNNING)
            else:
                await self._hold(control)
            await asyncio.sleep(LINK_LOOK.total_seconds())

    async def there(self) -> None:
        """Wait until there is a process to ask."""
        await self._there.wait()

    async def ask(self, work: Callable[[RoomWire], Awaitable[Answer]]) -> Answer:
        """Errors: Gone while the process is away, Refusal with its sentence."""
        if self._wire is None:
            raise Gone(self.trouble)
        try:
            return await work(self._wire)
        except Gone:
            self._doubted.set()
            raise

    async def _hold(self, control: Control) -> None:
        """Until another process owns the folder, nobody does, or this one doesn't answer."""
        async with wired(control) as wire:
            try:
                runs = str((await wire.operator.overview())["info"].get("version", "?"))
            except Gone:
                self._away(NOT_ANSWERING)
                return
            except BotError as error:  # it refuses us, and says why
                self._away(str(error))
                return
            self.note = "" if runs == VERSION else OTHER_VERSION.format(runs=runs, own=VERSION)
            self._wire, self.trouble = wire, ""
            self.lives += 1
            self._doubted.clear()
            self._there.set()
            self._changed()
            while control_of(self._data_dir) == control and not self._doubted.is_set():
                try:
                    async with asyncio.timeout(LINK_LOOK.total_seconds()):
                        await self._doubted.wait()
                except TimeoutError:
                    continue
            self._away(NOT_ANSWERING if self._doubted.is_set() else NOT_RUNNING)

    def _away(self, trouble: str) -> None:
        self._wire = None
        self._there.clear()
        if trouble != self.trouble:
            self.trouble = trouble
            self._changed()

"""The Signalbox that answers an editor: the one that runs, else one that runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from bot.node.lock import AlreadyRunning, Control, control_of
from bot.settings.settings import Settings
from bot.terminal.options import reachable
from runtime.errors import BotError
from runtime.text.words import marked

BACK_WITHIN: Final = timedelta(seconds=60)
"""Time in which one that ran and doesn't answer is waited for: somebody starts it anew, and needs its data folder."""
SERVING_LOOK: Final = timedelta(milliseconds=200)
SIGNALBOX_GONE: Final = marked(
    "Signalbox doesn't answer any more. Start it again: signalbox run. What you said is kept, and the answer will be in this "
    "session."
)


Begin = Callable[[Settings], AbstractAsyncContextManager[Control]]
"""Runs a Signalbox in this process, for as long as its block lasts. Errors: BotError."""


@dataclass(slots=True)
class Serving:
    """Finds it for each request. `own` is the one in this process, which goes with it."""

    settings: Settings
    begin: Begin
    own: Control | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _group: asyncio.TaskGroup | None = None

    async def now(self) -> Control:
        """The one that answers, begun here where none runs. Errors: BotError."""
        async with self._starting:
            return self.own or await reachable(self.settings) or await self._begun()

    async def back(self) -> Control:
        """The same once it's there again, after it didn't answer. Errors: BotError with words where it isn't."""
        if self.own is not None:
            return self.own
        loop = asyncio.get_running_loop()
        end = loop.time() + BACK_WITHIN.total_seconds()
        while loop.time() < end:
            await asyncio.sleep(SERVING_LOOK.total_seconds())
            if control := control_of(self.settings.data_dir):
                return control
        raise BotError(SIGNALBOX_GONE)

    async def _begun(self) -> Control:
        """One of our own, or another that was faster."""
        assert self._group is not None  # noqa: S101 - `serving_here` made it
        ready: asyncio.Future[Control] = asyncio.get_running_loop().create_future()
        self._group.create_task(self._serve(ready))
        try:
            return await ready
        except AlreadyRunning:
            found = await reachable(self.settings)
            if found is None:
                raise
            return found

    async def _serve(self, ready: asyncio.Future[Control]) -> None:
        try:
            async with self.begin(self.settings) as control:
                self.own = control
                ready.set_result(control)
                await self._over.wait()
        except BotError as error:
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            self.own = None


@asynccontextmanager
async def serving_here(settings: Settings, begin: Begin) -> AsyncIterator[Serving]:
    """Nothing runs before it's needed, and what was begun has drained after the block."""
    made = Serving(settings, begin)
    async with asyncio.TaskGroup() as group:
        made._group = group
        try:
            yield made
        finally:
            made._over.set()

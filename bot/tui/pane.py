"""A part of the screen that shows rows of the operators' API and reads them again while it is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar, cast

from textual import work
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.widget import MountError, Widget

from bot.operator.client import Gone
from bot.terminal.room_wire import RoomWire
from runtime.errors import BotError

if TYPE_CHECKING:
    from bot.tui.screen import SignalboxTui

PANE_LOOK: Final = timedelta(seconds=2)
LEAVING: Final = (NoMatches, MountError)
"""Raised where something is drawn while the screen goes: its parts are taken down first, and are there at any other time."""
NOTHING_DONE: Final = "{error} Nothing was done."

Answer = TypeVar("Answer")


class Pane(Vertical):
    """Reads its rows every two seconds, at once after each action, and never two times at once."""

    look_each: ClassVar[timedelta] = PANE_LOOK

    def on_mount(self) -> None:
        self.woken = asyncio.Event()
        self._looking()

    @property
    def tui(self) -> SignalboxTui:
        return cast("SignalboxTui", self.app)

    @property
    def is_seen(self) -> bool:
        return self.tui.seen is self

    async def read(self) -> None:
        """Read the rows and draw them. Errors: Gone, Refusal."""
        raise NotImplementedError

    def enter(self) -> None:
        """The pane comes into view, and has the keys from the next one on."""
        self.woken.set()
        self.take_keys(self.begins_with())

    def begins_with(self) -> Widget:
        """The widget that has the keys as the pane comes into view."""
        raise NotImplementedError

    def take_keys(self, widget: Widget) -> None:
        """Give it the keys at once: `focus()` does so after those that wait already, which would go elsewhere."""
        self.screen.set_focus(widget)

    @work(exclusive=True, group="look")
    async def _looking(self) -> None:
        while True:
            self.woken.clear()
            if self.is_seen:
                try:
                    await self.read()
                except Gone:
                    pass  # the line at the top says so
                except LEAVING:
                    return
                except BotError as error:
                    self.tui.tell(str(error))
            try:
                async with asyncio.timeout(self.look_each.total_seconds()):
                    await self.woken.wait()
            except TimeoutError:
                continue

    async def asked(self, do: Callable[[RoomWire], Awaitable[Answer]]) -> Answer | None:
        """Do something an operator asked for. None where it was refused, which is told."""
        try:
            return await self.tui.link.ask(do)
        except Gone as error:
            self.tui.tell(NOTHING_DONE.format(error=error))
        except BotError as error:
            self.tui.tell(str(error))
        finally:
            self.woken.set()
        return None

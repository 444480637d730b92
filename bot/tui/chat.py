"""Conversations: their list, one of them with what is said right now, and a line to write in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import ClassVar, Final

from rich.console import RenderableType
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from bot.operator.client import Gone
from bot.operator.views import View
from bot.terminal.conversation import new_message, new_room
from bot.terminal.room_wire import RoomWire
from bot.tui.pane import LEAVING, Pane
from bot.tui.texts import Live, entry_of, in_line, pending_of
from runtime.errors import BotError

ROOMS_SHOWN: Final = 100
OLDER_SHOWN_MAX: Final = 1_000
"""Older messages in the log beside the newest, from which on no more are asked for: each change lays out all of them."""
OLDER_KEPT_MAX: Final = 1_500
"""The same, of a conversation that goes on and on."""
NO_MORE_OLDER: Final = "The newest {number:,} messages are shown. Those before them are on the page, and in: signalbox conversations export"
NEW_ROOM: Final = "new"
EMPTY: Final = "Nothing is said here yet. Write below; Enter sends."
DELETED: Final = "This conversation isn't there any more. F5 begins a new one; another one is in the list."
NOT_LISTED: Final = "This conversation left the list: somebody deleted or archived it. F5 begins a new one."
STREAM_AGAIN_SECONDS: Final = 0.5
LOOKS_APART_SECONDS: Final = 0.1
"""Between two readings of a room that changes."""


@dataclass(slots=True)
class Unsent:
    """A message that the process hasn't taken in yet. It keeps its id, so that it is said once."""

    room: str
    text: str
    id: str

    async def send(self, wire: RoomWire) -> None:
        """Errors: Gone, Refusal."""
        await wire.say(self.room, self.text, self.id, [])


class Composer(TextArea):
    """Enter sends, Ctrl-J begins a line."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+j", "newline", "New line", show=False, priority=True)]

    class Sent(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if self.text.strip():
                self.post_message(self.Sent(self.text))
                self.clear()
            return
        await super()._on_key(event)

    def action_newline(self) -> None:
        self.insert("\n")


@dataclass(frozen=True, slots=True)
class Row:
    """A message of the log. It is made when it is new or its shape is another one."""

    key: str
    shape: object
    make: Callable[[], RenderableType]


class Log(VerticalScroll):
    """Messages in their order: what didn't change stays as it is drawn."""

    def __init__(self) -> None:
        super().__init__(id="log")
        self._drawn: dict[str, tuple[object, Static]] = {}

    def on_mount(self) -> None:
        self.anchor()

    def to_the_end(self) -> None:
        """Stay at the end from now on: somebody who speaks reads there."""
        self.anchor()
        self.scroll_end(animate=False)

    async def draw(self, rows: Sequence[Row]) -> None:
        """Stays at the end, unless somebody went up to read."""
        wanted = {row.key for row in rows}
        gone = [self._drawn.pop(key)[1] for key in [key for key in self._drawn if key not in wanted]]
        await self.remove_children(gone)
        for is_new, group in groupby(enumerate(rows), lambda one: one[1].key not in self._drawn):
            if is_new:
                await self._add([*group])
                continue
            for _, row in group:
                shape, widget = self._drawn[row.key]
                if shape != row.shape:
                    widget.update(row.make())
                    self._drawn[row.key] = (row.shape, widget)

    async def _add(self, rows: Sequence[tuple[int, Row]]) -> None:
        """Neighbours at once: the log is laid out once for all of them."""
        place = rows[0][0]
        made = {row.key: (row.shape, Static(row.make(), markup=False, classes="entry")) for _, row in rows}
        self._drawn.update(made)
        widgets = [widget for _, widget in made.values()]
        await self.mount(*widgets, before=place if place < len(self.children) else None)


class ChatPane(Pane):
    """One conversation at a time. What is written waits until a process takes it in, whatever happens meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "new", "New conversation", priority=True),
        Binding("f6", "rooms", "Conversations", priority=True),
        Binding("ctrl+x", "stop", "Stop", priority=True),
        Binding("ctrl+b", "older", "Older", priority=True),
    ]

    def __init__(self, room: str) -> None:
        super().__init__(id="chat")
        self.room = room or new_room()
        self.entries: list[View] = []
        self._older: list[View] = []
        self._unsent: list[Unsent] = []
        self._rooms: list[View] = []
        self._listed: object = None
        self._live = Live()
        self._listing = OptionList(id="rooms", markup=False)
        self._is_gone = self._was_listed = self._has_left = False
        self._sending = asyncio.Event()
        self._drawing = asyncio.Lock()
        self.is_busy = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._listing
            with Vertical():
                yield Log()
                yield Composer(id="composer", placeholder="Write; Enter sends, Ctrl-J begins a line", compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self._hear()
        self._send()
        self.take_keys(self.begins_with())

    def begins_with(self) -> Widget:
        return self.query_one(Composer)

    async def read(self) -> None:
        """The list of conversations; the open one is told by its stream."""
        self._rooms = await self.tui.link.ask(lambda wire: wire.operator.rooms(ROOMS_SHOWN))
        self._draw_rooms()
        is_listed = self.room in {row["room"] for row in self._rooms}
        if len(self._rooms) < ROOMS_SHOWN:
            self._has_left = not is_listed and (self._was_listed or self._has_left)
        self._was_listed = is_listed
        if self._has_left:  # what is deleted is removed a minute later
            await self._look(self.room)

    def _draw_rooms(self) -> None:
        rows = [(row["room"], _room_line(row, is_open=row["room"] == self.room)) for row in self._rooms]
        if self.room not in {room for room, _ in rows}:
            rows.insert(0, (self.room, "> new conversation"))
        if rows == self._listed:
            return
        self._listed = rows
        listing = self._listing
        chosen = listing.highlighted_option.id if listing.highlighted_option else self.room
        listing.clear_options()
        for room, line in rows:
            listing.add_option(Option(Text(line), room))
        listing.highlighted = next((at for at, (room, _) in enumerate(rows) if room == chosen), 0)

    # ------------------------------------------------------------------------------------------------- the open room

    @work(exclusive=True, group="hear")
    async def _hear(self) -> None:
        """Show all that is said and done in the open room, over all lives of the process."""
        room, wire = self.room, self.tui.link
        self._draw_rooms()
        await self._draw()
        while True:
            await wire.there()
            with suppress(BotError):
                await self._look(room)
                await wire.ask(lambda here: self._stream(here.events(room), room))
            self._live.clear()  # nobody knows it of another process
            await self._draw()
            await asyncio.sleep(STREAM_AGAIN_SECONDS)

    async def _stream(self, events: AsyncIterator[tuple[str, View]], room: str) -> None:
        async for name, told in events:
            if name == "progress":
                self._live.take(told)
                await self._draw()
            elif name == "questions":
                self.tui.wake()
            elif name == "changed":
                await self._look(room)
                self.tui.wake()
                await asyncio.sleep(LOOKS_APART_SECONDS)

    async def _look(self, room: str) -> None:
        view = await self.tui.link.ask(lambda wire: wire.timeline(room))
        if room != self.room:
            return
        page: list[View] = view["entries"]
        ids, first = {entry["id"] for entry in page}, page[0]["at"] if page else ""
        self._is_gone = not page and bool(self.entries or self._is_gone)
        before = [one for one in [*self._older, *self.entries] if one["id"] not in ids and one["at"] < first]
        self._older, self.entries, self.is_busy = before[-OLDER_KEPT_MAX:], page, view["busy"]
        if not self.is_busy:
            self._live.clear()
        await self._draw()

    async def _draw(self) -> None:
        async with self._drawing:
            with suppress(*LEAVING):
                await self.query_one(Log).draw(self._shown())

    def _shown(self) -> list[Row]:
        rows = [
            Row(one["id"], (one["version"], len(one.get("buttons", ()))), partial(entry_of, one))
            for one in [*self._older, *self.entries]
        ]
        trouble = "waits until Signalbox runs" if self.tui.link.trouble else ""
        waiting = [one for one in self._unsent if one.room == self.room]
        rows += [Row(f"unsent {one.id}", trouble, partial(pending_of, one.text, trouble)) for one in waiting]
        if self._live.is_on:
            rows.append(Row("live", object(), self._live.drawn))
        if not rows:
            words = DELETED if self._is_gone else EMPTY
            rows = [Row("empty", words, partial(Text, words))]
        elif self._has_left:
            rows.append(Row("left", NOT_LISTED, partial(Text, NOT_LISTED)))
        return rows

    # --------------------------------------------------------------------------------------------------------- saying

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self._unsent.append(Unsent(self.room, event.text, new_message()))
        self._sending.set()
        self.query_one(Log).to_the_end()

    @work(exclusive=True, group="send")
    async def _send(self) -> None:
        """Each message in its order, with its id, until a process has it: then it is answered, once."""
        while True:
            await self._sending.wait()
            self._sending.clear()
            while self._unsent:
                one = self._unsent[0]
                await self._draw()
                await self.tui.link.there()
                try:
                    await self.tui.link.ask(one.send)
                except Gone:
                    await asyncio.sleep(STREAM_AGAIN_SECONDS)
                    continue
                except BotError as error:
                    self.tui.tell(f"It wasn't sent: {error}")
                    self._back_into_the_composer(one.text)
                self._unsent.remove(one)
                with suppress(BotError):
                    await self._look(self.room)
                self.woken.set()

    def _back_into_the_composer(self, text: str) -> None:
        composer = self.query_one(Composer)
        composer.text = f"{text}\n{composer.text}" if composer.text else text

    # --------------------------------------------------------------------------------------------------------- actions

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._open(str(event.option_id))

    def action_new(self) -> None:
        self._open(new_room())

    def action_rooms(self) -> None:
        self.take_keys(self._listing)

    @work(group="act")
    async def action_stop(self) -> None:
        message = new_message()
        await self.asked(lambda wire: wire.stop(self.room, message))

    @work(exclusive=True, group="older")
    async def action_older(self) -> None:
        """Messages before the first one that is shown."""
        first = next(iter([*self._older, *self.entries]), None)
        if first is None:
            return
        if len(self._older) >= OLDER_SHOWN_MAX:
            self.tui.tell(NO_MORE_OLDER.format(number=len(self._older) + len(self.entries)))
            return
        view = await self.asked(lambda wire: wire.timeline(self.room, first["at"]))
        if view is None:
            return
        known = {entry["id"] for entry in [*self._older, *self.entries]}
        more = [entry for entry in view["entries"] if entry["id"] not in known]
        if not more:
            self.tui.tell("This is the first message.")
            return
        self._older = [*more, *self._older]
        await self._draw()
        self.query_one(Log).scroll_home(animate=False)

    def _open(self, room: str) -> None:
        self.room, self.entries, self._older = room, [], []
        self._is_gone = self._was_listed = self._has_left = False
        self._live.clear()
        self._draw_rooms()
        self._hear()
        self.take_keys(self.begins_with())
        self.woken.set()


def _room_line(row: View, *, is_open: bool) -> str:
    marks = (
        ("> " if is_open else "") + ("* " if row["unread"] else "") + (f"({row['waiting']}) " if row["waiting"] else "")
    )
    return f"{marks}{in_line(row['title'] or row['room'], 60)}"

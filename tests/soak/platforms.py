"""The four fake channels in the campaign's own process, which nobody kills, and what is on their screens, with times."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from bot.testing.channel.adapter import REPEAT_MARK
from bot.testing.channel.board import Board, Record
from bot.testing.channel.driver import Driver
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.serve import serving


@dataclass(frozen=True, slots=True)
class Shown:
    """One message of the bot on a screen. `id` is the platform's; on the page it names the part itself.

    `first` is its text as it came, `text` as it is now, both without the mark of a repeat.
    """

    place: str
    room: str
    id: str
    at: float
    first: str
    text: str
    approval: str = ""  # that its buttons belong to now
    choices: tuple[str, ...] = ()
    asked: str = ""  # the approval that its buttons belonged to when it came
    marked: bool = False
    part: str = ""  # by the key or the marker that was sent with it
    edited_at: float | None = None


@dataclass(slots=True)
class TimedBoard(Board):
    """In memory, with a journal that knows when each thing happened, and each room as people see it."""

    place: str = ""
    log: list[Record] = field(default_factory=list)
    rooms: dict[str, dict[str, Shown]] = field(default_factory=lambda: defaultdict(dict))
    acked_at: dict[str, float] = field(default_factory=dict)  # the first time, by event
    _unacked: list[Record] = field(default_factory=list)

    def _write(self, record: Record) -> None:
        timed = {**record, "at": time.time()}
        self.log.append(timed)
        Board._write(self, record)
        if record["op"] == "shown":
            self.rooms[record["room"]][record["id"]] = as_shown(self.place, timed)
        elif record["op"] == "edited":
            room = self.rooms[self.posts[record["id"]].room]
            room[record["id"]] = edited(room[record["id"]], timed)
        elif record["op"] == "event":
            self._unacked.append(timed)
        elif record["op"] == "acked":
            self._note_acked(timed)

    def _note_acked(self, record: Record) -> None:
        for event in self._unacked:
            if event["seq"] <= record["after"]:
                self.acked_at.setdefault(event["id"], record["at"])
        self._unacked = [event for event in self._unacked if event["seq"] > record["after"]]


class Platform:
    """One fake channel: `board` is read directly, everything else goes over the wire."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.board = TimedBoard(place=kind)
        self.channel = Channel(kind=ChannelKind(kind))
        self.channel.board = self.board
        self.url = ""
        self.driver = Driver("")


def as_shown(place: str, record: Record) -> Shown:
    text = record["text"]
    plain = text.removeprefix(REPEAT_MARK)
    approval, choices = buttons_of(record["buttons"])
    return Shown(
        place,
        record["room"],
        record["id"],
        record["at"],
        plain,
        plain,
        approval,
        choices,
        approval,
        plain != text,
        record["key"] or record["marker"] or "",
    )


def edited(shown: Shown, record: Record) -> Shown:
    approval, choices = buttons_of(record["buttons"])
    text = record["text"].removeprefix(REPEAT_MARK)
    return replace(shown, text=text, approval=approval, choices=choices, edited_at=record["at"])


def buttons_of(triples: Sequence[Sequence[str]]) -> tuple[str, tuple[str, ...]]:
    return (triples[0][0] if triples else ""), tuple(choice for _, choice, _ in triples)


@asynccontextmanager
async def platforms(kinds: Sequence[str]) -> AsyncIterator[dict[str, Platform]]:
    """Serve a fake channel of each kind."""
    made = {kind: Platform(kind) for kind in kinds}
    async with AsyncExitStack() as stack:
        for platform in made.values():
            platform.url = await stack.enter_async_context(serving(platform.channel.app()))
            platform.driver = Driver(platform.url)
        yield made


def flags(made: dict[str, Platform]) -> Iterator[str]:
    """For the command line of the program."""
    for kind, platform in made.items():
        yield from ("--fake", f"{kind}={platform.url}")

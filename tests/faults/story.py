"""What people do while the program dies under them. Each line they write carries words of its own, to be found again."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Final

from tests.faults.program import until
from tests.faults.sides import Seen, Side

LONG: Final = 60
"""Words in a long line: its answer takes several messages on the fake channel."""
FILES_ANSWER: Final = "Files in "


class Kind(StrEnum):
    CHAT = "chat"  # its words come back
    FILES = "files"  # a tool that only reads
    APPROVED = "approved"  # a tool that is asked for, and allowed
    DENIED = "denied"


@dataclass(slots=True)
class Line:
    """One accepted message. `words` are in its answer and nowhere else."""

    kind: Kind
    text: str
    words: list[str]
    clicked_at: float | None = None  # when a person first said yes, in seconds of time.time()
    doubts: list[str] = field(default_factory=list)  # what was answered to "was it carried out?"

    @property
    def is_asked(self) -> bool:
        return self.kind in (Kind.APPROVED, Kind.DENIED)


@dataclass(slots=True)
class Talk:
    """A room and what was said there, in order."""

    room: str
    lines: list[Line] = field(default_factory=list)


class Story:
    """`workspaces` is where a person looks to see whether a cut command did its work."""

    def __init__(self, side: Side, workspaces: Path) -> None:
        self.talks: list[Talk] = []
        self._known: list[Talk] = []
        self._side = side
        self._workspaces = workspaces
        self._numbers = count(1)

    async def chapter(self) -> None:
        """Each scene in a room of its own, side by side."""
        async with asyncio.TaskGroup() as group:
            for scene in (self.chat, self.hurry, self.approve, self.deny):
                group.create_task(self.play(scene))

    async def play(self, scene: Callable[[Talk], Awaitable[None]]) -> None:
        """One scene in a room of its own."""
        await scene(self._room())

    async def lines(self, rooms: int) -> None:
        """One line in each of so many rooms, without waiting for answers."""
        for talk in [self._room() for _ in range(rooms)]:
            await self.say(talk, self._chat())

    async def another(self, count: int = 1) -> None:
        """So many lines more in each room so far, without waiting for answers."""
        for _ in range(count):
            for talk in self.talks:
                await self.say(talk, self._chat())

    async def all_answered(self) -> None:
        for talk in self.talks:
            await self.answered(talk, *talk.lines)

    # ------------------------------------------------------------------------------------------------ the scenes

    async def chat(self, talk: Talk) -> None:
        """One thing after the other."""
        await self.answered(talk, await self.say(talk, self._chat()))
        await self.answered(talk, await self.say(talk, Line(Kind.FILES, "list the files", [])))
        await self.answered(talk, await self.say(talk, self._chat(LONG)))

    async def hurry(self, talk: Talk) -> None:
        """Two lines without waiting, then the files, then one more."""
        lines = [self._chat(), self._chat(), Line(Kind.FILES, "list the files", []), self._chat()]
        for line in lines:
            await self.say(talk, line)
        for line in lines:
            await self.answered(talk, line)

    async def approve(self, talk: Talk) -> None:
        """A command that is asked for; talk goes on meanwhile; the click comes twice, and so does its event."""
        word = self._word()
        line = await self.say(talk, Line(Kind.APPROVED, f"run: echo {word} >> {word}.log", [word]))
        await self._card(talk, line)
        await self.answered(talk, await self.say(talk, self._chat()))
        await self._decide(talk, line, "approve")

    async def deny(self, talk: Talk) -> None:
        word = self._word()
        line = await self.say(talk, Line(Kind.DENIED, f"write {word} to {word}.txt", [word]))
        await self._decide(talk, line, "deny")

    # --------------------------------------------------------------------------------------------- what they do

    async def say(self, talk: Talk, line: Line) -> Line:
        talk.lines.append(line)
        await self._side.say(talk.room, line.text)
        return line

    async def answered(self, talk: Talk, *lines: Line) -> None:
        """Until the whole answer to each of these is on screen."""
        left = list(lines)

        async def look() -> bool | None:
            screen = await self._side.seen(talk.room)
            left[:] = [line for line in left if not has_answer(screen, talk, line)]
            return None if left else True

        try:
            await until(look, f"answers in {talk.room}")
        except AssertionError as error:
            raise AssertionError(f"{error}: {', '.join(repr(line.text[:60]) for line in left)}") from None

    async def _card(self, talk: Talk, line: Line) -> Seen:
        async def look() -> Seen | None:
            return next((seen for seen in await self._side.seen(talk.room) if seen.buttons), None)

        return await until(look, f"a card for {line.text!r} in {talk.room}")

    async def _decide(self, talk: Talk, line: Line, choice: str) -> None:
        """Press the buttons that come up until the line is answered. It is the only one in its room that asks."""
        pressed: set[str] = set()

        async def look() -> bool | None:
            screen = await self._side.seen(talk.room)
            for card in screen:
                if card.buttons and card.buttons[0].approval_id not in pressed:
                    pressed.add(card.buttons[0].approval_id)
                    await self._press(talk, line, card, choice)
            return has_answer(screen, talk, line) or None

        await until(look, f"an end of {line.text!r} in {talk.room}")

    async def _press(self, talk: Talk, line: Line, card: Seen, choice: str) -> None:
        offered = {button.choice for button in card.buttons}
        approval = card.buttons[0].approval_id
        if choice not in offered:  # it was cut: look whether it did its work, and say so
            choice = self._what_happened(line)
            line.doubts.append(choice)
        line.clicked_at = line.clicked_at or time.time()
        await self._side.click(talk.room, approval, choice, "as I see it")
        await self._side.click(talk.room, approval, choice)  # an impatient second press
        if choice == "deny":
            await self._side.click(talk.room, approval, "approve")  # too late: it was denied

    def _what_happened(self, line: Line) -> str:
        if effects_of(self._workspaces, line.words[0]):
            return "done"
        return "again" if len(line.doubts) % 2 == 0 else "skip"

    # --------------------------------------------------------------------------------------------------- its words

    def know_all(self) -> None:
        """The next scenes play in the rooms so far."""
        self._known = list(reversed(self.talks))

    def _room(self) -> Talk:
        if self._known:
            return self._known.pop()
        talk = Talk(f"room{next(self._numbers):04}")
        self.talks.append(talk)
        return talk

    def _word(self) -> str:
        return f"w{next(self._numbers):04}"

    def _chat(self, length: int = 1) -> Line:
        word = self._word()
        words = [f"{word}x{n}" for n in range(length)]
        return Line(Kind.CHAT, " ".join(words), words)


def effects_of(workspaces: Path, word: str) -> int:
    """How often the command of `word` did its work: each time adds a line to a file."""
    return sum(len(path.read_text().splitlines()) for path in workspaces.glob(f"*/{word}.*"))


def holds(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text) is not None


def answers(screen: Iterable[Seen]) -> list[Seen]:
    return [seen for seen in screen if not seen.is_card]


def has_answer(screen: Iterable[Seen], talk: Talk, line: Line) -> bool:
    told = answers(screen)
    if line.kind is Kind.FILES:
        asked = talk.lines.index(line)
        before = sum(other.kind is Kind.FILES for other in talk.lines[: asked + 1])
        return sum(seen.text.count(FILES_ANSWER) for seen in told) >= before
    return all(any(holds(seen.text, word) for seen in told) for word in line.words)

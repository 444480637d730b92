"""The people of an episode: they write by the plan, and answer the cards that come up in the manner that it says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

from tests.soak.deeds import deeds_in
from tests.soak.plan import ADA, BOB, WEB, Act, Line, Manner, Say, Stop
from tests.soak.platforms import Shown
from tests.soak.streets import Street

LOOKS_EVERY: Final = 0.3  # seconds between two looks at a room
ENOUGH: Final = 8  # messages without an answer, at which a person waits before the next one
TAG: Final = re.compile(r"\btag: `?(w\d+)")


class On(StrEnum):
    CARD = "card"
    FORGED = "forged"  # an id that nobody ever gave out
    ELSEWHERE = "elsewhere"  # the right id, from another room


@dataclass(frozen=True, slots=True)
class Click:
    choice: str
    who: str = ADA
    on: On = On.CARD
    after: float = 0.0  # seconds since the one before


FIRST: Final = "first"
"""The choice of the first answer to a question in words."""
APPROVE: Final = Click("approve")
DENY: Final = Click("deny")
CLICKS: Final[Mapping[Manner, Sequence[Click]]] = {
    Manner.APPROVE: [APPROVE],
    Manner.APPROVE_TWICE: [APPROVE, APPROVE],
    Manner.DENY: [DENY],
    Manner.DENY_THEN_APPROVE: [DENY, APPROVE],
    Manner.APPROVE_THEN_DENY: [APPROVE, DENY],
    Manner.FORGED_FIRST: [Click("approve", on=On.FORGED), APPROVE],
    Manner.STRANGER_FIRST: [Click("approve", BOB), Click("deny", BOB), APPROVE],
    Manner.ELSEWHERE_FIRST: [Click("approve", on=On.ELSEWHERE), APPROVE],
    Manner.LATE: [APPROVE, Click("approve", after=2.5), Click("deny")],
    Manner.IGNORE: [],
}


class People:
    """`lines` are all lines they wrote, by tag; `unanswered` counts messages, by place and room.

    After `close` nobody writes any more; cards are still answered.
    """

    def __init__(self, name: str, journal: Path) -> None:
        self.lines: dict[str, Line] = {}
        self.unanswered: Mapping[tuple[str, str], int] = {}
        self.closing = False
        self._name = name
        self._journal = journal
        self._events = count(1)
        self._busy = 0

    def close(self) -> None:
        self.closing = True

    @property
    def is_calm(self) -> bool:
        """Whether nobody has anything left to say or click."""
        return self._busy == 0

    # ------------------------------------------------------------------------------------------------ what they write

    async def write(self, street: Street, room: str, acts: Iterator[Act], group: asyncio.TaskGroup) -> None:
        self._busy += 1
        for act in acts:
            match act:
                case Say():
                    await self._say(street, room, act, group)
                case Stop():
                    await street.stop(room, self._event())
            await self._pause(act.pause)
            await self._patience(street.place, room)
            if self.closing:
                break
        self._busy -= 1

    async def _say(self, street: Street, room: str, act: Say, group: asyncio.TaskGroup) -> None:
        self.lines |= {one.tag: one for line in act.lines for one in line.family}
        text = "\n".join(line.text for line in act.lines)
        for _ in range(act.copies):
            event = self._event()
            await street.say(room, text, event, act.who)
            for after in act.again:
                group.create_task(self._again(street, room, text, event, act.who, after))

    async def _again(self, street: Street, room: str, text: str, event: str, who: str, after: float) -> None:
        """The same event once more."""
        self._busy += 1
        await asyncio.sleep(after)
        await street.say(room, text, event, who)
        self._busy -= 1

    async def _patience(self, place: str, room: str) -> None:
        """Nobody writes on and on to somebody who does not answer."""
        while self.unanswered.get((place, room), 0) > ENOUGH:
            if self.closing:
                return
            await asyncio.sleep(LOOKS_EVERY)

    async def _pause(self, seconds: float) -> None:
        while seconds > 0 and not self.closing:
            await asyncio.sleep(min(seconds, LOOKS_EVERY))
            seconds -= LOOKS_EVERY

    # ------------------------------------------------------------------------------------------------ what they click

    async def watch(self, street: Street, room: str, group: asyncio.TaskGroup) -> None:
        """Answer each card of the room once, until cancelled."""
        known: set[str] = set()
        while True:
            on_screen = await street.look(room)
            for number, shown in enumerate(on_screen, 1):
                if shown.approval and shown.approval not in known:
                    known.add(shown.approval)
                    group.create_task(self._answer(street, room, on_screen[:number]))
            await asyncio.sleep(LOOKS_EVERY)

    async def _answer(self, street: Street, room: str, on_screen: Sequence[Shown]) -> None:
        """The last message has the buttons; the call may stand in one before it, since a card may take several."""
        self._busy += 1
        card, tags = on_screen[-1], TAG.findall("\n".join(one.text for one in on_screen))
        for click in self._clicks(street, card, tags[-1]):
            await asyncio.sleep(click.after)
            target = "F" * len(card.approval) if click.on is On.FORGED else card.approval
            place = f"{room}next" if click.on is On.ELSEWHERE else room
            await street.click(place, target, click.choice, self._event(), click.who)
        self._busy -= 1

    def _clicks(self, street: Street, card: Shown, tag: str) -> Sequence[Click]:
        if FIRST in card.choices:
            return [] if self.lines[tag].manner is Manner.IGNORE else [Click(FIRST)]
        if "approve" not in card.choices:
            return [Click(self._what_happened(tag))]
        clicks = CLICKS[self.lines[tag].manner]
        return [click for click in clicks if street.place != WEB or click.who == ADA]

    def _what_happened(self, tag: str) -> str:
        """A person looks whether the work was done; if not, they have it done now, or do without."""
        if any(deed["what"] == "did" and deed["arguments"]["tag"] == tag for deed in deeds_in(self._journal)):
            return "done"
        return Random(f"{self._name}/{tag}").choice(["again", "again", "skip"])

    def _event(self) -> str:
        return f"ev-{next(self._events):05}"

"""People on Slack, Telegram or Discord: the story's rooms are places of a rig, whose platform is a process of its own."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.chat.cards.card_facts import LABELS
from tests.contract.adapters.rig import Event, OnScreen, Place, Press, Rig, Skill
from tests.faults.program import LOOK
from tests.faults.sides import Button, Seen

CHOICES: Final = {label: choice for choice, label in LABELS.items()}
PRESSES: Final = 20
HEARD_WITHIN: Final = 3.0  # seconds; source: the time that Slack and Discord give an app
ROOMS: Final = 400
"""More than any story needs; a place costs nothing until somebody speaks there."""


class RigSide:
    """A story's room is a place: the first is the first place of the rig, and so on. `stutter` repeats each event."""

    def __init__(self, rig: Rig, *, stutter: bool = True) -> None:
        self.rig = rig
        self._stutter = stutter and Skill.AGAIN not in rig.lacks
        self._free = iter(rig.places(ROOMS))
        self._places: dict[str, Place] = {}

    def place(self, room: str) -> Place:
        if room not in self._places:
            self._places[room] = next(self._free)
        return self._places[room]

    def room_of(self, address: str) -> str:
        """The story's name of the room that our records call `address`."""
        return next((room for room, place in self._places.items() if str(place.address) == address), address)

    async def say(self, room: str, text: str) -> None:
        event = await self.rig.say(self.place(room), text)
        if self._stutter:
            await self.rig.again(event)

    async def click(self, room: str, approval_id: str, choice: str, reason: str = "") -> None:
        """Whoever saw the card once can press its buttons for ever. There is no way to give a reason."""
        place = self.place(room)
        for message in await self.rig.visible(place):
            press = next((one for one in message.first_buttons if button(one) == Button(approval_id, choice)), None)
            if press:
                await self._press(place, message, press.payload)
                return
        raise AssertionError(f"no card in {room} has ever offered {choice} for {approval_id}")

    async def _press(self, place: Place, message: OnScreen, payload: str) -> None:
        """Slack and Discord tell whoever presses when nothing heard it; then people press again."""
        for _ in range(PRESSES):
            event = await self.rig.forge(place, message, payload)
            if self._stutter:
                await self.rig.again(event)
            if await self._heard(event):
                return
        raise AssertionError(f"nobody heard {PRESSES} presses in {place}")

    async def _heard(self, event: Event) -> bool:
        end = asyncio.get_running_loop().time() + HEARD_WITHIN
        while not await self.rig.acknowledged(event):
            if asyncio.get_running_loop().time() > end:
                return False
            await asyncio.sleep(LOOK)
        return True

    async def seen(self, room: str) -> list[Seen]:
        return [seen(message) for message in await self.rig.visible(self.place(room))]

    async def questions(self) -> Mapping[str, Sequence[Seen]]:
        """By room, each message with buttons as it was first shown."""
        found: dict[str, list[Seen]] = defaultdict(list)
        for room, place in self._places.items():
            for message in await self.rig.visible(place):
                if message.first_buttons:
                    buttons = tuple(map(button, message.first_buttons))
                    found[room].append(Seen(message.first, buttons, message.marked))
        return found


def button(press: Press) -> Button:
    return Button(press.payload.partition(":")[0], CHOICES[press.label])


def seen(message: OnScreen) -> Seen:
    return Seen(message.text, tuple(map(button, message.buttons)), message.marked)

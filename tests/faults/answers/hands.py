"""Hands of two people on each channel: they speak, press and fill in forms, and again until it was heard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from bot.node.lock import control_of
from bot.operator.client import connected
from runtime.chat.cards.card_facts import LABELS
from runtime.contract import Choice
from tests.contract.adapters.rig import Event, OnScreen, Place, Rig
from tests.faults.channels.forms import send, until_heard
from tests.faults.channels.rounds import shown
from tests.faults.program import until
from tests.faults.sides import Seen, WebSide, web_side
from tests.faults.stage import Stage

SECOND: Final = "Sam"
"""Whoever presses second, where two have to."""
FIRSTS: Final = "room0001"
SECONDS: Final = "room0002"
"""Rooms of the page."""


class Hands(Protocol):
    async def say(self, text: str, *, second: bool = False) -> None:
        """In the room that they share; on the page the second has a room of their own, which the first may read."""

    async def cards(self, *words: str) -> list[Shown]:
        """Messages that hold all these words now, wherever the first of them looks."""

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        """Press until that was heard. `choice` is one of ours, or the label of an answer."""

    async def forge(
        self, card: Shown, choice: str, *, about: str = "", second: bool = False, elsewhere: bool = False
    ) -> None:
        """Send a press that no button on screen makes: `about` another question, after its end, or from another room."""

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None: ...


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it is on screen; `buttons` by their labels where a platform has those, else by their choices."""

    text: str
    buttons: tuple[str, ...]
    about: str = ""
    message: OnScreen | None = None
    room: str = ""
    place: Place | None = None


@asynccontextmanager
async def hands(on: Stage, *, role: str = "owner", private: bool = False) -> AsyncIterator[Hands]:
    """Owners of the settings would be one person to whom all accounts belong: the second is added, with this role.

    `private`: the first has a private chat, which they look at too, and said nothing in the room of the second.
    """
    control = control_of(on.program.data)
    assert control
    async with connected(control) as client:
        await client.add_person(SECOND, role, [on.rig.stranger] if on.rig else [])
        link = str((await client.link(SECOND))["url"])
    if on.rig:
        rooms = on.rig.rooms()
        assert rooms.shared
        if private:
            await on.rig.say(rooms.direct, "hello")
            await shown(on.rig, rooms.direct, 1)
        yield RigHands(on, on.rig, rooms.shared, rooms.direct, looks=[rooms.shared, *[rooms.direct] * private])
        return
    assert isinstance(on.side, WebSide)
    async with web_side(on.program, stutter=False, token=link.rpartition("/")[2]) as second:
        if private:
            await on.side.say(FIRSTS, "hello")
        yield WebHands(on.side, second, looks=[FIRSTS, *[SECONDS] * private])


@dataclass
class WebHands:
    """On the page everything is repeated until it is answered, with the id that it had."""

    first: WebSide
    second: WebSide
    looks: Sequence[str]

    async def say(self, text: str, *, second: bool = False) -> None:
        await (self.second.say(SECONDS, text) if second else self.first.say(FIRSTS, text))

    async def cards(self, *words: str) -> list[Shown]:
        return [
            self._shown(one, room)
            for room in self.looks
            for one in await self.first.seen(room)
            if all(word in one.text for word in words)
        ]

    def _shown(self, seen: Seen, room: str) -> Shown:
        about = seen.buttons[0].approval_id if seen.buttons else ""
        return Shown(seen.text, tuple(one.choice for one in seen.buttons), about, room=room)

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        await (self.second if second else self.first).click(card.room, card.about, choice)

    async def forge(
        self, card: Shown, choice: str, *, about: str = "", second: bool = False, elsewhere: bool = False
    ) -> None:
        room = SECONDS if elsewhere else card.room
        await (self.second if second else self.first).click(room, about or card.about, choice)

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None:
        await self.first.fill(card.room, card.about, choice, values)


@dataclass
class RigHands:
    """On a platform whoever saw no answer presses again."""

    on: Stage
    rig: Rig
    shared: Place
    alone: Place
    looks: Sequence[Place]

    async def say(self, text: str, *, second: bool = False) -> None:
        await self.rig.say(self.shared, text, user=self.rig.stranger if second else None)

    async def cards(self, *words: str) -> list[Shown]:
        return [
            Shown(one.text, tuple(map(_choice, (press.label for press in one.buttons))), "", one, place=place)
            for place in self.looks
            for one in await self.rig.visible(place)
            if all(word in one.text for word in words)
        ]

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        message, place = card.message, card.place
        assert message
        assert place
        label = next(one.label for one in message.buttons if _choice(one.label) == choice)
        user = self.rig.stranger if second else None

        await until_heard(lambda: self.rig.click(place, message, label, user=user), self._heard, "an answer to a press")

    async def forge(
        self, card: Shown, choice: str, *, about: str = "", second: bool = False, elsewhere: bool = False
    ) -> None:
        message, place = card.message, card.place
        assert message
        assert place
        payload = f"{about or message.first_buttons[0].payload.partition(':')[0]}:{choice}"
        if elsewhere:
            place, message = self.alone, (await self.rig.visible(self.alone))[0]
        user = self.rig.stranger if second else None
        await until_heard(
            lambda: self.rig.forge(place, message, payload, user=user), self._heard, "an answer to a forged press"
        )

    async def _heard(self, event: Event) -> bool | None:
        return await self.rig.acknowledged(event) or None

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None:
        """On a card that lists several calls the form of the first."""
        assert card.message
        assert card.place
        label = LABELS[Choice(choice)]
        of_first = f"{label[:-1]} 1{label[-1]}"
        known = [press.label for press in card.message.buttons]
        await send(self.rig, card.place, card.message, of_first if of_first in known else label, values)


CHOICES: Final = {label: choice.value for choice, label in LABELS.items()}


def _choice(label: str) -> str:
    return CHOICES.get(label, label)


async def one_card(people: Hands, *words: str, button: str) -> Shown:
    """The message with these words, once it has this button."""

    async def look() -> Shown | None:
        return next((one for one in await people.cards(*words) if button in one.buttons), None)

    return await until(look, f"a card with {words} and the button {button}")

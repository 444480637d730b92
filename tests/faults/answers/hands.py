"""Hands of two people on each channel: they speak, press and fill in forms, and again until it was heard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from bot.node.lock import control_of
from bot.operator.client import connected
from runtime.chat.cards.card_facts import LABELS
from runtime.contract import Choice
from tests.contract.adapters.rig import Event, OnScreen, Place, Rig
from tests.faults.channels.forms import send, until_heard
from tests.faults.program import until
from tests.faults.sides import Seen, WebSide, web_side
from tests.faults.stage import Stage

SECOND: Final = "Sam"
"""Whoever presses second, where two have to."""


class Hands(Protocol):
    async def say(self, text: str) -> None: ...

    async def cards(self, *words: str) -> list[Shown]:
        """Messages that hold all these words now."""

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        """Press until that was heard. `choice` is one of ours, or the label of an answer."""

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None: ...


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it is on screen; `buttons` by their labels where a platform has those, else by their choices."""

    text: str
    buttons: tuple[str, ...]
    about: str = ""
    message: OnScreen | None = None


@asynccontextmanager
async def hands(on: Stage) -> AsyncIterator[Hands]:
    """Owners of the settings would be one person to whom all accounts belong: the second is added."""
    control = control_of(on.program.data)
    assert control
    async with connected(control) as client:
        await client.add_person(SECOND, "owner", [on.rig.stranger] if on.rig else [])
        link = str((await client.link(SECOND))["url"])
    if on.rig:
        yield RigHands(on, on.rig)
        return
    assert isinstance(on.side, WebSide)
    async with web_side(on.program, stutter=False, token=link.rpartition("/")[2]) as second:
        yield WebHands(on.side, second)


@dataclass
class WebHands:
    """On the page everything is repeated until it is answered, with the id that it had."""

    first: WebSide
    second: WebSide
    room: str = "room0001"

    async def say(self, text: str) -> None:
        await self.first.say(self.room, text)

    async def cards(self, *words: str) -> list[Shown]:
        found = [one for one in await self.first.seen(self.room) if all(word in one.text for word in words)]
        return [self._shown(one) for one in found]

    def _shown(self, seen: Seen) -> Shown:
        about = seen.buttons[0].approval_id if seen.buttons else ""
        return Shown(seen.text, tuple(one.choice for one in seen.buttons), about)

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        await (self.second if second else self.first).click(self.room, card.about, choice)

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None:
        await self.first.fill(self.room, card.about, choice, values)


@dataclass
class RigHands:
    """On a platform whoever saw no answer presses again."""

    on: Stage
    rig: Rig

    @property
    def place(self) -> Place:
        shared = self.rig.rooms().shared
        assert shared
        return shared

    async def say(self, text: str) -> None:
        await self.rig.say(self.place, text)

    async def cards(self, *words: str) -> list[Shown]:
        return [
            Shown(one.text, tuple(map(_choice, (press.label for press in one.buttons))), "", one)
            for one in await self.rig.visible(self.place)
            if all(word in one.text for word in words)
        ]

    async def press(self, card: Shown, choice: str, *, second: bool = False) -> None:
        message = card.message
        assert message
        label = next(one.label for one in message.buttons if _choice(one.label) == choice)
        user = self.rig.stranger if second else None

        async def heard(event: Event) -> bool | None:
            return await self.rig.acknowledged(event) or None

        await until_heard(lambda: self.rig.click(self.place, message, label, user=user), heard, "an answer to a press")

    async def fill(self, card: Shown, choice: str, values: Mapping[str, str]) -> None:
        """On a card that lists several calls the form of the first."""
        assert card.message
        label = LABELS[Choice(choice)]
        of_first = f"{label[:-1]} 1{label[-1]}"
        known = [press.label for press in card.message.buttons]
        await send(self.rig, self.place, card.message, of_first if of_first in known else label, values)


CHOICES: Final = {label: choice.value for choice, label in LABELS.items()}


def _choice(label: str) -> str:
    return CHOICES.get(label, label)


async def one_card(people: Hands, *words: str, button: str) -> Shown:
    """The message with these words, once it has this button."""

    async def look() -> Shown | None:
        return next((one for one in await people.cards(*words) if button in one.buttons), None)

    return await until(look, f"a card with {words} and the button {button}")

"""Commands in German: the transaction that answers says its words as the room of whoever asks has them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from runtime.contract import Address, Commanded
from runtime.text.words import AT_PLACE, ENGLISH, LANGUAGES, Languages
from tests.contract.store.stage import OTHER_ROOM, ROOM, Stage


def german_room(place: Hashable) -> str:
    return "de" if place == ROOM else ""


async def answered(stage: Stage, name: str, at: Address) -> str:
    AT_PLACE.set(at)  # as the reception does it
    await stage.take_in(replace(stage.signal(Commanded(name), at=at), message_id=f"m-{name}"))
    return (await stage.waiting(at))[-1].delivery.content.text


async def test_commands_are_answered_in_the_language_of_their_room(stage: Stage) -> None:
    LANGUAGES.set(Languages(ENGLISH, german_room))
    assert await answered(stage, "status", ROOM) == "Hier läuft nichts. Ich bin bereit."
    assert await answered(stage, "status", OTHER_ROOM) == "Nothing is running here. I'm ready."
    assert "`/new` · Diese Unterhaltung vergessen und neu beginnen" in await answered(stage, "help", ROOM)
    assert (await answered(stage, "tasks", ROOM)).startswith("Hier gibt es keine Aufgaben. Schreiben Sie `/task`")
    assert (await answered(stage, "usage", ROOM)).splitlines()[2] == (
        "- dieser Raum: heute 0 Tokens hinein, 0 heraus, 0,00 $; diesen Monat 0 Tokens hinein, 0 heraus, 0,00 $"
    )

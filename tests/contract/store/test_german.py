"""Commands in German: the transaction that answers says its words as the room of whoever asks has them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from runtime.contract import Address, Commanded, Role
from runtime.domain.agents.lifecycle import AgentEvent
from runtime.policy.modes import Mode
from runtime.text.words import AT_PLACE, ENGLISH, LANGUAGE, LANGUAGES, Languages
from tests.contract.store.stage import OTHER_ROOM, ROOM, Stage
from tests.contract.store.test_agent_lives import say, turn
from tests.contract.store.test_pairings import SAM, ask, owner, shown


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


async def test_whoever_is_let_in_is_welcomed_in_the_language_of_their_own_room(stage: Stage) -> None:
    """The owner who lets them in reads the console in another one."""
    await ask(stage)
    by = await owner(stage)
    LANGUAGE.set("de")
    assert await stage.store.people.let_in(SAM, "", Role.VIEWER, by, actor="Ada")
    assert "You're in" in (await shown(stage))[-1]


async def test_rooms_hear_in_their_own_language_of_what_somebody_does_at_the_console(stage: Stage) -> None:
    LANGUAGES.set(Languages(ENGLISH, german_room))
    who = await owner(stage)
    for reader, at, told in (("de", OTHER_ROOM, "set the mode in this"), ("en", ROOM, "hat den Modus")):
        LANGUAGE.set(reader)
        await stage.store.approvals.set_mode("main", at, Mode.READ_ONLY, who, "")
        assert told in (await shown(stage, at))[-1]


async def test_the_rooms_of_an_agent_that_ends_hear_of_it_in_their_own_language(stage: Stage) -> None:
    LANGUAGES.set(Languages(ENGLISH, german_room))
    await turn(stage, AgentEvent.SUSPEND)
    await say(stage, "one")
    LANGUAGE.set("en")
    await turn(stage, AgentEvent.TERMINATE)
    assert (await shown(stage, ROOM))[-1].startswith("ops ist beendet")

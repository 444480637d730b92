"""Dialogues for the five abilities of LongMemEval: what a person had remembered in many sessions, and questions about it.

Source: Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025, for the abilities; the
dialogues are ours. Each question is asked in the words of the fact, and once in others that mean the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final


class Ability(StrEnum):
    EXTRACTION = "extraction"
    SESSIONS = "several sessions"
    TIME = "time"
    UPDATE = "update"
    ABSTENTION = "abstention"


class Whose(StrEnum):
    OWN = "own"
    OTHER_PERSON = "another person's"
    OTHER_AGENT = "another agent's"
    OTHER_ROOM = "another room's"


@dataclass(frozen=True, slots=True)
class Told:
    """Something that was remembered `day` days after the first session."""

    day: int
    text: str
    subject: str = ""
    relation: str = ""
    whose: Whose = Whose.OWN


@dataclass(frozen=True, slots=True)
class Question:
    """A question after all sessions, and the texts that answer it; with none of them nothing should be given.

    `since`: only what was told from that day on is asked for. `is_direct`: it is asked in words of the answer.
    """

    ability: Ability
    text: str
    answers: frozenset[str]
    is_direct: bool = True
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    told: Sequence[Told]
    questions: Sequence[Question]


DAYS: Final = 300
CHATTER: Final = 150
"""Notes about other things, as many as a busy person has in these days."""
CITIES: Final = ("Graz", "Lisbon", "Zürich", "Oslo", "Kyoto", "Tallinn", "Porto", "Gdańsk")
NAMES: Final = ("Maria", "Jonas", "Aiko", "Olena", "Pedro", "Frida", "Samuel", "Noor")
FIRMS: Final = ("Contoso", "Initech", "Umbrella", "Globex", "Hooli", "Acme")
THINGS: Final = ("printer", "projector", "kettle", "window", "lamp", "heater", "router", "shelf", "door", "bench")
STATES: Final = ("is broken", "was repaired", "was cleaned", "makes noise", "was replaced", "stands in the hall")
FOODS: Final = ("peanuts", "shrimps", "celery", "almonds", "mustard")
GIFTS: Final = ("bicycle", "guitar", "tent", "camera", "telescope", "violin")


def dialogue(seed: int, chatter: int = CHATTER) -> Dialogue:
    """The dialogue of that number: always the same one, with so many notes about other things."""
    chance = random.Random(seed)
    city, other_city, trip_city = chance.sample(CITIES, 3)
    name, doctor, colleague = chance.sample(NAMES, 3)
    firm, new_firm = chance.sample(FIRMS, 2)
    food = chance.choice(FOODS)
    gift, later_gift = chance.sample(GIFTS, 2)
    day = iter(sorted(chance.sample(range(1, DAYS - 30), 12)))
    sister = Told(next(day), f"My sister {name} lives in {city}.")
    doctor_told = Told(next(day), f"My doctor is called {doctor} and is in the office on Mondays.")
    allergy = Told(next(day), f"I am allergic to {food}.")
    flight = Told(next(day), f"For the holiday in {trip_city} the flight is booked for the morning.")
    bought = Told(next(day), f"I bought a {gift} for my birthday.")
    work = Told(next(day), f"I work for {firm}.", "I", "work for")
    hotel = Told(next(day), f"The hotel of our holiday in {trip_city} has no breakfast.")
    colleague_told = Told(next(day), f"My colleague {colleague} moved to {other_city}.", colleague, "lives in")
    new_work = Told(next(day), f"I work for {new_firm}.", "I", "work for")
    guide = Told(next(day), f"{colleague} lent me a guide for the holiday in {trip_city}.")
    bought_later = Told(next(day), f"I bought a {later_gift} from a neighbour.")
    moved_back = Told(next(day), f"My colleague {colleague} moved to {city}.", colleague, "lives in")
    own = [
        *(sister, doctor_told, allergy, flight, bought, work),
        *(hotel, colleague_told, new_work, guide, bought_later, moved_back),
    ]
    trip = frozenset([flight.text, hotel.text, guide.text])
    return Dialogue(
        sorted([*own, *_chatter(chance, chatter), *_foreign(own)], key=lambda one: one.day),
        [
            *_asked(
                Ability.EXTRACTION, {sister.text}, "Where does my sister live?", "In which town does my sibling reside?"
            ),
            *_asked(Ability.EXTRACTION, {doctor_told.text}, "What is my doctor called?", "Who is my physician?"),
            *_asked(Ability.EXTRACTION, {allergy.text}, "What am I allergic to?", "Am I intolerant of anything?"),
            *_asked(
                Ability.SESSIONS,
                trip,
                f"What is known about the holiday in {trip_city}?",
                f"Sum up my vacation: {trip_city}",
            ),
            *_asked(Ability.TIME, {bought_later.text}, "What have I bought?", "What was purchased?", bought.day + 1),
            *_asked(Ability.UPDATE, {new_work.text}, "Which firm do I work for?", "Who is my employer?"),
            *_asked(
                Ability.UPDATE,
                {moved_back.text},
                f"Where did my colleague {colleague} move?",
                "Where does my coworker reside?",
            ),
            *_asked(
                Ability.ABSTENTION, set(), "What is the name of my goldfish?", "Which instrument did grandfather play?"
            ),
        ],
    )


def _asked(
    ability: Ability, answers: set[str] | frozenset[str], direct: str, otherwise: str, since: int | None = None
) -> Iterator[Question]:
    yield Question(ability, direct, frozenset(answers), True, since)
    yield Question(ability, otherwise, frozenset(answers), False, since)


def _chatter(chance: random.Random, count: int) -> Iterator[Told]:
    """Notes about things of an office, with the same few words."""
    for number in range(count):
        floor, thing = number // len(THINGS), THINGS[number % len(THINGS)]
        yield Told(chance.randrange(DAYS), f"The {thing} on floor {floor} {chance.choice(STATES)}.")


def _foreign(own: Sequence[Told]) -> Iterator[Told]:
    """The same facts of others, which must not be found."""
    for whose in (Whose.OTHER_PERSON, Whose.OTHER_AGENT, Whose.OTHER_ROOM):
        for one in own:
            yield Told(one.day, f"{one.text} ({whose})", whose=whose)


def after(day: int) -> timedelta:
    return timedelta(days=day)

"""Pairing: how an unknown person becomes known by a code. Codes and words; pure but for the chance in a code."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from runtime.contract import Person
from runtime.text.words import marked, say, say_many

ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits of which none looks like another: 31 ** 8 codes."""
LENGTH: Final = 8
LIFE: Final = timedelta(hours=1)
FRESH_CODES_MAX: Final = 3
"""Codes of one account that may be made within `APART`, one for each person: a crowd cannot shut others out for long."""
APART: Final = timedelta(minutes=10)
CARDS: Final = 10
"""Questions about strangers of one account that may be open at once: further strangers have their code alone."""
CARD_LIFE: Final = timedelta(days=1)
"""How long the question whether to let somebody in stays open."""
SILENCE: Final = timedelta(days=1)
"""How long nobody is asked again about somebody who was turned away."""
LONGEST_NAME: Final = 100
"""Characters of what somebody calls themselves."""
WRONG_CODES: Final = 5
"""Wrong codes after which whoever enters them waits."""
LOCKED_FOR: Final = timedelta(hours=1)

UNPAIRED: Final = marked(
    "I don't know you yet. Write to me in a direct message, and I'll ask the people who run me to let you in."
)
CROWDED: Final = marked("Too many new people are asking right now. Please write again in ten minutes.")
TURNED_AWAY: Final = marked("The people who run me decided not to let you in. You can ask again tomorrow.")


def fresh_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def tidy(code: str) -> str:
    """A code as people type it: in small letters, with blanks or dashes."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def invitation(code: str, *, asked: bool) -> str:
    """Words for an unknown person; `asked` tells that those who may let them in have a card about it."""
    if asked:
        return say(
            "I don't know you yet, so I've asked the people who run me to let you in. I'll let you "
            "know here.\n\nIf you know one of them, you can give them this pairing code: **{code}**. "
            "It works for an hour.",
            code=code,
        )
    return say(
        "I don't know you yet. Your pairing code is **{code}**, good for an hour.\n\nGive it to "
        "the owner of this bot. They enter it on the People page of the console, or send me "
        "`!pair {code}` in a direct message.",
        code=code,
    )


def welcome(who: Person) -> str:
    """Words for a person who has become known."""
    return say(
        "You're in: I know you as {name} ({role}). I didn't keep your earlier messages, so please send them again.",
        name=who.name,
        role=say(who.role.word),
    )


def wrong(left: int) -> str:
    """Words for whoever entered a wrong code."""
    return say_many(
        "That code doesn't exist, or has expired. You have one more try.",
        "That code doesn't exist, or has expired. You have {number} more tries.",
        left,
    )


def locked(wait: timedelta) -> str:
    minutes = max(1, round(wait.total_seconds() / 60))
    return say_many(
        "Too many wrong codes. Try again in {number} minute.",
        "Too many wrong codes. Try again in {number} minutes.",
        minutes,
    )

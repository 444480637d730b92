"""Pairing: how an unknown person becomes known by a code. Codes and words; pure but for the chance in a code."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Final

from runtime.contract import Person

ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits of which none looks like another: 31 ** 8 codes."""
LENGTH: Final = 8
LIFE: Final = timedelta(hours=1)
PENDING: Final = 3
"""Codes of one account that may be out at the same time."""
TRIES: Final = 5
"""Wrong codes after which whoever enters them waits."""
LOCKED: Final = timedelta(hours=1)

UNPAIRED: Final = (
    "I do not know you yet. I send whoever writes to me alone a code; once the owner enters it you may ask."
)


def fresh_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def tidy(code: str) -> str:
    """A code as people type it: in small letters, with blanks or dashes."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def invitation(code: str) -> str:
    """What an unknown person is sent."""
    return (
        f"I do not know you yet. Your pairing code is **{code}**.\n\n"
        "Give it to the owner of this bot, who enters it within an hour: `signalbox people pair "
        f"{code}`, the page of people in the console, or `/pair {code}` in a direct chat with me."
    )


def welcome(who: Person) -> str:
    """What they are told once they are known."""
    return f"You are paired: I know you as {who.name} ({who.role.word}). Ask me now; what you wrote before is not kept."


def wrong(left: int) -> str:
    """What whoever entered a wrong code reads."""
    tries = "one more try" if left == 1 else f"{left} more tries"
    return f"No pairing code is like this, or its hour is over. There {'is' if left == 1 else 'are'} {tries}."


def locked(wait: timedelta) -> str:
    minutes = max(1, round(wait.total_seconds() / 60))
    return f"Too many wrong codes: entering is locked for {minutes} more minute{'' if minutes == 1 else 's'}."

"""Personal data: addresses, numbers of telephones, accounts, cards and social security. Pure; off unless a room wants it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from runtime.guard.findings import Detector, Found

EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?![\w-])")
IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
CARD: Final = re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")
SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
PHONE: Final = re.compile(r"(?<![\w+])\+\d[\d ()./-]{6,20}\d(?!\w)")
"""Without `phonenumbers` those that begin with the code of a country."""

LEAST_IBAN: Final = 15
MOST_IBAN: Final = 34
PHONE_NAME: Final = "phone number"


def personal_in(text: str) -> Iterator[Found]:
    for name, (pattern, holds) in PERSONAL_KINDS.items():
        for match in pattern.finditer(text):
            if holds(match[0]):
                yield Found(Detector.PERSONAL, name, *match.span())
    if any(letter.isdigit() for letter in text):
        yield from _phones(text)


def _phones(text: str) -> Iterator[Found]:
    library = _phonenumbers()
    if library is None:
        for match in PHONE.finditer(text):
            yield Found(Detector.PERSONAL, PHONE_NAME, *match.span())
        return
    for match in library.PhoneNumberMatcher(text, None):
        yield Found(Detector.PERSONAL, PHONE_NAME, match.start, match.end)


@cache
def _phonenumbers() -> Any:
    """The library of the extra `guard`, or None without it."""
    try:
        import phonenumbers
    except ImportError:
        return None
    return phonenumbers


def is_iban(text: str) -> bool:
    """ISO 13616: the check digits make the number 1 modulo 97.

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    packed = text.replace(" ", "")
    if not LEAST_IBAN <= len(packed) <= MOST_IBAN:
        return False
    return int("".join(str(int(letter, 36)) for letter in packed[4:] + packed[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """ISO 7812: Luhn's sum is a multiple of 10.

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112"), is_card("0000 0000 0000 0000")
    (True, False, False)
    """
    digits = [int(letter) for letter in text if letter.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _any(_: str) -> bool:
    return True


Kind = tuple[re.Pattern[str], Callable[[str], bool]]
PERSONAL_KINDS: Final[Mapping[str, Kind]] = {
    "e-mail address": (EMAIL, _any),
    "account number": (IBAN, is_iban),
    "card number": (CARD, is_card),
    "social security number": (SSN, _any),
}

"""Personal data: addresses, numbers of telephones, accounts, cards and social security. Pure; off unless a room wants it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from string import ascii_uppercase
from typing import Any, Final

from runtime.guard.findings import Detector, Found

EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?![\w-])")
IBAN: Final = re.compile(r"(?<![A-Za-z0-9])(?=([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}))")
"""As far as it may reach, with words of capital letters behind it. A look ahead: the next may begin within it."""
CARD: Final = re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")
GROUPED_CARD: Final = re.compile(
    r"(?<!\d)(?=([2-6]\d{3}([ -]?)\d{4}\2\d{4}\2\d{4}(?!\d)|3\d{3}([ -]?)\d{6}\3\d{5}(?!\d)))"
)
"""In the groups that are printed on it, whatever numbers stand beside it."""
SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
PHONE: Final = re.compile(r"(?<![\w+])\+\d[\d ()./-]{6,20}\d(?!\w)")
"""Without `phonenumbers` those that begin with the code of a country."""

CARD_NAME: Final = "card number"
IBAN_DIGITS: Final = str.maketrans({letter: str(int(letter, 36)) for letter in ascii_uppercase})
LEAST_IBAN: Final = 15
MOST_IBAN: Final = 34
PHONE_NAME: Final = "phone number"


def personal_in(text: str) -> Iterator[Found]:
    for name, (pattern, holds) in PERSONAL_KINDS.items():
        for match in pattern.finditer(text):
            if holds(match[0]):
                yield Found(Detector.PERSONAL, name, *match.span())
    for match in GROUPED_CARD.finditer(text):
        if is_card(match[1]):
            yield Found(Detector.PERSONAL, CARD_NAME, *match.span(1))
    yield from _accounts(text)
    if any(letter.isdigit() for letter in text):
        yield from _phones(text)


def _accounts(text: str) -> Iterator[Found]:
    for match in IBAN.finditer(text):
        start, end = match.span(1)
        holds = (at for at in _word_ends(text, start + LEAST_IBAN, end) if is_iban(text[start:at]))
        if longest := next(holds, None):
            yield Found(Detector.PERSONAL, "account number", start, longest)


def _word_ends(text: str, least: int, most: int) -> Iterator[int]:
    """Places where a word ends, the last first."""
    for at in range(most, least - 1, -1):
        if text[at - 1] != " " and not (text[at : at + 1].isascii() and text[at : at + 1].isalnum()):
            yield at


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
    return int((packed[4:] + packed[:4]).translate(IBAN_DIGITS)) % 97 == 1


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
    CARD_NAME: (CARD, is_card),
    "social security number": (SSN, _any),
}

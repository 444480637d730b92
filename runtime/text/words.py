"""Words for people in their language: English stands in the sources, all others in catalogues (gettext).

`say` is called where a text is made, for whoever reads it there: in a request of the page that is its reader, set by
`LANGUAGE`; elsewhere the room that the words are for, set by `AT_PLACE` or `said_at`, whose language `LANGUAGES` knows. In
English nothing is looked up, and no catalogue is loaded before somebody reads its language. What models read, what
operators find in logs and on the command line, and the labels of buttons that decide are never said by this.

`python -m tests.catalogue` finds what is said, and writes the catalogues.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Protocol

from runtime.text.naming import LISTED_MAX

if TYPE_CHECKING:
    from gettext import GNUTranslations

ENGLISH: Final = "en"
LANGUAGE_NAMES: Final = {ENGLISH: "English", "de": "Deutsch"}
"""Each language that there is a catalogue for, in its own words; the one of the sources first."""
CHOICES_KEPT: Final = 128
"""What browsers ask for: most ask for the same."""
READERS_MAX: Final = 10_000
"""Places whose readers' language is kept in mind."""


def by_no_rule(_place: Hashable) -> str:
    """Answer of settings that say nothing of any room."""
    return ""


class Languages:
    """The language of each place: as the settings have it, else as its reader's browser asked for, else the usual one.

    `of_room` is the settings' own word on a room, empty where they have none.
    """

    def __init__(self, usual: str = ENGLISH, of_room: Callable[[Hashable], str] = by_no_rule) -> None:
        self._heard: dict[Hashable, str] = {}
        self.take(usual, of_room)

    def take(self, usual: str, of_room: Callable[[Hashable], str] = by_no_rule) -> None:
        """From now on these."""
        self._usual, self._of_room = usual, of_room
        self.are_english = usual == ENGLISH and of_room is by_no_rule and not self._heard

    def hear(self, place: Hashable, language: str) -> None:
        """Somebody who reads there alone reads in `language`."""
        if self._heard.get(place, self._usual) == language:
            return
        self._heard[place], self.are_english = language, False
        if len(self._heard) > READERS_MAX:
            del self._heard[next(iter(self._heard))]

    @property
    def usual(self) -> str:
        return self._usual

    def of(self, place: Hashable) -> str:
        return self._of_room(place) or self._heard.get(place) or self._usual


ALL_ENGLISH: Final = Languages()
LANGUAGES: Final[ContextVar[Languages]] = ContextVar("languages", default=ALL_ENGLISH)
"""The process sets it once, before its tasks begin."""
LANGUAGE: Final[ContextVar[str]] = ContextVar("language", default="")
"""The reader's, within a request of the page or the console; empty: that of the place."""
AT_PLACE: Final[ContextVar[Hashable]] = ContextVar("place", default=None)
"""The room that words are for."""


def language() -> str:
    """The language of what is said now."""
    if now := LANGUAGE.get():
        return now
    known = LANGUAGES.get()
    return ENGLISH if known.are_english else known.of(AT_PLACE.get())


def say(text: str, /, **values: object) -> str:
    """`text` in the language of now, with `values` in the places that it names. `text` is English, and whole.

    >>> say("{who} chose {agent} here.", who="Ann", agent="ops")
    'Ann chose ops here.'
    """
    if (LANGUAGE.get() or not LANGUAGES.get().are_english) and text and (now := language()) != ENGLISH:
        text = catalogue(now).gettext(text)  # of no text it would tell about itself
    return text.format_map(values) if values else text


def say_many(one: str, many: str, number: int, /, **values: object) -> str:
    """`one` or `many`, as the language of now has it for `number`, which stands for itself in it.

    >>> say_many("{number} step", "{number} steps", 1200)
    '1,200 steps'
    """
    now = language()
    text = (one if number == 1 else many) if now == ENGLISH else catalogue(now).ngettext(one, many, number)
    return text.format_map({"number": count(number), **values})


class Say(Protocol):
    """`say`, or what stands in for it where somebody else reads."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def plainly(text: str, /, **values: object) -> str:
    """In English, whoever reads it: for models, logs and the command line."""
    return text.format_map(values) if values else text


def say_to_reader(text: str, /, **values: object) -> str:
    """In the language of the page's reader; in English for a program that asks the same."""
    return say(text, **values) if LANGUAGE.get() else plainly(text, **values)


def marked(text: str) -> str:
    """`text` as it is: it is said where it is used, as `say(NAME)`."""
    return text


@contextmanager
def said_at(place: Hashable) -> Iterator[None]:
    """Words within are for people in `place`, whoever asks."""
    before, there = LANGUAGE.set(""), AT_PLACE.set(place)
    try:
        yield
    finally:
        AT_PLACE.reset(there)
        LANGUAGE.reset(before)


def heard_at(place: Hashable) -> None:
    """Note that `place` is read by the one who asks now, alone."""
    if now := LANGUAGE.get():
        LANGUAGES.get().hear(place, now)


def heard_in(place: Hashable, tag: str) -> str:
    """Note that `place` is read by somebody alone whose app has the language `tag`; the one of ours that it is, or empty."""
    if now := chosen("", tag):
        LANGUAGES.get().hear(place, now)
    return now


@contextmanager
def said_in(chosen_language: str) -> Iterator[None]:
    """Words within are for a reader of that language; empty: of the usual one."""
    before = LANGUAGE.set(chosen_language)
    try:
        yield
    finally:
        LANGUAGE.reset(before)


def count(number: int) -> str:
    """A number in the language of now.

    >>> count(1_234_567)
    '1,234,567'
    """
    told = f"{number:,}"
    return told if language() == ENGLISH else told.replace(",", ".")


def decimal(told: str) -> str:
    """A number that is written already, such as "1,234.5", in the language of now."""
    return told if language() == ENGLISH else told.translate(SWAPPED)


SWAPPED: Final = str.maketrans(",.", ".,")
ISO_MINUTES: Final = "%Y-%m-%d %H:%M"
INSTANT_FORMS: Final = {"de": "%d.%m.%Y, %H:%M"}
"""How an instant is written, where it is not as in ISO 8601."""


SCHEME: Final = "time:"
"""Begins the address of a link that stands for an instant."""
TIME_UNITS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"))


def moment(at: datetime, clocks: tzinfo = UTC) -> str:
    """`at` as Markdown, as `moments.moment` writes it; its words are for whoever has no clock of their own."""
    is_english = not LANGUAGE.get() and LANGUAGES.get().are_english
    form = ISO_MINUTES if is_english else INSTANT_FORMS.get(language(), ISO_MINUTES)
    words = f"{at.astimezone(clocks).strftime(form)} {'UTC' if clocks is UTC else f'({clocks})'}"
    return f"[{words}]({SCHEME}{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ})"


def roughly(length: timedelta) -> str:
    """A duration as one says it behind "in" and before "ago": its largest unit, rounded down."""
    seconds = max(0, int(length.total_seconds()))
    for size, word in TIME_UNITS:
        if seconds >= 2 * size or seconds == size:
            return several(seconds // size, word)
    return several(seconds, "second")


def briefly(length: timedelta) -> str:
    """A duration beside an instant: `12 h`, `30 min`, `3 days`."""
    minutes = max(1, round(length.total_seconds() / 60))
    if minutes < 120:
        return f"{minutes}\u00a0min"  # a number and its unit stay in one line
    return f"{round(minutes / 60)}\u00a0h" if minutes < 2 * 1440 else several(round(minutes / 1440), "day")


def ago(length: timedelta) -> str:
    """A past time in words, from the `length` since then: "just now", "5 minutes ago"."""
    return say("just now") if length < timedelta(seconds=10) else say("{time} ago", time=roughly(length))


def several(number: int, noun: str) -> str:
    """A number of things: `1 minute`, `2 minutes`. `noun` is English, and takes an s."""
    if (now := language()) == ENGLISH:
        return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
    told = catalogue(now).ngettext(f"{{number}} {noun}", f"{{number}} {noun}s", number)
    return told.format_map({"number": count(number)})


def listed(names: Sequence[str]) -> str:
    """`Ann`, `Ann and Bob`, `Ann, Bob and Cy`; of many the first ones."""
    if len(names) > LISTED_MAX:
        first, more = ", ".join(names[: LISTED_MAX - 1]), len(names) - LISTED_MAX + 1
        return say_many("{names} and {number} other", "{names} and {number} others", more, names=first)
    first = ", ".join(names[:-1])
    return say("{names} and {last}", names=first, last=names[-1]) if first else "".join(names[-1:])


@lru_cache(CHOICES_KEPT)
def chosen(wanted: str, accepted: str = "") -> str:
    """The language of a reader: the one they chose, else the first that their browser accepts and we have.

    >>> chosen("", "fr-CH, de-AT;q=0.9, en;q=0.8"), chosen("en", "de"), chosen("xx", "fr")
    ('de', 'en', '')
    """
    if wanted in LANGUAGE_NAMES:
        return wanted
    ranked = sorted(map(_ranked, accepted[:1000].split(",")), key=lambda one: -one[1])
    return next((name for name, worth in ranked if worth > 0 and name in LANGUAGE_NAMES), "")


def _ranked(part: str) -> tuple[str, float]:
    tag, _, quality = part.partition(";")
    try:
        worth = float(quality.strip().removeprefix("q=") or 1)
    except ValueError:
        worth = 0.0
    return tag.strip().lower().partition("-")[0], worth


@lru_cache(len(LANGUAGE_NAMES))
def catalogue(name: str) -> GNUTranslations:
    """The catalogue of a language, which is loaded by its first reader."""
    from gettext import GNUTranslations

    with files(__package__).joinpath("locale", name, "LC_MESSAGES", "signalbox.mo").open("rb") as compiled:
        return GNUTranslations(compiled)


def others() -> Sequence[str]:
    """Languages beside that of the sources."""
    return [name for name in LANGUAGE_NAMES if name != ENGLISH]

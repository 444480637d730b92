"""`[[event_sinks]]`, which are told what happens, and `[feedback]`."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from bot.settings.hooks import HeaderName
from bot.settings.sources import Layers
from runtime.domain.events.words import EVENT_WORDS
from runtime.settings.accounts import AccountName
from runtime.settings.types import IdentityName, Proof, Section, Text

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

USUAL_SIGNATURE_HEADER: Final = "X-Signalbox-Signature"


def _url(url: str) -> str:
    if url:
        from runtime.egress.places import Place  # not loaded where there are no sinks

        try:
            Place.parse(url)
        except Exception as error:
            raise ValueError(f'an address such as "https://siem.example.org/in": {error}') from error
    return url


def _event_glob(glob: str) -> str:
    if not any(fnmatchcase(one.word, glob) for one in EVENT_WORDS.values()):
        raise ValueError('the word of an event or a glob that fits some, such as "approval.*": see docs/events.md')
    return glob


class EventSinkTable(Section):
    """A place that is told what happens, in order and at least once. See [events.md](events.md#sinks)."""

    name: AccountName = Field(description="Its name, by which its place is kept: lowercase letters, digits and dashes.")
    url: Annotated[str, AfterValidator(_url)] = Field(
        default="",
        description="Address to which events are posted as JSON. A private or local one needs `egress.allow`.",
    )
    file: str = Field(
        default="",
        description="File to which events are appended, a line of JSON each; relative to the data folder. Instead of `url`.",
    )
    events: tuple[Annotated[Text, AfterValidator(_event_glob)], ...] = Field(
        default=("*",), description='Words of the events it wants, or globs such as "approval.*".'
    )
    secret: Proof = Field(
        default=None,
        description="Secret with which each request and its time are signed (HMAC-SHA256): at least 16 characters. Empty: unsigned.",
    )
    secret_env: str = Field(default="", description="Name of the variable or sealed secret that holds `secret`.")
    header: HeaderName = Field(default=USUAL_SIGNATURE_HEADER, description="Header with the signature.")


class FeedbackSection(Section):
    """Ratings of the agent's messages. See [feedback.md](feedback.md)."""

    readers: tuple[IdentityName, ...] = Field(
        default=(),
        description='Identities of the people who read it, such as "slack:work/U1". Empty: operators and owners.',
    )


def faults_together(layers: Layers) -> Iterator[Fault]:
    """Sinks without a place, or with two."""
    for place, table in layers.tables("event_sinks"):
        if bool(table.get("url")) == bool(table.get("file")):
            yield f"{place}.url", "is needed, or `file`, and not both"

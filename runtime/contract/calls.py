"""Parts of a call on its card: a tool names its arguments, and we draw each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runtime.contract.people import Identity, Json


@dataclass(frozen=True, slots=True)
class CardNote:
    """Words of the tool's own, such as `no network`. Notes stand together on one line."""

    text: str


@dataclass(frozen=True, slots=True)
class CardValue:
    """An argument on a line with its name; `also` stands beside the value, such as the name of a room."""

    argument: str
    also: str = ""


@dataclass(frozen=True, slots=True)
class CardText:
    """An argument as a text in a block. Of one with more than `lines` lines the first ones are shown, and its end."""

    argument: str
    lines: int | None = None


@dataclass(frozen=True, slots=True)
class CardChange:
    """An argument that takes the place of the text `before`: a block shows what differs."""

    argument: str
    before: str


CardPart = CardNote | CardValue | CardText | CardChange


@dataclass(frozen=True, slots=True)
class CardContext:
    """Surroundings of a call that is asked about. `workspace` is the folder of the room's files."""

    workspace: Path


Card = Callable[[Mapping[str, Json], CardContext], Sequence[CardPart]]
"""Says how a call is shown, in a thread: it may look at files. An argument that no part names is added as it is."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The call on a card that is one message everywhere, for a channel whose message cannot hold all of it.

    `sha256` begins the one that is frozen. `text` is all of the call, where the card itself leaves something out.
    """

    sha256: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody whom the platform is to call: by `identity`, and by `name` where people read it."""

    identity: Identity
    name: str

"""Card of a peer: who it claims to be, what it can do, and where it is asked. Pure.

Source: A2A specification 1.0.1, sections 4.4 and 8, and 0.3.0, section 5, read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from runtime.text.outside import stripped

CARD_PLACE: Final = "/.well-known/agent-card.json"
PEER_VERSIONS: Final = ("1.0", "0.3")
SKILLS_MAX: Final = 30
SKILL_MAX_CHARS: Final = 300
NO_CARD: Final = "The peer {name} has no card that can be read: {why}"
OTHER_NAME: Final = (
    "The peer {name} calls itself {claims!r} in its card, so it wasn't asked. If that's who is meant, an owner adds "
    'card_name = "{claims}" to [[a2a]] name = "{name}".'
)
OTHER_PLACE: Final = "The card of the peer {name} wants requests at another place than its own, {host}. They and the token don't go there."
NO_VERSION: Final = "The peer {name} speaks no version of A2A that is spoken here: 1.0 or 0.3, as JSON-RPC."


@dataclass(frozen=True, slots=True)
class PeerTerms:
    """A peer as the settings have it. `card_name` is the name that its card must have; empty: `name`."""

    name: str
    url: str
    token: str = field(default="", repr=False)
    card_name: str = ""
    timeout: timedelta = timedelta(minutes=5)

    @property
    def card_url(self) -> str:
        return urljoin(self.url, CARD_PLACE)


@dataclass(frozen=True, slots=True)
class PeerCard:
    """A card that was checked. `skills` are lines for a model: words of others."""

    url: str
    version: str
    skills: Sequence[str]


class NotThatPeer(ToolFailed):
    """The card is none, or another's."""


def card_of(terms: PeerTerms, given: object) -> PeerCard:
    """Errors: NotThatPeer, in words."""
    if not isinstance(given, Mapping) or not isinstance(claims := given.get("name"), str):
        raise NotThatPeer(NO_CARD.format(name=terms.name, why="it is no card of A2A."))
    if _bare(claims) != _bare(terms.card_name or terms.name):
        shown = clip(stripped(claims).text.replace('"', "'"), 60)
        raise NotThatPeer(OTHER_NAME.format(name=terms.name, claims=shown))
    places = list(_places(given))
    for version in PEER_VERSIONS:
        for spoken, url in places:
            if spoken == version or spoken.startswith(f"{version}."):
                return PeerCard(_own(terms, url), version, list(_skills(given))[:SKILLS_MAX])
    raise NotThatPeer(NO_VERSION.format(name=terms.name))


def _bare(name: str) -> str:
    """A name as far as it counts: letters and digits, whatever their case."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _places(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Versions with their addresses, for JSON-RPC."""
    listed = given.get("supportedInterfaces")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping) and one.get("protocolBinding") == "JSONRPC":
            yield str(one.get("protocolVersion")), str(one.get("url"))
    if given.get("url") and given.get("preferredTransport", "JSONRPC") == "JSONRPC":
        yield str(given.get("protocolVersion")), str(given["url"])


def _own(terms: PeerTerms, url: str) -> str:
    try:
        whole = urljoin(terms.url, url)
        theirs = urlsplit(whole)
    except ValueError as error:
        raise NotThatPeer(NO_CARD.format(name=terms.name, why="its address is none.")) from error
    ours = urlsplit(terms.url)
    if (ours.scheme, ours.netloc) != (theirs.scheme, theirs.netloc):
        raise NotThatPeer(OTHER_PLACE.format(name=terms.name, host=clip(theirs.netloc, 100)))
    return whole


def _skills(given: Mapping[str, Any]) -> Iterator[str]:
    listed = given.get("skills")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping):
            words = f"{one.get('name')}: {one.get('description')}"
            yield clip(" ".join(stripped(words).text.split()), SKILL_MAX_CHARS)

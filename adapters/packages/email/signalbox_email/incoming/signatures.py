"""Reach of a mail's signatures.

A server that says "dkim=pass" doesn't say of what: a signature names the headers that it covers (`h=`), and may end before
the text does (`l=`). Whoever got a signed mail can send it on with all else changed, and it passes again (RFC 6376, 8.2, 8.6
and 8.15). So what a signature leaves out is nobody's word.

Which of several signatures passed isn't always told. So each one that may be of the sender's domain must cover a thing:
whoever adds a signature makes that less, never more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.message import Message
from typing import Final

from signalbox_email.ids import digest

BLANKS: Final = re.compile(r"\s+")
PREAMBLE: Final = re.compile(r"This is an? [a-z /-]{1,60} in MIME format\.", re.IGNORECASE)
"""Stands before the first part of a mail, for programs that know of no parts."""
HAS_NO_SIGNATURE: Final = "its signature isn't there any more, so nothing tells what it covers"
ENDS_EARLY: Final = "its signature covers a part of its text only (l=)"
UNDATED: Final = "its signature covers neither its Date nor its Message-ID, so it could be sent again and again"
PARTED_ANEW: Final = (
    "its signature doesn't cover where its parts begin (Content-Type), and something stands before the first"
)


@dataclass(frozen=True, slots=True)
class Cover:
    """The headers that are surely the sender's own; None: all, of a mail without a signature that came from a server of theirs."""

    headers: frozenset[str] | None

    def holds(self, head: Message, name: str) -> bool:
        """True if that header is the sender's own. One of several may be added: a signature covers the lowest, readers take the first."""
        return len(head.get_all(name) or ()) <= 1 and (self.headers is None or name.lower() in self.headers)


def cover_of(head: Message, domain: str, *, signed: bool) -> Cover | str:
    """Find what is covered of a mail whose sender's domain was vouched for; or why it can't count as theirs.

    `signed`: the server says that a signature of the domain is right, so there must be one.
    """
    own = [tags for value in head.get_all("DKIM-Signature") or () if _may_be_of(domain, tags := _tags(str(value)))]
    if not own:
        return HAS_NO_SIGNATURE if signed else Cover(None)
    if any("l" in tags for tags in own):
        return ENDS_EARLY
    cover = Cover(frozenset.intersection(*(frozenset(tags.get("h", "").lower().split(":")) for tags in own)))
    if not (cover.holds(head, "Date") or cover.holds(head, "Message-ID")):
        return UNDATED
    preamble = getattr(head, "preamble", None) or ""
    if not cover.holds(head, "Content-Type") and preamble.strip() and not PREAMBLE.fullmatch(preamble.strip()):
        return PARTED_ANEW
    return cover


def key_of(head: Message, key: str, content: str, cover: Cover) -> str:
    """Tell a mail by what nobody but its sender could change. `key` is its Message-ID or what stands for it, `content` a digest of its text."""
    return key if cover.holds(head, "Message-ID") else digest(BLANKS.sub("", str(head.get("Date"))), content)


def _tags(signature: str) -> dict[str, str]:
    """Its tags without blanks, which a signature may not cover."""
    pieces = BLANKS.sub("", signature).split(";")
    return {name: value for name, _, value in (one.partition("=") for one in pieces)}


def _may_be_of(domain: str, tags: dict[str, str]) -> bool:
    """True for a domain of the same organisation, and perhaps for others: nobody loses by that but the mail."""
    return akin(domain, tags.get("d", ""))


def akin(one: str, other: str) -> bool:
    return one.lower().rstrip(".").split(".")[-2:] == other.lower().rstrip(".").split(".")[-2:]

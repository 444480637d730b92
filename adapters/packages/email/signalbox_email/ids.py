"""Ids of mails and threads, and addresses of rooms.

A mail of ours carries the id of its part in its Message-ID, so a look into the mailbox tells whether it was sent:

    <signalbox.<part's id>@<our domain>>                   any mail
    <signalbox.<part's id>.<approval's id>@<our domain>>   a question, so that an answer to it tells which one it means

A room is the people of a conversation: their addresses, sorted, with commas between. A thread is a digest of the
Message-ID with which it began, since that may be longer than an address of ours, and holds what it likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final
from urllib.parse import quote, unquote

from signalbox.channels import Address, ApprovalId, Rejected

EMAIL: Final = "email"
OURS: Final = "signalbox"
MESSAGE_ID: Final = re.compile(r"<[!-;=?-~]{1,480}>")
MAIL_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}")
PART: Final = r"(?P<part>[A-Za-z0-9_-]{1,40}\.\d{1,4})"
OUR_ID: Final = re.compile(rf"<{OURS}\.{PART}(?:\.(?P<approval>[A-Za-z0-9_~-]{{1,64}}))?@(?P<domain>[^>@]+)>")
ROOM_MOST_PEOPLE: Final = 20
"""A mail to more people is answered to its sender alone: nobody means to have a crowd in the conversation."""


def message_id(part: str, approval: str, domain: str) -> str:
    """The Message-ID of a part's mail: the same for each attempt."""
    return f"<{OURS}.{part}{f'.{approval}' if approval else ''}@{domain}>"


def is_our_id(text: str, domain: str) -> bool:
    found = OUR_ID.fullmatch(text)
    return found is not None and found["domain"].lower() == domain


def approval_in(text: str, domain: str) -> ApprovalId | None:
    """The question that a mail of ours asked, by its Message-ID."""
    found = OUR_ID.fullmatch(text)
    if found is None or found["domain"].lower() != domain or not found["approval"]:
        return None
    return ApprovalId(found["approval"])


def ids_in(header: str) -> list[str]:
    """The Message-IDs of a header, in their order; what is none is left out."""
    return MESSAGE_ID.findall(header)


def digest(*pieces: str | bytes) -> str:
    made = sha256()
    for piece in pieces:
        raw = piece.encode("utf-8", "surrogateescape") if isinstance(piece, str) else piece
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()[:32]


def thread_of(root: str) -> str:
    return digest(root)[:20]


def is_mail_address(text: str) -> bool:
    return MAIL_ADDRESS.fullmatch(text) is not None


def room_of(people: Iterable[str]) -> str:
    return ",".join(quote(one, safe="@+.!#$&'*=?^_`{|}~-") for one in sorted({one.lower() for one in people}))


def people_in(address: Address) -> list[str]:
    """The people who get what is said in a room. Errors: Rejected for a room that is no list of addresses."""
    people = [unquote(one) for one in address.room.split(",")]
    if wrong := [one for one in people if not is_mail_address(one)]:
        raise Rejected(f'"{wrong[0]}" isn\'t an e-mail address. Write email:ACCOUNT/ada@example.org.')
    return people

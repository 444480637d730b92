"""Mail that programs send, and the mail that comes back: what is answered would be answered again, for ever."""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import Message
from typing import Final

from signalbox_email.ids import OUR_ID
from signalbox_email.incoming.parse import Mail, header, parts_of

NO_PEOPLE: Final = re.compile(
    r"(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+-].*)?@.*", re.IGNORECASE
)
LIST_HEADERS: Final = ("List-Id", "List-Unsubscribe", "List-Post")
AUTOMATIC_HEADERS: Final = ("X-Autoreply", "X-Autorespond", "X-Autoresponder")
AN_HOUR: Final = timedelta(hours=1)
THREADS_MOST: Final = 10_000
"""Whose mails are counted; those that were quiet the longest are forgotten first."""


@dataclass(frozen=True, slots=True)
class Bounce:
    """A mail of ours that came back: the part that it was, whom it didn't reach, and why."""

    part: str
    recipient: str
    is_final: bool
    reason: str


def by_program(mail: Mail) -> str:
    """The reason for which nobody may answer this mail, as a sentence; empty for a person's."""
    head = mail.head
    auto = header(head, "Auto-Submitted").partition(";")[0].strip().lower()
    if auto and auto != "no":
        return f"it is marked as sent by a program (Auto-Submitted: {auto[:40]})"
    if header(head, "Precedence").lower() in ("bulk", "junk", "list", "auto_reply"):
        return f"it is bulk mail (Precedence: {header(head, 'Precedence')[:20]})"
    if named := next((name for name in LIST_HEADERS if head.get(name)), ""):
        return f"it came through a list ({named})"
    if named := next((name for name in AUTOMATIC_HEADERS if head.get(name)), ""):
        return f"it is an automatic answer ({named})"
    if header(head, "Return-Path").replace(" ", "") == "<>":
        return "its return path is empty, as that of bounces is"
    if NO_PEOPLE.fullmatch(mail.sender[1]):
        return f"{mail.sender[1]} reads no answers"
    return ""


def bounce_of(mail: Mail, domain: str) -> Bounce | None:
    """A delivery status notification (RFC 3464) about a mail of ours; None for any other mail."""
    if mail.head.get_content_type() != "multipart/report":
        return None
    status: list[Message] = []
    part = ""
    for _, one in parts_of(mail.head):
        inner = one.get_payload()
        if one.get_content_type() == "message/delivery-status" and isinstance(inner, list):
            status = [each for each in inner if isinstance(each, Message)]
        elif one.get_content_type() in ("message/rfc822", "message/rfc822-headers", "text/rfc822-headers"):
            found = OUR_ID.search(_raw(one))
            part = found["part"] if found and found["domain"].lower() == domain else ""
    told = next((one for one in status if header(one, "Final-Recipient") or header(one, "Original-Recipient")), None)
    if not part or told is None or header(told, "Action").lower() not in ("failed", "delayed"):
        return None
    recipient = (header(told, "Final-Recipient") or header(told, "Original-Recipient")).rpartition(";")[2].strip()
    why = header(told, "Diagnostic-Code").partition(";")[2].strip() or header(told, "Status") or "no reason is given"
    return Bounce(part, recipient[:254], header(told, "Action").lower() == "failed", why[:300])


def _raw(part: Message) -> str:
    """The headers of the mail that came back."""
    inner: object = part.get_payload()
    if isinstance(inner, list):
        return "\n".join(header(each, "Message-ID") for each in inner if isinstance(each, Message))
    found = re.search(r"^Message-ID:\s*(.*)$", str(inner), re.IGNORECASE | re.MULTILINE)
    return found[1] if found else ""


class Pace:
    """Counts the mails of each thread that are taken in within an hour."""

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._threads: OrderedDict[Sequence[str], deque[datetime]] = OrderedDict()

    def allows(self, key: Sequence[str], now: datetime) -> bool:
        """False if there were too many of late."""
        times = self._threads.get(key, deque())
        while times and now - times[0] >= AN_HOUR:
            times.popleft()
        return len(times) < self._per_hour

    def note(self, key: Sequence[str], now: datetime) -> None:
        """Count one that was taken in."""
        self._threads.setdefault(key, deque()).append(now)
        self._threads.move_to_end(key)
        while len(self._threads) > THREADS_MOST:
            self._threads.popitem(last=False)

"""A rendered body as the mail that goes over the wire: headers, both forms of the text, and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email import policy
from email.headerregistry import Address as Mailbox
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final

from signalbox_email.outgoing.render import Body, html_of, text_of
from signalbox_email.settings import EmailSettings

REFERENCES_MOST: Final = 20
"""Ids of a thread that a mail names: the first, which it began with, and the newest. Source: RFC 5537, 3.4.4."""
WIRE: Final = policy.SMTP.clone(max_line_length=900)
"""Far above an id: of one that is longer than a line Python would make an encoded word, which nobody finds again."""


@dataclass(frozen=True, slots=True)
class Parent:
    """The mail that one answers: its id, those before it, and its subject."""

    message_id: str
    references: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """Everything of a mail but its content. `parent` None: it begins a thread."""

    message_id: str
    to: tuple[str, ...]
    at: datetime
    parent: Parent | None = None
    repeated: bool = False


def mail_bytes(body: Body, letter: Letter, settings: EmailSettings, read: Callable[[str], bytes]) -> bytes:
    """The mail. `read` gives the bytes of a file in the workspace; its errors pass through."""
    mail = EmailMessage(policy=WIRE)
    local, _, domain = settings.address.rpartition("@")
    mail["From"] = Mailbox(settings.sender_name, local, domain)
    mail["To"] = ", ".join(letter.to)
    mail["Date"] = format_datetime(letter.at)
    mail["Message-ID"] = letter.message_id
    mail["Subject"] = _clean(_subject(body, letter.parent))
    if letter.parent is not None:
        mail["In-Reply-To"] = letter.parent.message_id
        mail["References"] = " ".join(_references(letter.parent))
    # So that no program answers, as RFC 3834 and Exchange have it.
    mail["Auto-Submitted"] = "auto-generated" if letter.parent is None else "auto-replied"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(text_of(body, repeated=letter.repeated) + "\n", cte="quoted-printable")
    mail.add_alternative(
        html_of(body, settings.address, repeated=letter.repeated), subtype="html", cte="quoted-printable"
    )
    for name, path, mime in body.files:
        _attach(mail, name, mime, read(path))
    for name, text in body.holds:
        _attach(mail, name, "text/plain", text.encode())
    return mail.as_bytes()


def _attach(mail: EmailMessage, name: str, mime: str, content: bytes) -> None:
    kind, _, form = (mime or "application/octet-stream").partition("/")
    if not form or kind in ("message", "multipart"):
        kind, form = "application", "octet-stream"
    mail.add_attachment(content, maintype=kind, subtype=form, filename=_clean(name))


def _clean(words: str) -> str:
    """On one line, whatever is in there."""
    return " ".join("".join(one if one.isprintable() else " " for one in words).split())


def _subject(body: Body, parent: Parent | None) -> str:
    if parent is None:
        return body.subject or "Signalbox"
    if not parent.subject:
        return "Re: (no subject)"  # the same in all of a thread, or programs show it as several
    return parent.subject if parent.subject[:3].lower() == "re:" else f"Re: {parent.subject}"


def _references(parent: Parent) -> list[str]:
    named = [one for one in parent.references if one != parent.message_id]
    if len(named) >= REFERENCES_MOST:
        named = [named[0], *named[-(REFERENCES_MOST - 2) :]]
    return [*named, parent.message_id]

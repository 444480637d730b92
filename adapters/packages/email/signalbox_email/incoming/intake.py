"""A mail becomes a signal, or the reason for which nothing comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from signalbox.channels import (
    UNREAD,
    Address,
    Addressing,
    ApprovalId,
    Body,
    Clicked,
    Commanded,
    FileRef,
    Identity,
    Said,
    Signal,
)
from signalbox_email.ids import EMAIL, ROOM_MOST_PEOPLE, approval_in, digest, ids_in, is_our_id, room_of, thread_of
from signalbox_email.incoming.choices import Chosen, chosen_in
from signalbox_email.incoming.loops import by_program
from signalbox_email.incoming.parse import Mail, Named, header, people
from signalbox_email.incoming.quotes import parted
from signalbox_email.incoming.senders import Vouched, vouched
from signalbox_email.incoming.signatures import Cover, cover_of, key_of
from signalbox_email.settings import EmailSettings

NAMES_MOST_CHARS: Final = 200
COMMAND_MARKS: Final = ("/", "!")
UNPROVEN: Final = "?"
"""Stands before the address of a sender whom no server vouched for: whoever trusts that address means another identity."""

WHOLE_COVER: Final = Cover(None)
"""Of a sender who may be anybody, one thing is as good as another."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Nothing comes of this mail. `own`: it is one of ours, back from our own server."""

    reason: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """`chosen` is what it decides, whose form is still to be filled in. `is_doubtful`: nothing proves that its sender meant that question."""

    signal: Signal
    chosen: Chosen | None = None
    is_doubtful: bool = False


def taken_from(mail: Mail, settings: EmailSettings, *, at: datetime, remote: Callable[[int], str]) -> Taken | Dropped:
    """`at` is when it came. `remote` names a part of this mail, by its place."""
    address = mail.sender[1]
    if is_our_id(mail.message_id, settings.domain) and settings.is_ours(address):
        return Dropped("it is a mail of our own", own=True)
    if not address:
        return Dropped("its From header names nobody, or several")
    if settings.is_ours(address):
        return Dropped("it is from this very address")
    if reason := by_program(mail):
        return Dropped(reason)
    cover = _cover(mail, settings)
    proven = isinstance(cover, Cover)
    if isinstance(cover, str):
        if not settings.strangers:
            return Dropped(cover)
        cover = WHOLE_COVER
    where, reach = _where(mail, settings)
    words = parted(mail.text)
    asked = _asked(mail, settings, cover)
    chosen = chosen_in(words.new, asked or approval_in(mail.parent, settings.domain)) if proven else None
    body: Body = (
        Clicked(chosen.approval, chosen.choice, chosen.words)
        if chosen
        else _said(mail, words.new, settings, remote, cover)
    )
    signal = Signal(
        platform=settings.identity,
        dedupe_key=f"mail {digest(key_of(mail.head, mail.key, mail.content, cover), address)}",
        actor=Identity(f"{EMAIL}:{'' if proven else UNPROVEN}{address}"),
        actor_name=mail.sender[0] or address,
        address=where,
        body=body,
        received_at=at,
        reach=reach,
        message_id=mail.message_id,
        joinable=True,
        room_name=_names(mail, settings),
    )
    doubtful = chosen is not None and not (_is_to_us(mail, settings) and (chosen.by_code or asked))
    return Taken(signal, chosen, doubtful)


def _cover(mail: Mail, settings: EmailSettings) -> Cover | str:
    """Tell as far as a mail is surely its sender's own; or why nothing of it is."""
    sender = mail.sender[1]
    ground = vouched(sender, mail.results, settings.authserv_id) if settings.authserv_id else None
    if ground is None:
        return f"{settings.authserv_id or 'no server'} doesn't vouch for {sender}: it may be forged"
    if not mail.clear:
        return "programs may read its headers in different ways, so its text may be forged"
    return cover_of(mail.head, sender.rpartition("@")[2], signed=ground is Vouched.SIGNED)


def _is_to_us(mail: Mail, settings: EmailSettings) -> bool:
    return any(settings.is_ours(address) for _, address in [*mail.to, *mail.cc])


def _asked(mail: Mail, settings: EmailSettings, cover: Cover) -> ApprovalId | None:
    """The question that its sender surely answered: both what it answers and that it was for us are covered."""
    if not any(
        cover.holds(mail.head, name) and any(settings.is_ours(address) for _, address in people(mail.head, name))
        for name in ("To", "Cc")
    ):
        return None
    for name in ("In-Reply-To", "References"):
        if cover.holds(mail.head, name) and (ids := ids_in(header(mail.head, name))):
            return approval_in(ids[-1], settings.domain)
    return None


def too_large(mail: Mail, settings: EmailSettings, size: int, *, at: datetime) -> Taken | Dropped:
    """For a mail of which only the headers were fetched: its sender is told why."""
    made = taken_from(mail, settings, at=at, remote=str)
    if isinstance(made, Dropped):
        return made
    told = f"a mail of {_mib(size)} (I read mails of at most {_mib(settings.mail_most)})"
    signal = made.signal
    return Taken(
        Signal(
            platform=signal.platform,
            dedupe_key=signal.dedupe_key,
            actor=signal.actor,
            actor_name=signal.actor_name,
            address=signal.address,
            body=Commanded(UNREAD, told),
            received_at=at,
            reach=signal.reach,
            message_id=signal.message_id,
            room_name=signal.room_name,
        )
    )


def _mib(size: int) -> str:
    return f"{size / 1024 / 1024:.0f} MB"


def others_in(mail: Mail, settings: EmailSettings) -> list[Named]:
    """All who get an answer: the sender, and those to whom it went beside us.

    Shape: the sender alone where we got it blind, since an answer to all would tell of that; or where it went to a crowd.
    """
    sender, told = mail.sender, [*mail.to, *mail.cc]
    if not any(settings.is_ours(address) for _, address in told):
        return [sender]
    by_address = {address: (name, address) for name, address in [*told, sender] if not settings.is_ours(address)}
    return list(by_address.values()) if len(by_address) <= ROOM_MOST_PEOPLE else [sender]


def _where(mail: Mail, settings: EmailSettings) -> tuple[Address, Addressing]:
    others = others_in(mail, settings)
    thread = thread_of(mail.references[0] if mail.references else mail.key)
    where = Address(EMAIL, settings.identity, room_of(address for _, address in others), thread)
    if len(others) == 1:
        return where, Addressing.DIRECT
    to_us = any(settings.is_ours(address) for _, address in mail.to)
    return where, Addressing.MENTION if to_us else Addressing.OVERHEARD


def _names(mail: Mail, settings: EmailSettings) -> str:
    return ", ".join(name or address for name, address in others_in(mail, settings))[:NAMES_MOST_CHARS]


def _said(
    mail: Mail, new: str, settings: EmailSettings, remote: Callable[[int], str], cover: Cover
) -> Said | Commanded:
    files = tuple(FileRef(one.name, "", one.size, remote(one.place), one.mime) for one in mail.files)
    text = _text(mail, new, settings, cover)
    return Said(text, files) if text or files else Commanded(UNREAD, "an empty mail")


def _text(mail: Mail, new: str, settings: EmailSettings, cover: Cover) -> str:
    """The new words; before them the subject where it begins a thread, below them a quote that we don't know yet."""
    if new.startswith(COMMAND_MARKS):
        return new
    is_title = not mail.references and mail.subject not in new and cover.holds(mail.head, "Subject")
    pieces = [mail.subject] if is_title else []
    pieces.append(new)
    known = is_our_id(mail.parent, settings.domain) and mail.parent != mail.references[0]
    if (quoted := parted(mail.text).quoted) and not known:
        pieces.append("\n".join(f"> {line}".rstrip() for line in quoted.split("\n")))
    return "\n\n".join(filter(None, pieces))

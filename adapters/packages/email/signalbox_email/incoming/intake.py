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
    Body,
    Clicked,
    Commanded,
    FileRef,
    Identity,
    Said,
    Signal,
)
from signalbox_email.ids import EMAIL, ROOM_MOST_PEOPLE, approval_in, digest, is_our_id, room_of, thread_of
from signalbox_email.incoming.choices import Chosen, chosen_in
from signalbox_email.incoming.loops import by_program
from signalbox_email.incoming.parse import Mail, Named
from signalbox_email.incoming.quotes import parted
from signalbox_email.incoming.senders import is_vouched_for
from signalbox_email.settings import EmailSettings

NAMES_MOST_CHARS: Final = 200
COMMAND_MARKS: Final = ("/", "!")
UNPROVEN: Final = "?"
"""Stands before the address of a sender whom no server vouched for: whoever trusts that address means another identity."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Nothing comes of this mail. `own`: it is one of ours, back from our own server."""

    reason: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """`address` is where the signal's answers go; `chosen` what it decides, whose form is still to be filled in."""

    signal: Signal
    chosen: Chosen | None = None


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
    proven = is_vouched_for(address, mail.results, settings.authserv_id) if settings.authserv_id else False
    if not proven and not settings.strangers:
        return Dropped(f"{settings.authserv_id or 'no server'} doesn't vouch for {address}: it may be forged")
    where, reach = _where(mail, settings)
    asked = approval_in(mail.parent, settings.domain)
    words = parted(mail.text)
    chosen = chosen_in(words.new, asked) if proven else None
    body: Body = (
        Clicked(chosen.approval, chosen.choice, chosen.words) if chosen else _said(mail, words.new, settings, remote)
    )
    signal = Signal(
        platform=settings.identity,
        dedupe_key=f"mail {digest(mail.key, address)}",
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
    return Taken(signal, chosen)


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


def _said(mail: Mail, new: str, settings: EmailSettings, remote: Callable[[int], str]) -> Said | Commanded:
    files = tuple(FileRef(one.name, "", one.size, remote(one.place), one.mime) for one in mail.files)
    text = _text(mail, new, settings)
    return Said(text, files) if text or files else Commanded(UNREAD, "an empty mail")


def _text(mail: Mail, new: str, settings: EmailSettings) -> str:
    """The new words; before them the subject where it begins a thread, below them a quote that we don't know yet."""
    if new.startswith(COMMAND_MARKS):
        return new
    begins = not mail.references
    pieces = [mail.subject] if begins and mail.subject and mail.subject not in new else []
    pieces.append(new)
    known = is_our_id(mail.parent, settings.domain) and mail.parent != mail.references[0]
    if (quoted := parted(mail.text).quoted) and not known:
        pieces.append("\n".join(f"> {line}".rstrip() for line in quoted.split("\n")))
    return "\n\n".join(filter(None, pieces))

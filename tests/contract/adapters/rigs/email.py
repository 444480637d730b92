"""E-mail: one mailbox on a real IMAP server, and an SMTP server that delivers into it. Ada is ada@example.org."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import AdapterContext, Address, ChannelAdapter, Identity
from signalbox_email.adapter import EmailAdapter
from signalbox_email.ids import room_of, thread_of
from signalbox_email.outgoing.render import REPEATED
from signalbox_email.settings import EmailSettings, Server, Waits
from tests.contract.adapters.rig import Barrier, Event, Limit, OnScreen, Place, Press, RigMaker, Rooms, Skill, Trouble
from tests.fakes.dovecot import PASSWORD, program
from tests.fakes.mail import AUTHSERV, GONE, Provider, Sent, provider

ADA: Final = "ada@example.org"
BOB: Final = "bob@example.org"
MACHINE: Final = "backup@example.org"
THREAD: Final = "<a-thread-of-old@example.org>"
CHOICES: Final = "\n\nTo decide, reply with one of these lines:\n\n"
CHOICE: Final = re.compile(r"    (?P<payload>[a-z]+ \S+)\s+(?P<label>.+)")
LACKS: Final[Mapping[Skill, str]] = {
    Skill.SIGNED: "mail is fetched by us",
    Skill.THREADS: "a report is one mail, with its first line as the subject; threads of mail have tests of their own",
    Skill.EDITED: "a mail that is sent can't be changed",
    Skill.EDITS: "a mail that is sent can't be changed",
    Skill.MENTIONS: "mail has no word that calls everybody",
    Skill.SPLITS: "a mail is as long as its text",
    Skill.PLAIN: "a mail has both forms, and each program shows the one that it can",
    Skill.RATES: "a mail server names no wait; what it says instead has tests of its own",
}
FAULTS: Final[Mapping[Trouble, str]] = {
    Trouble.ERROR: "error",
    Trouble.CUT_BEFORE: "cut before",
    Trouble.CUT_AFTER: "cut after",
    Trouble.CUT_LATE: "cut late",
    Trouble.CLOSED: "closed",
}
SHORT: Final = Waits(
    connect=timedelta(seconds=5),
    answer=timedelta(seconds=1),
    transfer=timedelta(seconds=5),
    data=timedelta(seconds=2),
    idle=timedelta(seconds=0.05),  # Dovecot tells of new mail half a second late, and at once when it is asked
    again=timedelta(seconds=0.02),
    again_most=timedelta(seconds=0.1),
    refused=timedelta(seconds=0.1),
)
"""Waits of a test."""


class EmailRig:
    channel = "email"
    name = "email"
    lacks = LACKS
    fixes: Mapping[Barrier, str] = {Barrier.GONE: "no such address"}
    owner = Identity(f"email:{ADA}")
    stranger = Identity(f"email:{BOB}")
    limit: Limit | None = None

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self._numbers = count(1)
        self._raw: dict[Event, bytes] = {}

    # Our side.

    def adapter(self, given: AdapterContext, **changes: Any) -> ChannelAdapter:
        settings = EmailSettings(
            "post",
            self.provider.address,
            Server("127.0.0.1", self.provider.imap.port, "none"),
            Server("127.0.0.1", self.provider.smtp_port, "none"),
            self.provider.address,
            PASSWORD,
            authserv_id=AUTHSERV,
            look_after=timedelta(seconds=3),
            waits=SHORT,
        )
        return EmailAdapter(replace(settings, **changes), given)

    def reachable(self, adapter: ChannelAdapter) -> AbstractAsyncContextManager[Any]:
        return nullcontext()

    def settings(self) -> Mapping[str, Any]:
        return {
            "name": "post",
            "channel": "email",
            "address": self.provider.address,
            "password": PASSWORD,
            "imap_host": "127.0.0.1",
            "imap_port": self.provider.imap.port,
            "imap_security": "none",
            "smtp_port": self.provider.smtp_port,
            "smtp_security": "none",
            "authserv_id": AUTHSERV,
            "look_after_seconds": 3,
        }

    # Places.

    def rooms(self) -> Rooms:
        return Rooms(
            direct=self._place(ADA),
            shared=self._place(ADA, BOB),
            thread=self._place(ADA, BOB, root=THREAD),
            apart=self._place(BOB),
        )

    def places(self, count: int) -> Sequence[Place]:
        """Threads of one person each: a mail that begins a thread has an address of its own."""
        return [self._place(f"p{n}@example.org", root=f"<thread-{n}@example.org>") for n in range(1, count + 1)]

    def _place(self, *people: str, root: str = "") -> Place:
        address = Address("email", self.provider.address, room_of(people), thread_of(root) if root else "")
        self._roots = {**getattr(self, "_roots", {}), address.thread: root}
        return Place(address, Identity(f"email:{people[0]}"), direct=len(people) == 1)

    # What people do.

    async def say(
        self,
        place: Place,
        text: str,
        *,
        user: Identity | None = None,
        mention: bool | None = None,
        files: Mapping[str, bytes] | None = None,
        bot: bool = False,
    ) -> Event:
        root = self._roots.get(place.address.thread, "")
        return self._written(place, text, user, mention=mention, files=files, parent=root, bot=bot)

    def _written(
        self,
        place: Place,
        text: str,
        user: Identity | None,
        *,
        parent: str,
        mention: bool | None = None,
        files: Mapping[str, bytes] | None = None,
        bot: bool = False,
    ) -> Event:
        sender = MACHINE if bot else (user or place.user).partition(":")[2]
        others = [one for one in place.address.room.split(",") if one != sender]
        us = self.provider.address
        message_id = f"<mail-{next(self._numbers)}@example.org>"
        headers = {"In-Reply-To": parent, "References": parent} if parent else {}
        headers |= {"Auto-Submitted": "auto-generated"} if bot else {}
        raw = self.provider.write(
            text,
            sender=f"{sender.partition('@')[0].title()} <{sender}>",
            to=", ".join(others if mention is False else [us, *others]),
            cc=us if mention is False else "",
            message_id=message_id,
            files=files,
            headers=headers,
        )
        event = Event(message_id)
        self._raw[event] = raw
        return event

    async def again(self, event: Event) -> None:
        self.provider.box.deliver(self._raw[event])

    async def echo(self, place: Place, text: str) -> Event:
        self.provider.write(text, sender=self.provider.address, to=ADA, message_id="<echo@example.org>")
        return Event("<echo@example.org>")

    async def edit(self, event: Event, text: str) -> Event:
        raise NotImplementedError(LACKS[Skill.EDITED])

    async def command(self, place: Place, name: str, argument: str = "", *, user: Identity | None = None) -> Event:
        return await self.say(place, f"/{name} {argument}".strip(), user=user)

    async def click(self, place: Place, message: OnScreen, label: str, *, user: Identity | None = None) -> Event:
        return await self.forge(place, message, message.button(label).payload, user=user)

    async def forge(self, place: Place, message: OnScreen, payload: str, *, user: Identity | None = None) -> Event:
        return self._written(place, payload, user, parent=message.id)

    async def unsigned(self, place: Place, text: str) -> int:
        raise NotImplementedError(LACKS[Skill.SIGNED])

    async def remove(self, place: Place, message: OnScreen) -> None:
        raise NotImplementedError(LACKS[Skill.THREADS])

    # What people see.

    async def visible(self, place: Place) -> Sequence[OnScreen]:
        shown = []
        for one in self.provider.sent:
            threads = [thread_of(root) for root in one.mail.get("References", "").split()[:1]]
            here = room_of(str(one.mail["To"]).replace(" ", "").split(",")) == place.address.room
            in_thread = any(thread in self._roots and self._roots[thread] for thread in threads)
            if here and not is_notice(one.mail) and in_thread is bool(place.address.thread):
                shown.append(on_screen(one))
        return shown

    async def acknowledged(self, event: Event) -> bool:
        return self.provider.box.is_seen(event)

    async def notices(self, event: Event) -> Sequence[str]:
        mails = [one.mail for one in self.provider.sent if is_notice(one.mail) and one.mail["In-Reply-To"] == event]
        return [text_in(mail).strip() for mail in mails]

    # What goes wrong.

    async def fault(self, trouble: Trouble, *, count: int = 1, seconds: float = 0.0, on: str = "send") -> None:
        match trouble:
            case Trouble.DROPPED:
                self.provider.drop()
            case Trouble.DEAF:
                self.provider.imap.lose()
            case Trouble.TOKEN:
                self.provider.refuse()
                await asyncio.sleep(1)  # so long the server goes by what it has read
            case Trouble.AWAY:
                self.provider.leave()
            case _:
                self.provider.faults.extend([(FAULTS[trouble], seconds)] * count)

    async def bar(self, barrier: Barrier) -> Address:
        return self._place(GONE).address

    async def lift(self) -> None:
        self.provider.lift()


def is_notice(mail: EmailMessage) -> bool:
    return str(mail["Message-ID"]).startswith("<signalbox-notice.")


def text_in(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part
    text: str = part.get_content().replace("\r\n", "\n")
    return text


def on_screen(sent: Sent) -> OnScreen:
    text, _, choices = text_in(sent.mail).partition(CHOICES)
    files = tuple(str(part.get_filename()) for part in sent.mail.iter_attachments())
    presses = tuple(Press(found["label"], found["payload"]) for found in CHOICE.finditer(choices))
    return OnScreen(
        str(sent.mail["Message-ID"]),
        text.removesuffix("\n"),
        presses,
        files,
        marked=text.startswith(REPEATED),
        reply_to=str(sent.mail.get("In-Reply-To", "")),
    )


@asynccontextmanager
async def mailbox(folder: Path, *, process: bool = False) -> AsyncIterator[EmailRig]:
    """The IMAP server is a process of its own either way."""
    if program() is None:
        pytest.skip("no Dovecot on this machine (tests/setup.sh dovecot installs it)")
    async with provider() as made:
        yield EmailRig(made)


RIGS: Final[Mapping[str, RigMaker]] = {"email": mailbox}

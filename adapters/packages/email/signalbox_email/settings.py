"""The slice of the settings that a mailbox needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

Security = Literal["tls", "starttls", "none"]


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of the account. Tests shorten all of them."""

    connect: timedelta = timedelta(seconds=8)  # until a server greeted us and let us in
    answer: timedelta = timedelta(seconds=15)  # for the answer to a command: longer is deaf
    transfer: timedelta = timedelta(seconds=120)  # for a whole mail
    data: timedelta = timedelta(seconds=18)  # with `connect` below the 30 s that the courier gives a send
    # Servers end an IDLE after 30 minutes, routers forget a silent connection after five. Source: RFC 2177.
    idle: timedelta = timedelta(seconds=60)
    again: timedelta = timedelta(seconds=1)  # after the first failure in a row; it doubles
    again_most: timedelta = timedelta(seconds=30)
    refused: timedelta = timedelta(seconds=60)  # until a refused sign-in is tried again: servers lock who hurries

    def after(self, failures: int) -> timedelta:
        """The wait after so many failures in a row."""
        grown: timedelta = min(self.again * 2 ** min(failures - 1, 10), self.again_most)
        return grown


@dataclass(frozen=True, slots=True)
class Server:
    """A server of one kind, and how it is spoken to."""

    host: str
    port: int
    security: Security = "tls"


@dataclass(frozen=True, slots=True)
class EmailSettings:
    """One mailbox. `aliases` are other addresses under which it is written to.

    `copy`: each mail goes to the mailbox itself too, since the server keeps none of what it sends. `look_after`: until then
    a mail that the server took may not be in the mailbox yet. `authserv_id`: the server whose word counts on who a sender is;
    with `strangers`, mail of which it says nothing comes in as from somebody unknown.
    """

    account: str
    address: str
    imap: Server
    smtp: Server
    user: str
    password: str = field(repr=False)
    smtp_login: bool = True
    sender_name: str = ""
    aliases: tuple[str, ...] = ()
    inbox: str = "INBOX"
    sent: str = ""
    copy: bool = True
    look_after: timedelta = timedelta(seconds=60)
    authserv_id: str = ""
    strangers: bool = False
    mail_most: int = 25 * 1024 * 1024
    per_hour: int = 30
    poll: timedelta = timedelta(seconds=30)
    waits: Waits = Waits()

    @property
    def identity(self) -> str:
        """Under which rows are stored."""
        return self.address.lower()

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2].lower()

    def is_ours(self, address: str) -> bool:
        return address.lower() in {self.identity, *(alias.lower() for alias in self.aliases)}

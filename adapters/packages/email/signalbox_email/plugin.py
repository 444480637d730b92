"""E-mail as the program knows it: its table of settings, its password, and the adapter that comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from signalbox.channels import (
    Account,
    AccountSecret,
    AdapterContext,
    ChannelAdapter,
    ChannelPlugin,
    Finding,
    Number,
    Secret,
    Switch,
    TokenForm,
    Whole,
    of_form,
)
from signalbox_email.ids import is_mail_address
from signalbox_email.settings import EmailSettings, Server

PASSWORD: Final = TokenForm(
    "a mailbox's password", re.compile(r"(?!)"), looks="the password, or the app password, of the mailbox", vague=True
)
PORTS: Final[Mapping[str, tuple[int, int]]] = {"tls": (993, 465), "starttls": (143, 587), "none": (143, 25)}
"""Of IMAP and SMTP, by how they are protected. Source: RFC 8314, 7."""


def _mail_address(text: str) -> str:
    if not is_mail_address(text):
        raise ValueError('an e-mail address, such as "agent@example.org"')
    return text


MailAddress = Annotated[str, AfterValidator(_mail_address)]
Security = Literal["tls", "starttls", "none"]


class EmailAccount(Account):
    """A mailbox, read by IMAP and written from by SMTP: [email.md](email.md)."""

    channel: Literal["email"] = Field(description="This table is for a mailbox.")
    address: MailAddress = Field(description="Its address: people write to it, and answers come from it.")
    sender_name: str = Field(default="", description="Name beside the address; empty: the address alone.")
    aliases: tuple[MailAddress, ...] = Field(default=(), description="Other addresses whose mail arrives here.")
    user: str = Field(default="", description="Name for the sign-in. Default: the address.")
    password: Annotated[Secret, of_form(PASSWORD)] = Field(
        default=None, description="Password, or app password, of the mailbox."
    )
    password_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `password`. Default: EMAIL_PASSWORD."
    )
    imap_host: str = Field(min_length=1, description="The IMAP server, such as imap.example.org.")
    imap_port: Whole = Field(
        default=0, ge=0, le=65535, description="Its port; 0: 993, or 143 without TLS from the start."
    )
    imap_security: Security = Field(
        default="tls", description='"tls"; "starttls"; or "none", for a server on this machine.'
    )
    smtp_host: str = Field(default="", description="The SMTP server. Default: the IMAP server.")
    smtp_port: Whole = Field(
        default=0, ge=0, le=65535, description="Its port; 0: 465, 587 with STARTTLS, or 25 without TLS."
    )
    smtp_security: Security = Field(
        default="tls", description='"tls"; "starttls"; or "none", for a server on this machine.'
    )
    smtp_login: Switch = Field(default=True, description="false: the SMTP server takes mail without a sign-in.")
    inbox: str = Field(default="INBOX", min_length=1, description="Folder in which new mail arrives.")
    sent_folder: str = Field(default="", description="Folder of sent mail; empty: the one that the server names.")
    sent: Literal["copy", "server"] = Field(
        default="copy",
        description='"copy": each mail goes to the mailbox too, so that a look there tells whether it was sent; '
        '"server": the server files sent mail itself, as Gmail and Microsoft do.',
    )
    look_after_seconds: Number = Field(
        default=60,
        ge=0,
        le=3600,
        description="Seconds after which a mail that isn't in the mailbox counts as not sent: as long as the server may take.",
    )
    authserv_id: str = Field(
        default="",
        description="Name under which your own mail server says, in Authentication-Results, who a sender really is. "
        "Mail that it doesn't vouch for is dropped.",
    )
    unverified: Literal["drop", "stranger"] = Field(
        default="drop",
        description='"drop": nothing comes of mail whose sender nobody vouches for; '
        '"stranger": it comes in from `email:?ADDRESS`, who decides nothing.',
    )
    mail_max_mb: Whole = Field(
        default=25, ge=1, le=200, description="Size of a mail; a larger one isn't fetched, and its sender is told."
    )
    thread_max_per_hour: Whole = Field(
        default=30,
        ge=1,
        le=1000,
        description="Mails of one thread that are taken in per hour, so that two programs never talk forever.",
    )
    poll_seconds: Number = Field(
        default=30,
        ge=1,
        le=3600,
        description="Seconds between two looks, where the server can't announce new mail (IDLE).",
    )


def settings_of(account: EmailAccount) -> EmailSettings:
    imap_port, smtp_port = PORTS[account.imap_security][0], PORTS[account.smtp_security][1]
    return EmailSettings(
        account=account.name,
        address=account.address,
        imap=Server(account.imap_host, account.imap_port or imap_port, account.imap_security),
        smtp=Server(account.smtp_host or account.imap_host, account.smtp_port or smtp_port, account.smtp_security),
        user=account.user or account.address,
        password=account.secret("password"),
        smtp_login=account.smtp_login,
        sender_name=account.sender_name,
        aliases=account.aliases,
        inbox=account.inbox,
        sent=account.sent_folder,
        copy=account.sent == "copy",
        look_after=timedelta(seconds=account.look_after_seconds),
        authserv_id=account.authserv_id,
        strangers=account.unverified == "stranger",
        mail_most=account.mail_max_mb * 1024 * 1024,
        per_hour=account.thread_max_per_hour,
        poll=timedelta(seconds=account.poll_seconds),
    )


def make(account: EmailAccount, given: AdapterContext) -> ChannelAdapter:
    from signalbox_email.adapter import EmailAdapter

    return EmailAdapter(settings_of(account), given)


async def check(account: EmailAccount) -> Sequence[Finding]:
    from signalbox_email.checks import checked

    return await checked(settings_of(account))


def faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Mistakes that are never meant: nobody to say who senders are, and a password that goes over the network in the clear."""
    if not table.get("authserv_id") and table.get("unverified") != "stranger":
        yield (
            "authserv_id",
            "is missing; set the name under which your mail server writes Authentication-Results (docs/email.md says how "
            'to find it), or unverified = "stranger" to let everybody in as somebody unknown',
        )
    for kind in ("imap", "smtp"):
        host = table.get(f"{kind}_host") or table.get("imap_host", "")
        if table.get(f"{kind}_security") == "none" and isinstance(host, str) and not _is_here(host):
            yield f"{kind}_security", f'"none" would send the password to {host} in the clear; set "tls" or "starttls"'


def _is_here(host: str) -> bool:
    return host == "localhost" or host == "::1" or re.fullmatch(r"127(?:\.\d{1,3}){3}", host) is not None


PLUGIN: Final = ChannelPlugin(
    "email",
    "E-mail",
    EmailAccount,
    make,
    secrets={"password": AccountSecret(PASSWORD, "EMAIL_PASSWORD", "Password of the mailbox")},
    setup="Make a mailbox of its own for the agent, and an app password for it where there are two factors. More: docs/email.md",
    faults=faults,
    check=check,
)

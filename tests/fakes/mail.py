"""A mail provider: the agent's mailbox on a real IMAP server, and an SMTP server by others that delivers into it.

What goes to anybody else is kept for a test to look at. The IMAP server is reached through a proxy, which cuts.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any, Final

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.fakes.dovecot import PASSWORD, Maildir, dovecot
from tests.lab.proxy import Proxy, proxy

AUTHSERV: Final = "mx.example.org"
"""Under which the provider says who a sender is."""
COVERED: Final = "from:to:cc:subject:date:message-id:in-reply-to:references:content-type"
GONE: Final = "gone@example.org"
"""Nobody has this address, and the provider says so."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A mail that the provider took: for whom, and what it is."""

    to: tuple[str, ...]
    mail: EmailMessage
    raw: bytes


@dataclass
class Provider:
    """`faults` are what becomes of the next mails: see `MailTrouble`."""

    box: Maildir
    imap: Proxy
    smtp_port: int = 0
    sent: list[Sent] = field(default_factory=list)
    faults: deque[tuple[str, float]] = field(default_factory=deque)
    is_away: bool = False
    hears: bool = True
    holds: asyncio.Event = field(default_factory=asyncio.Event)
    on_data: Callable[[str], object] = lambda point: None

    @property
    def address(self) -> str:
        return self.box.user

    # ------------------------------------------------------------------------------------------- what people do

    def write(
        self,
        text: str,
        *,
        sender: str,
        to: str | None = None,
        cc: str = "",
        message_id: str = "",
        files: Mapping[str, bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        vouched: bool = True,
        covered: str = COVERED,
    ) -> bytes:
        """Somebody writes to the agent: the mail, as it came in. `covered` are the headers that its signature names."""
        mail = EmailMessage(policy=policy.SMTP)
        if vouched:
            domain = sender.rpartition("@")[2].rstrip(">")
            mail["Authentication-Results"] = f"{AUTHSERV}; dmarc=pass header.from={domain}; dkim=pass header.d={domain}"
            mail["DKIM-Signature"] = f"v=1; a=rsa-sha256; d={domain}; s=s; h={covered}; bh=YQ==; b=YQ=="
        mail["From"] = sender
        mail["To"] = self.address if to is None else to
        if cc:
            mail["Cc"] = cc
        mail["Date"] = formatdate()
        if message_id:
            mail["Message-ID"] = message_id
        for name, value in (headers or {}).items():
            mail[name] = value
        mail.set_content(text)
        for name, content in (files or {}).items():
            mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
        raw = mail.as_bytes()
        self.box.deliver(raw)
        return raw

    # ----------------------------------------------------------------------------------------------- the server

    async def handle_RCPT(  # noqa: N802 - the name is that of aiosmtpd
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if not session.authenticated:
            return "530 5.7.0 authentication required"
        if address == GONE or (self.faults and self.faults[0][0] == "closed" and address != self.address):
            if address != GONE:
                self.faults.popleft()
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above
        trouble, seconds = self.faults.popleft() if self.faults else ("", 0.0)
        raw = envelope.content
        assert isinstance(raw, bytes)
        self.on_data("before")
        match trouble:
            case "cut before":
                _abort(server)
                return "421 gone"
            case "cut late":
                _abort(server)
                asyncio.get_running_loop().call_later(seconds, self._take, tuple(envelope.rcpt_tos), raw)
                return "421 gone"
            case "error":
                return "451 4.3.0 try again later"
            case "refused":
                return "554 5.7.1 this looks like spam"
            case _:
                self._take(tuple(envelope.rcpt_tos), raw)
        self.on_data("after")
        if trouble == "cut after":
            _abort(server)
        if trouble == "silent":
            await self.holds.wait()
        return "250 OK"

    def _take(self, to: tuple[str, ...], raw: bytes) -> None:
        mail = message_from_bytes(raw, policy=policy.SMTP)
        self.sent.append(Sent(to, mail, raw))
        if self.address in to:
            self.box.deliver(raw)

    def authenticate(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        right = LoginPassword(self.address.encode(), PASSWORD.encode())
        return AuthResult(success=self.hears and data == right, handled=False)

    def connection(self, tls: ssl.SSLContext | None = None) -> asyncio.Protocol:
        """One to the SMTP server; with `tls` it offers STARTTLS, and lets nobody in without."""
        if self.is_away:
            return _Refusing()
        return SMTP(
            self,
            hostname=AUTHSERV,
            authenticator=self.authenticate,
            auth_require_tls=tls is not None,
            tls_context=tls,
            loop=asyncio.get_running_loop(),
        )

    # ------------------------------------------------------------------------------------------- what goes wrong

    def leave(self) -> None:
        """Nothing of the provider can be reached any more."""
        self.imap.cut()
        self.is_away = True

    def drop(self) -> None:
        """Each connection on which mail is announced ends; new ones work."""
        self.imap.cut()
        self.imap.lift()

    def refuse(self) -> None:
        """The password is wrong from now on."""
        self.box.refuse()
        self.hears = False

    def lift(self) -> None:
        self.imap.lift()
        self.is_away, self.hears = False, True
        self.faults.clear()
        self.holds.set()
        self.box.admit()


class _Refusing(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


def _abort(server: SMTP) -> None:
    assert isinstance(server.transport, asyncio.Transport)
    server.transport.abort()


@asynccontextmanager
async def under_tls(provider: Provider, *, at_once: bool) -> AsyncIterator[int]:
    """The port of another SMTP server of this provider, with TLS from the start or by STARTTLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(dovecot().certificate)
    inner, outer = (None, context) if at_once else (context, None)
    server = await asyncio.get_running_loop().create_server(
        lambda: provider.connection(inner), "127.0.0.1", 0, ssl=outer
    )
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def provider(name: str = "agent") -> AsyncIterator[Provider]:
    """A provider with a mailbox of its own, empty."""
    server = dovecot()
    async with proxy("127.0.0.1", server.port) as way:
        made = Provider(server.mailbox(name), way)
        smtp = await asyncio.get_running_loop().create_server(made.connection, "127.0.0.1", 0)
        made.smtp_port = smtp.sockets[0].getsockname()[1]
        try:
            yield made
        finally:
            made.holds.set()
            smtp.close()

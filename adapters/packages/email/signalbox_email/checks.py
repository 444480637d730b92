"""Checks for `signalbox doctor`: each step between this account and its servers, live. They change nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from signalbox.channels import ChannelError, Finding, Level
from signalbox_email.errors import Denied, MailError, Refused
from signalbox_email.imap import Imap
from signalbox_email.incoming.parse import mail_of
from signalbox_email.lookups import Lookups
from signalbox_email.outgoing.smtp import connected
from signalbox_email.settings import EmailSettings

OF_THE_SERVER: Final = (
    "[SERVERBUG]",
    "[UNAVAILABLE]",
    "[INUSE]",
    "[LIMIT]",
    "[CORRUPTION]",
    "[OVERQUOTA]",
    "[CONTACTADMIN]",
)
"""Codes of a refusal that no setting of ours mends. Source: RFC 5530."""
LATEST: Final = 20
"""Mails in which the server's word on senders is looked for."""


async def checked(settings: EmailSettings) -> Sequence[Finding]:
    """Look at an account that need not be at work."""
    return [finding async for finding in Checks(settings).run()]


def closed(folder: str, refusal: str) -> tuple[str, str]:
    """Words on a refused folder, and what mends it: it isn't there, or the server has a fault of its own and says so."""
    if refusal.upper().startswith(OF_THE_SERVER):
        fix = "look into the server's own log, or ask whoever runs it: no setting here is to blame"
        return f"the server can't open the folder {folder} right now: {refusal}", fix
    return f"the server doesn't open the folder {folder}: {refusal}", "set inbox to a folder of the mailbox"


class Checks:
    """Looks at one account. Ids of findings begin with `email.<account>`."""

    def __init__(self, settings: EmailSettings) -> None:
        self._settings = settings

    async def run(self) -> AsyncIterator[Finding]:
        try:
            async with Imap.open(self._settings) as imap:
                async for finding in self._mailbox(imap):
                    yield finding
        except MailError as error:
            step = "signin" if isinstance(error, Denied) else "imap"
            yield self._bad(
                step, str(error), "It can't read anything.", "check imap_host, imap_port, user and password"
            )
        yield await self._smtp()
        yield self._senders()

    async def _mailbox(self, imap: Imap) -> AsyncIterator[Finding]:
        yield self._fine("imap", f"{self._settings.imap.host} lets it in as {self._settings.user}")
        try:
            box = await imap.select(
                self._settings.inbox
            )  # of one opened for reading no server says which flags it keeps
        except Refused as error:
            what, fix = closed(self._settings.inbox, str(error))
            yield self._bad("inbox", what, "New mail is looked for in that folder.", fix)
            return
        if box.keywords:
            yield self._fine("flags", "the server keeps flags of our own, so others may read the mailbox too")
        else:
            yield self._warn(
                "flags",
                "the server keeps no flags of our own, so mail that somebody else has read counts as taken in",
                "A mail that a person opens first is never answered.",
                "let nobody else read this mailbox",
            )
        if not imap.idles:
            every = f"{self._settings.poll.total_seconds():g} s"
            yield self._fine(
                "idle", f"the server can't announce new mail: it is looked for each {every} (poll_seconds)"
            )
        yield await self._sent(imap)
        async for finding in self._vouching(imap):
            yield finding

    async def _sent(self, imap: Imap) -> Finding:
        folder = await Lookups(self._settings).sent_folder(imap)
        if folder:
            return self._fine("sent", f"sent mail is in the folder {folder}")
        if self._settings.copy:
            return self._fine("sent", "there is no folder of sent mail: copies stay in the inbox")
        return self._bad(
            "sent",
            'sent = "server", and there is no folder of sent mail',
            "Nothing tells whether a mail was sent when a connection was cut: it may be sent twice.",
            'set sent_folder to the folder where the server files what it sends, or sent = "copy"',
        )

    async def _vouching(self, imap: Imap) -> AsyncIterator[Finding]:
        """The names under which servers vouch for senders, in the latest mails."""
        if not self._settings.authserv_id:
            return
        await imap.select(self._settings.inbox, change=False)
        names: set[str] = set()
        for uid in (await imap.search("ALL"))[-LATEST:]:
            told = await imap.fetch(uid, "UID BODY.PEEK[HEADER]")
            head = told.get("BODY[HEADER]")
            mail = mail_of(head if isinstance(head, bytes) else b"")
            names |= {one.partition(";")[0].split()[0].lower() for one in mail.results if one.partition(";")[0].split()}
        if self._settings.authserv_id.lower() in names:
            yield self._fine("senders", f"{self._settings.authserv_id} vouches for senders, as set in authserv_id")
        elif names:
            yield self._warn(
                "senders",
                f"no mail has a word of {self._settings.authserv_id} on its sender; there are: {', '.join(sorted(names)[:5])}",
                "Mail that it doesn't vouch for is dropped.",
                "set authserv_id to the name of your own server among these",
            )

    async def _smtp(self) -> Finding:
        try:
            async with connected(self._settings):
                return self._fine("smtp", f"{self._settings.smtp.host} lets it send")
        except ChannelError as error:
            return self._bad(
                "smtp", str(error), "It can't send anything.", "check smtp_host, smtp_port and smtp_security"
            )

    def _senders(self) -> Finding:
        if self._settings.strangers:
            return self._warn(
                "unverified",
                "mail whose sender nobody vouches for comes in as from somebody unknown",
                "Anybody can write any address behind From: such an identity must have no more rights than a stranger.",
                'unless you mean that: unverified = "drop"',
            )
        return self._fine("unverified", "mail whose sender nobody vouches for is dropped")

    def _id(self, step: str) -> str:
        return f"email.{self._settings.account}.{step}"

    def _fine(self, step: str, what: str) -> Finding:
        return Finding(Level.OK, self._id(step), f'account "{self._settings.account}": {what}')

    def _warn(self, step: str, what: str, why: str, fix: str) -> Finding:
        return Finding(Level.WARNING, self._id(step), f'account "{self._settings.account}": {what}', why, fix)

    def _bad(self, step: str, what: str, why: str, fix: str) -> Finding:
        return Finding(Level.ERROR, self._id(step), f'account "{self._settings.account}": {what}', why, fix)

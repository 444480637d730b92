"""Looks into the mailbox, each by a connection of its own: what was sent, what a mail answers, and files of a mail."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from typing import Final

from signalbox.channels import FileRef, Rejected
from signalbox_email.errors import MailError, Refused, retryable
from signalbox_email.ids import ids_in
from signalbox_email.imap import Imap
from signalbox_email.imap_wire import Value
from signalbox_email.incoming.parse import bytes_of, decoded, header, parts_of
from signalbox_email.outgoing.letters import Parent
from signalbox_email.settings import EmailSettings

PARENTS_MOST: Final = 2_000
"""Mails whose threads are kept in mind; of older ones the mailbox tells."""
SENT_NAMES: Final = ("Sent", "Sent Items", "Sent Messages", "INBOX.Sent")


class Lookups:
    def __init__(self, settings: EmailSettings) -> None:
        self._settings = settings
        self._parents: OrderedDict[str, Parent] = OrderedDict()
        self._folders: dict[str, str] | None = None

    def note(self, parent: Parent) -> None:
        """Keep a mail's thread in mind."""
        self._parents[parent.message_id] = parent
        self._parents.move_to_end(parent.message_id)
        while len(self._parents) > PARENTS_MOST:
            self._parents.popitem(last=False)

    async def parent(self, message_id: str) -> Parent | None:
        """A mail of the mailbox, as one that answers it must know it; None when it is gone. Errors: Retryable."""
        if known := self._parents.get(message_id):
            return known
        async with self._looking() as imap:
            if found := await self._find(imap, message_id):
                return await self._parent_at(imap, message_id, found)
        return None

    async def is_there(self, message_id: str) -> bool:
        """True if the mailbox has this mail, among those sent or received. Errors: Retryable."""
        async with self._looking() as imap:
            return await self._find(imap, message_id) is not None

    async def file(self, file: FileRef) -> bytes:
        """A file of a mail. Errors: Retryable; Rejected when the mail is gone."""
        validity, uid, place, message_id = [*file.remote.split(" ", 3), "", "", ""][:4]
        async with self._looking() as imap:
            box = await imap.select(self._settings.inbox, change=False)
            found: int | None = int(uid) if str(box.validity) == validity else None
            if found is None or not await imap.fetch(found, "UID"):
                found = await self._find(imap, message_id) if message_id else None
            raw = _bytes(await imap.fetch(found, "UID BODY.PEEK[]"), "BODY[]") if found else b""
        message = message_from_bytes(raw, policy=policy.compat32)
        part = next((one for number, one in parts_of(message) if str(number) == place), None)
        if not raw or part is None:
            raise Rejected(f"{file.name} can't be read any more: its mail was deleted or moved away.")
        return bytes_of(part)

    async def sent_folder(self, imap: Imap) -> str:
        """The mailbox of sent mail; empty where there is none."""
        if self._folders is None:
            self._folders = await imap.folders()
            self._folders["\\sent"] = self._settings.sent or self._folders.get("\\sent") or await self._named(imap)
        return self._folders["\\sent"]

    async def _named(self, imap: Imap) -> str:
        for name in SENT_NAMES:
            try:
                await imap.ask(f'STATUS "{name}" (MESSAGES)')
            except Refused:
                continue
            return name
        return ""

    async def _find(self, imap: Imap, message_id: str) -> int | None:
        """Its UID, in the mailbox that is open then."""
        sent = await self.sent_folder(imap)
        others = [(self._folders or {}).get(use, "") for use in ("\\all", "\\junk")]  # where a server may put a copy
        for name in dict.fromkeys(filter(None, (self._settings.inbox, sent, *others))):
            await imap.select(name, change=False)
            if found := await imap.by_message_id(message_id):
                return found[-1]
        return None

    async def _parent_at(self, imap: Imap, message_id: str, uid: int) -> Parent:
        told = await imap.fetch(uid, "UID BODY.PEEK[HEADER.FIELDS (References In-Reply-To Subject)]")
        raw = next((one for name, one in told.items() if name.startswith("BODY[")), None)
        head = message_from_bytes(raw if isinstance(raw, bytes) else b"", policy=policy.compat32)
        before = ids_in(header(head, "References")) or ids_in(header(head, "In-Reply-To"))[:1]
        parent = Parent(message_id, tuple(before), decoded(header(head, "Subject")))
        self.note(parent)
        return parent

    @asynccontextmanager
    async def _looking(self) -> AsyncIterator[Imap]:
        try:
            async with Imap.open(self._settings) as imap:
                yield imap
        except MailError as error:
            raise retryable(self._settings.account, error) from error


def _bytes(told: dict[str, Value], name: str) -> bytes:
    found = told.get(name)
    return found if isinstance(found, bytes) else b""

"""One connection to an IMAP server: the few commands that a mailbox needs (RFC 3501, 2177, 6154, 6851).

It runs in the event loop itself: a wait can be cancelled, and each answer has its bound in time and size.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from signalbox_email.errors import Away, Denied, MailError, Refused, away
from signalbox_email.imap_wire import LITERAL, Answer, Value, answer_of, pairs, values
from signalbox_email.settings import EmailSettings
from signalbox_email.trust import trusted

LINE_MOST: Final = 1024 * 1024
"""Bytes of a line. Mailboxes with 100,000 new mails are listed in one."""
SLACK: Final = 1024 * 1024
"""Bytes by which an answer may be longer than the mail in it."""
BYE_WITHIN: Final = 2.0  # seconds
PASSING: Final = ("[UNAVAILABLE]", "[INUSE]", "[LIMIT]")
"""In a refusal that says nothing about the password. Source: RFC 5530."""


@dataclass(frozen=True, slots=True)
class Box:
    """A mailbox as it was when it was opened. `keywords`: it keeps flags of our own."""

    validity: int
    next_uid: int
    keywords: bool


class Imap:
    """Use `Imap.open`. After an error the connection is of no more use."""

    def __init__(self, settings: EmailSettings, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._settings, self._reader, self._writer = settings, reader, writer
        self._name = f"the IMAP server {settings.imap.host}"
        self._count = 0
        self._can: frozenset[str] = frozenset()
        self.news = False  # something came since this was last set to False

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: EmailSettings) -> AsyncIterator[Self]:
        """A connection that is let in. Errors: Away; Denied."""
        server, writer = settings.imap, None
        try:
            async with asyncio.timeout(settings.waits.connect.total_seconds()):
                context = trusted() if server.security == "tls" else None
                reader, writer = await asyncio.open_connection(server.host, server.port, ssl=context, limit=LINE_MOST)
                imap = cls(settings, reader, writer)
                await imap._enter()
            yield imap
            await imap._leave()
        except (OSError, TimeoutError, UnicodeError) as error:  # the last: of a host that is no name
            raise away(f"the IMAP server {server.host}", error) from error
        finally:
            if writer is not None:
                writer.transport.abort()

    async def _enter(self) -> None:
        greeting = await self._read()
        if greeting.word == "BYE":
            raise Away(f"{self._name} is not serving: {greeting.text}")
        if self._settings.imap.security == "starttls":
            await self.ask("STARTTLS")
            await self._refuse_injected()
            await self._writer.start_tls(trusted(), server_hostname=self._settings.imap.host)
        await self._learn()
        await self._login()
        await self._learn()

    async def _refuse_injected(self) -> None:
        """Somebody on the way may put words behind the answer, which would count as said under TLS. Errors: Away."""
        try:
            async with asyncio.timeout(0):
                await self._reader.read(1)
        except TimeoutError:
            return
        raise Away(f"{self._name} says more before TLS begins than it may: somebody is in between")

    async def _learn(self) -> None:
        told = await self.ask("CAPABILITY")
        self._can = frozenset(word.upper() for one in told if one.word == "CAPABILITY" for word in one.text.split())

    async def _login(self) -> None:
        user, password = self._settings.user, self._settings.password
        try:
            if "AUTH=PLAIN" in self._can:
                token = base64.b64encode(f"\0{user}\0{password}".encode())
                await self._asked([b"AUTHENTICATE PLAIN"], reply=token)
            else:
                await self._asked([b"LOGIN " + _quoted(user) + b" " + _quoted(password)])
        except Refused as error:
            if any(code in str(error) for code in PASSING):
                raise Away(f"{self._name} lets nobody in now: {error}") from None
            raise Denied(
                f"{self._name} refuses the sign-in as {user}: check user and password (or app token). {error}"
            ) from None

    async def _leave(self) -> None:
        try:
            async with asyncio.timeout(BYE_WITHIN):
                await self.ask("LOGOUT")
        except (MailError, OSError, TimeoutError):
            return  # it is left either way

    # ------------------------------------------------------------------------------------------------- commands

    async def ask(self, command: str, *, within: timedelta | None = None) -> list[Answer]:
        """Give a command, and return all that the server says until it is done. Errors: Away; Refused."""
        async with asyncio.timeout((within or self._settings.waits.answer).total_seconds()):
            return await self._asked([command.encode("utf-8")])

    async def _asked(self, pieces: Sequence[bytes], *, reply: bytes = b"") -> list[Answer]:
        self._count += 1
        tag = f"S{self._count}"
        self._writer.write(tag.encode() + b" " + b"".join(pieces) + b"\r\n")
        await self._writer.drain()
        told: list[Answer] = []
        while True:
            answer = await self._read()
            if answer.tag == tag:
                if answer.word != "OK":
                    raise Refused(answer.text[:300])
                return told
            if answer.tag == "+":
                self._writer.write(reply + b"\r\n")
                reply = b""
            elif answer.word == "BYE" and b"LOGOUT" not in pieces[0]:
                raise Away(f"{self._name} ends the connection: {answer.text[:200]}")
            else:
                self._note(answer)
                told.append(answer)

    def _note(self, answer: Answer) -> None:
        if answer.tag == "*" and answer.word in ("EXISTS", "RECENT"):
            self.news = True

    async def _read(self) -> Answer:
        """One answer. Errors: Away when the connection ends, or it is longer than anything we asked for."""
        pieces: list[bytes] = []
        size = 0
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                raise Away(f"{self._name} ended the connection") from error
            line = line.rstrip(b"\r\n")
            pieces.append(line)
            found = LITERAL.search(line)
            if found is None:
                return answer_of(pieces)
            length = int(found[1])
            size += length + len(line)
            if size > self._settings.mail_most + SLACK:
                raise Away(f"{self._name} sends more than was asked for: {size:,} bytes")
            try:
                pieces.append(await self._reader.readexactly(length))
            except asyncio.IncompleteReadError as error:
                raise Away(f"{self._name} ended the connection in the middle of a mail") from error

    # -------------------------------------------------------------------------------------------------- mailbox

    async def select(self, name: str, *, change: bool = True) -> Box:
        """Open a mailbox. Errors: Refused when there is none of that name."""
        told = await self.ask(f"{'SELECT' if change else 'EXAMINE'} {_quoted(name).decode()}")
        texts = [one.text for one in told if one.word == "OK"]
        self.news = False
        return Box(
            _number_in(texts, "[UIDVALIDITY "),
            _number_in(texts, "[UIDNEXT "),
            any(text.startswith("[PERMANENTFLAGS") and "\\*" in text for text in texts),
        )

    async def search(self, criteria: str) -> list[int]:
        """UIDs of mails, in order."""
        told = await self.ask(f"UID SEARCH {criteria}")
        return sorted({int(one) for a in told if a.word == "SEARCH" for one in a.text.split() if one.isdigit()})

    async def by_message_id(self, message_id: str) -> list[int]:
        """UIDs of mails with this Message-ID, in the mailbox that is open."""
        return await self.search(f"HEADER Message-ID {_quoted(message_id).decode()}")

    async def fetch(self, uid: int, items: str) -> dict[str, Value]:
        """Tell what the server knows of a mail; empty when it is gone."""
        told = await self.ask(f"UID FETCH {uid} ({items})", within=self._settings.waits.transfer)
        for answer in told:
            if answer.word == "FETCH":
                (found,) = values(answer.rest)[:1] or [None]
                if (named := pairs(found)).get("UID") == str(uid):
                    return named
        return {}

    async def flag(self, uid: int | str, flags: str) -> None:
        """Flag a mail, or several: their UIDs with commas between."""
        await self.ask(f"UID STORE {uid} +FLAGS.SILENT ({flags})")

    async def move(self, uid: int, to: str) -> None:
        """Errors: Refused when there is no such mailbox, or the server may not."""
        if "MOVE" in self._can:
            await self.ask(f"UID MOVE {uid} {_quoted(to).decode()}")
            return
        await self.ask(f"UID COPY {uid} {_quoted(to).decode()}")
        await self.flag(uid, "\\Deleted")
        if "UIDPLUS" in self._can:
            await self.ask(f"UID EXPUNGE {uid}")

    async def folders(self) -> dict[str, str]:
        """Mailboxes of special uses, by these: `\\sent`, `\\all`, `\\junk`, … (RFC 6154)."""
        made: dict[str, str] = {}
        for answer in await self.ask('LIST "" "*"'):
            if answer.word == "LIST" and len(found := values(answer.rest)) == 3:
                flags, _, name = found
                words = {str(one).lower() for one in flags} if isinstance(flags, list) else set()
                made |= dict.fromkeys(words, name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name))
        return made

    # ------------------------------------------------------------------------------------------------------ news

    @property
    def idles(self) -> bool:
        return "IDLE" in self._can

    async def wait_for_news(self) -> None:
        """Return when something may have come. Errors: Away, also for a connection on which nothing is answered."""
        waits = self._settings.waits
        if self.news:
            return
        if not self.idles:
            await asyncio.sleep(self._settings.poll.total_seconds())
            await self.ask("NOOP")
            self.news = True
            return
        self._count += 1
        tag = f"S{self._count}"
        self._writer.write(f"{tag} IDLE\r\n".encode())
        try:
            async with asyncio.timeout(waits.idle.total_seconds()):
                while not self.news:
                    answer = await self._read()
                    if answer.word == "BYE":
                        raise Away(f"{self._name} ends the connection: {answer.text[:200]}")
                    self._note(answer)
        except TimeoutError:
            pass  # nothing came; that it can still come is asked now
        async with asyncio.timeout(waits.answer.total_seconds()):
            self._writer.write(b"DONE\r\n")
            while (answer := await self._read()).tag != tag:
                self._note(answer)


def _number_in(texts: Sequence[str], mark: str) -> int:
    for text in texts:
        if text.startswith(mark) and (number := text.removeprefix(mark).partition("]")[0]).isdigit():
            return int(number)
    return 0


def _quoted(text: str) -> bytes:
    """`text` as a quoted string. Errors: Refused for what none can hold."""
    if any(character in text for character in "\r\n\0"):
        raise Refused("a name with a line break")
    return b'"' + text.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8") + b'"'

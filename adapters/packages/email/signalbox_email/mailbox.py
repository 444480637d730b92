"""Listens to a mailbox: each new mail is handed in once, in order, and marked only after it was taken in.

The mailbox itself keeps the position: a mail that was taken in, or of which nothing comes, gets a flag of ours and `\\Seen`.
So a kill, a move to another server and a change of UIDVALIDITY lose nothing: what has no flag is handed in, and the store
knows by its Message-ID whether it had it already. Mail that was there long before us is left alone: only what came since
the last mail that the store knows (less a margin), or within a day before the first start, counts as new.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from signalbox.channels import CONNECTED, ChannelError, Connection, ConnectionStatus, Places, Signal, Sink, StoreError
from signalbox_email.errors import Deaf, Denied, MailError, Refused
from signalbox_email.ids import EMAIL, digest
from signalbox_email.imap import Box, Imap
from signalbox_email.imap_wire import Value
from signalbox_email.incoming.intake import Dropped, Taken, taken_from, too_large
from signalbox_email.incoming.loops import Bounce, Pace, bounce_of
from signalbox_email.incoming.parse import Mail, header, mail_of
from signalbox_email.lookups import Lookups
from signalbox_email.outgoing.letters import Parent
from signalbox_email.settings import EmailSettings

log = structlog.get_logger("email")

TAKEN_FLAG: Final = "SignalboxTaken"
"""Our flag. Source for its form: RFC 3501, 2.3.2: keywords are names that don't begin with a backslash."""
BEFORE_FIRST: Final = timedelta(days=1)
SINCE_MARGIN: Final = timedelta(days=14)
"""Other things are heard of in an account while its mailbox is away; and a search knows days, by the server's clock."""
READ_AT_ONCE: Final = 64 * 1024
"""Bytes of a mail; a longer one is read beside the loop, so that nobody else waits for it."""
AT_ONCE: Final = 500
"""Mails that one command names."""
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE_TIME: Final = re.compile(
    r"(?P<day>\d{1,2})-(?P<month>[A-Z][a-z]{2})-(?P<year>\d{4}) (?P<time>\d\d:\d\d:\d\d) (?P<zone>[+-]\d{4})"
)


@dataclass(frozen=True, slots=True)
class Hands:
    """The receivers of mails: `finish` completes a signal, `hand_in` takes it in, `came_back` gets each bounce."""

    finish: Callable[[Taken], Awaitable[Signal | None]]
    hand_in: Callable[[Taken, Signal, Sink], Awaitable[None]]
    came_back: Callable[[Bounce], None]


class Listener:
    """One mailbox. `said` is told how its connection stands."""

    def __init__(
        self,
        settings: EmailSettings,
        places: Places,
        lookups: Lookups,
        hands: Hands,
        said: Callable[[ConnectionStatus], None],
        now: Callable[[], datetime],
    ) -> None:
        self._settings, self._places, self._lookups, self._hands = settings, places, lookups, hands
        self._said, self._now = said, now
        self._pace = Pace(settings.per_hour)

    async def run(self, sink: Sink) -> None:
        """Until cancelled: connect, take in, wait for more, and again after whatever went wrong."""
        failures, was_connected = 0, False
        while True:
            began = asyncio.get_running_loop().time()
            try:
                async with Imap.open(self._settings) as imap:
                    was_connected = True
                    await self._attend(imap, sink)
            except (MailError, StoreError, ChannelError) as error:
                if asyncio.get_running_loop().time() - began > self._settings.waits.idle.total_seconds():
                    failures = 0
                failures += 1
                self._said(self._standing(error, was_connected=was_connected))
                wait = (
                    self._settings.waits.refused if isinstance(error, Denied) else self._settings.waits.after(failures)
                )
                log.info("the mailbox is away", account=self._settings.account, reason=str(error), again_in=wait)
                await asyncio.sleep(wait.total_seconds())

    def _standing(self, error: Exception, *, was_connected: bool) -> ConnectionStatus:
        match error:
            case Denied():
                kind = Connection.REFUSED
            case Deaf() if was_connected:
                kind = Connection.DEAF
            case _:
                kind = Connection.RECONNECTING if was_connected else Connection.CONNECTING
        return ConnectionStatus(kind, f'account "{self._settings.account}": {error}')

    async def _attend(self, imap: Imap, sink: Sink) -> None:
        last = await self._places.last_heard(EMAIL, self._settings.identity)
        since = self._now() - BEFORE_FIRST if last is None else last - SINCE_MARGIN
        box = await imap.select(self._settings.inbox)
        if last is None:
            await self._leave_old(imap, box, since)
        self._said(CONNECTED)
        failures = 0
        while True:
            imap.news = False
            try:
                await self._take_all(imap, box, since, sink)
            except StoreError as error:
                failures += 1
                log.warning(
                    "a mail couldn't be taken in and stays new", account=self._settings.account, reason=str(error)
                )
                await asyncio.sleep(self._settings.waits.after(failures).total_seconds())
                imap.news = True
            else:
                failures = 0
            await imap.wait_for_news()

    async def _leave_old(self, imap: Imap, box: Box, since: datetime) -> None:
        """Mark what was there before us, so that no later start takes it for new."""
        old = await imap.search(f"{_new(box)} UNDELETED BEFORE {day_of(since)}")
        for at in range(0, len(old), AT_ONCE):
            await imap.flag(",".join(map(str, old[at : at + AT_ONCE])), _left(box))

    async def _take_all(self, imap: Imap, box: Box, since: datetime, sink: Sink) -> None:
        """All that is new, in order."""
        for uid in await imap.search(f"{_new(box)} UNDELETED SINCE {day_of(since - timedelta(days=1))}"):
            await self._take(imap, box, uid, since, sink)

    async def _take(self, imap: Imap, box: Box, uid: int, since: datetime, sink: Sink) -> None:
        told = await imap.fetch(uid, "UID INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER]")
        raw, size = told.get("BODY[HEADER]"), _number(told.get("RFC822.SIZE"))
        came = instant_of(told.get("INTERNALDATE")) or self._now()
        is_live = uid >= box.next_uid  # it came while we were connected: now, whatever the server's clock says
        if came < since and not is_live:
            await imap.flag(uid, _left(box))
            return
        is_large = size > self._settings.mail_most
        if not is_large:
            raw = (await imap.fetch(uid, "UID BODY.PEEK[]")).get("BODY[]")
        if not isinstance(raw, bytes):
            return  # somebody deleted it meanwhile
        found = _Found(box, uid, size if is_large else 0, self._now() if is_live else min(came, self._now()))
        try:
            await self._judge(imap, await self._read(raw, found), found, sink)
        except (StoreError, ChannelError, MailError):
            raise
        except Exception:
            # Tried again it would fail again, and keep all that comes behind it.
            log.exception("a mail can't be read and is left", account=self._settings.account, uid=uid)
            await imap.flag(uid, _left(box))

    async def _read(self, raw: bytes, found: _Found) -> Mail:
        """The mail, with its whole thread: some programs only name the mail that they answer. Errors: Retryable."""
        key = digest(raw) if found.size else ""
        mail = mail_of(raw, key=key) if len(raw) <= READ_AT_ONCE else await asyncio.to_thread(mail_of, raw, key=key)
        if not mail.parent or header(mail.head, "References"):
            return mail
        parent = await self._lookups.parent(mail.parent)
        return replace(mail, references=[*parent.references, parent.message_id]) if parent else mail

    async def _judge(self, imap: Imap, mail: Mail, found: _Found, sink: Sink) -> None:
        settings, box, uid = self._settings, found.box, found.uid
        if not found.size and (bounce := bounce_of(mail, settings.domain)):
            self._hands.came_back(bounce)
            made: Taken | Dropped = Dropped("it tells of a mail of ours that came back")
        elif found.size:
            made = too_large(mail, settings, found.size, at=found.at)
        else:
            made = taken_from(
                mail, settings, at=found.at, remote=lambda place: f"{box.validity} {uid} {place} {mail.message_id}"
            )
        if isinstance(made, Dropped) and made.own:
            await self._file(imap, box, uid)
            return
        if isinstance(made, Taken):
            made = await self._hand_in(mail, made, sink)
        if isinstance(made, Dropped):
            told = {"uid": uid, "sender": mail.sender[1], "reason": made.reason}
            log.info("nothing comes of a mail", account=settings.account, **told)
        await imap.flag(uid, _taken(box))

    async def _hand_in(self, mail: Mail, made: Taken, sink: Sink) -> Taken | Dropped:
        thread = (made.signal.address.room, made.signal.address.thread)
        if not self._pace.allows(thread, self._now()):
            return Dropped(
                f"its thread had {self._settings.per_hour} mails within an hour: two programs may be answering each other"
            )
        if mail.message_id:
            self._lookups.note(Parent(mail.message_id, tuple(mail.references), mail.subject))
        signal = await self._hands.finish(made)
        if signal is not None:
            await self._hands.hand_in(made, signal, sink)
        self._pace.note(thread, self._now())
        return made

    async def _file(self, imap: Imap, box: Box, uid: int) -> None:
        """A mail of our own: put where sent mail is. It must stay, since a look for it settles what is in doubt."""
        await imap.flag(uid, _taken(box))
        if folder := await self._lookups.sent_folder(imap):
            try:
                await imap.move(uid, folder)
            except Refused as error:
                log.info("a copy of a sent mail stays in the inbox", account=self._settings.account, reason=str(error))


@dataclass(frozen=True, slots=True)
class _Found:
    """The place of a mail, and when it came. `size` is 0 for one that was fetched as a whole."""

    box: Box
    uid: int
    size: int
    at: datetime


def _new(box: Box) -> str:
    """The search for mail that nobody is done with."""
    return f"UNKEYWORD {TAKEN_FLAG}" if box.keywords else "UNSEEN"


def _left(box: Box) -> str:
    """The flag of a mail that is left alone: for people it stays unread where it can."""
    return TAKEN_FLAG if box.keywords else "\\Seen"


def _taken(box: Box) -> str:
    """Flags of a mail that is done with."""
    return f"\\Seen {TAKEN_FLAG}" if box.keywords else "\\Seen"


def _number(told: Value) -> int:
    return int(told) if isinstance(told, str) and told.isdigit() and len(told) < 16 else 0


def day_of(at: datetime) -> str:
    """A date as IMAP writes it, in whatever language this machine speaks."""
    return f"{at.day}-{MONTHS[at.month - 1]}-{at.year}"


def instant_of(told: Value) -> datetime | None:
    """The time of an INTERNALDATE; None for one that says none."""
    found = DATE_TIME.fullmatch(told.decode("ascii", "replace").strip()) if isinstance(told, bytes) else None
    if found is None or found["month"] not in MONTHS:
        return None
    month = MONTHS.index(found["month"]) + 1
    try:
        return datetime.fromisoformat(
            f"{found['year']}-{month:02}-{int(found['day']):02}T{found['time']}{found['zone']}"
        ).astimezone(UTC)
    except ValueError:
        return None

"""One mailbox as an account: mails in by IMAP, mails out by SMTP."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from html import escape
from pathlib import Path
from typing import Final

import structlog

from signalbox.channels import (
    CONNECTED,
    AdapterContext,
    Address,
    Attempt,
    ChannelError,
    Choice,
    Clicked,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    FileRef,
    Part,
    Receipt,
    Rejected,
    Retryable,
    Settled,
    SettleResult,
    Shown,
    Signal,
    Sink,
    Wire,
    say,
)
from signalbox_email.errors import Denied, MailError, retryable
from signalbox_email.ids import EMAIL, digest, message_id, people_in
from signalbox_email.imap import Imap
from signalbox_email.incoming.intake import Taken
from signalbox_email.incoming.loops import Bounce
from signalbox_email.lookups import Lookups
from signalbox_email.mailbox import Hands, Listener
from signalbox_email.outgoing.letters import Letter, Parent, mail_bytes
from signalbox_email.outgoing.render import Body, render
from signalbox_email.outgoing.smtp import known, send
from signalbox_email.settings import EmailSettings

log = structlog.get_logger("email")

LISTENER: Final = "mailbox"
FORMS: Final = frozenset({Choice.ALWAYS, Choice.EDIT, Choice.WHY, Choice.TEXT})
"""Choices behind which platforms with buttons have a form."""
BOUNCED_MOST: Final = 1_000
ATTACHED_MOST: Final = 20 * 1024 * 1024
"""Bytes of a mail's files. Most servers take 25 MB, and a file in a mail is a third larger."""


class EmailAdapter:
    """Implements `ChannelAdapter`."""

    channel = EMAIL

    def __init__(self, settings: EmailSettings, given: AdapterContext) -> None:
        self.account, self.identity = settings.account, settings.identity
        self._settings, self._given = settings, given
        self._lookups = Lookups(settings)
        hands = Hands(self._finish, self._hand_in, self._came_back)
        self._listener = Listener(settings, given.places, self._lookups, hands, self._said, given.now)
        self._standing = ConnectionStatus(Connection.CONNECTING, f'account "{self.account}": not connected yet')
        self._attending = False
        self._bounced: OrderedDict[str, str] = OrderedDict()

    def features(self) -> Features:
        return Features(
            settles=True,
            fetch=self.fetch,
            listeners=self,
            ping=self.ping,
            reach=self.reach,
            title="E-mail",
            writing="Each answer is one mail, in which all of Markdown is drawn. It can't be changed once it is sent.",
        )

    # ------------------------------------------------------------------------------------------------- the way in

    def listeners(self) -> Sequence[str]:
        return [LISTENER]

    async def listen(self, sink: Sink) -> None:
        """Learn if the server lets us in; mail is taken in by the process that attends."""
        failures = 0
        while not self._attending and self._standing is not CONNECTED:
            try:
                async with Imap.open(self._settings):
                    pass
            except MailError as error:
                failures += 1
                kind = Connection.REFUSED if isinstance(error, Denied) else Connection.CONNECTING
                self._said(ConnectionStatus(kind, f'account "{self.account}": {error}'))
                waits = self._settings.waits
                await asyncio.sleep(
                    (waits.refused if isinstance(error, Denied) else waits.after(failures)).total_seconds()
                )
            else:
                if not self._attending:
                    self._said(CONNECTED)
        await asyncio.Event().wait()

    async def attend(self, listener: str, sink: Sink) -> None:
        self._attending = True
        try:
            await self._listener.run(sink)
        finally:
            self._attending = False
            self._said(CONNECTED)  # as far as it is ours: another process attends from now on

    def _said(self, standing: ConnectionStatus) -> None:
        self._standing = standing

    def standing(self) -> ConnectionStatus:
        return self._standing

    async def _finish(self, taken: Taken) -> Signal | None:
        """The signal, with the form filled in that stands behind a choice; None where somebody was told that there is none."""
        chosen, signal = taken.chosen, taken.signal
        if taken.is_doubtful:
            words = say(
                "I can't be sure which question you mean: nothing proves which mail yours answers. "
                "Write me the whole line from the card, with its code."
            )
            await self._tell(signal, words)
            return None
        if chosen is None or chosen.choice not in FORMS:
            return signal
        if chosen.choice is Choice.EDIT:  # with nothing changed it would be an approval
            await self._tell(signal, say("Arguments can't be changed by mail. Use the page or the command line."))
            return None
        form = await self._given.forms(chosen.approval, chosen.choice, signal.actor)
        if isinstance(form, str):
            await self._tell(signal, form)
            return None
        typed = {field.name: field.text for field in form.fields}
        if chosen.words:
            typed[form.fields[0].name] = chosen.words
        return replace(signal, body=Clicked(chosen.approval, chosen.choice, chosen.words, typed))

    async def _hand_in(self, taken: Taken, signal: Signal, sink: Sink) -> None:
        verdict = await sink(signal)
        if verdict.notice and isinstance(signal.body, Clicked):
            await self._tell(signal, verdict.notice)

    async def _tell(self, signal: Signal, words: str) -> None:
        """A word for the sender alone, best effort: what was decided is told by the room."""
        sender = signal.actor.partition(":")[2].lstrip("?")
        own_id = f"<signalbox-notice.{digest(signal.dedupe_key, words)[:20]}@{self._settings.domain}>"
        try:
            parent = await self._parent(signal.message_id) if signal.message_id else None
            letter = Letter(own_id, (sender,), self._given.now(), parent)
            mail = mail_bytes(Body(words, f"<p>{escape(words)}</p>"), letter, self._settings, lambda path: b"")
            await send(self._settings, [sender], mail, copy=False)
        except ChannelError as error:
            log.info("a word for a sender wasn't sent", account=self.account, reason=str(error))

    def _came_back(self, bounce: Bounce) -> None:
        log.warning(
            "a mail came back" if bounce.is_final else "a mail is late",
            account=self.account,
            part=bounce.part,
            delivery=bounce.part.rpartition(".")[0],
            recipient=bounce.recipient,
            reason=bounce.reason,
        )
        if bounce.is_final:
            self._bounced[bounce.recipient.lower()] = bounce.reason
            while len(self._bounced) > BOUNCED_MOST:
                self._bounced.popitem(last=False)

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        content = await self._lookups.file(file)
        if len(content) > most:
            raise Rejected(f"{file.name} is too large: {len(content):,} bytes, and {most:,} are allowed.")
        await asyncio.to_thread(into.write_bytes, content)

    # ------------------------------------------------------------------------------------------------ the way out

    def render(self, delivery: Delivery) -> list[Wire]:
        return render(delivery)

    async def show(self, part: Part) -> Receipt:
        to = people_in(part.address)
        body = Body.of(part.body)
        own_id = self._id_of(part, body)
        parent = await self._parent_of(part, body)
        letter = Letter(own_id, tuple(to), self._given.now(), parent, repeated=part.marked_as_repeat)
        mail = await asyncio.to_thread(self._written, part, body, letter)
        await send(self._settings, to, mail, copy=self._settings.copy)
        references = (*parent.references, parent.message_id) if parent else ()
        self._lookups.note(Parent(own_id, references, parent.subject if parent else body.subject))
        return Receipt(own_id)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        raise Rejected("a mail that is sent can't be changed")  # nor does `features` offer it

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """It is sent if the mailbox has it: the server takes a mail for all its recipients at once, and us among them."""
        own_id = self._id_of(part, Body.of(part.body))
        if await self._lookups.is_there(own_id):
            return Shown(Receipt(own_id))
        left = attempt.marked_at + self._settings.look_after - self._given.now()
        if left > timedelta():
            raise Retryable("the mail may still be on its way into the mailbox", retry_after=left)
        return SettleResult.ABSENT

    def _id_of(self, part: Part, body: Body) -> str:
        return message_id(part.id, body.approval, self._settings.domain)

    def _written(self, part: Part, body: Body, letter: Letter) -> bytes:
        left = ATTACHED_MOST

        def read(path: str) -> bytes:
            nonlocal left
            try:
                with self._given.workspaces.open(part.address, path) as file:
                    content = file.read(left + 1)
            except (OSError, ValueError) as error:
                raise Rejected(f"the file {path} can't be attached: {error}", form=True) from error
            left -= len(content)
            if left < 0:
                raise Rejected(f"the files are larger than {ATTACHED_MOST // 1024 // 1024} MB together", form=True)
            return content

        return mail_bytes(body, letter, self._settings, read)

    async def _parent_of(self, part: Part, body: Body) -> Parent | None:
        """The mail that this one answers: the one it was asked by, or the newest of its thread."""
        named = part.under or body.reply_to
        if not named and part.address.thread:
            named = await self._newest_in(part.address)
        return await self._parent(named) if named else None

    async def _parent(self, named: str) -> Parent:
        """As the mailbox knows it. Of one that is gone its id is known, which is enough to stand in its thread."""
        return await self._lookups.parent(named) or Parent(named)

    async def _newest_in(self, address: Address) -> str:
        since = self._given.now() - timedelta(days=90)
        seen = await self._given.places.seen(self.channel, self.identity, since)
        return max(((one.at, one.message_id) for one in seen if one.address == address), default=(None, ""))[1]

    # ------------------------------------------------------------------------------------------------ at the side

    async def reach(self, address: Address) -> str | None:
        try:
            for one in people_in(address):
                if one in self._bounced:
                    return f"There's no such address: mail for {one} came back ({self._bounced[one]})."
                if words := await known(self._settings, one):
                    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
        except Rejected as error:
            return str(error)
        except Retryable:
            return None  # it can't be asked now
        return None

    async def ping(self) -> None:
        try:
            async with Imap.open(self._settings):
                pass
        except Denied:
            return  # an answer, too
        except MailError as error:
            raise retryable(self.account, error) from error

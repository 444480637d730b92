"""Settles an uncertain part: read in the history, by the marker in its metadata.

What carries no marker, a stream that was just begun and the message of an upload, is told by what it can only be: ours,
unmarked, without a receipt, not older than the attempt, and with this file. Nothing else goes to the room meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from adapters.slack.bot_user import BotUser
from adapters.slack.errors import NO_THREAD, Refusal
from adapters.slack.outgoing.send import body_of, marked_as, thread_of
from adapters.slack.outgoing.uploads import Uploads
from adapters.slack.web import Web
from runtime.contract import Address, Attempt, Now, Part, Places, Receipt, Settled, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain

CLOCKS_APART: Final = timedelta(seconds=120)
"""How much before the attempt a look begins: clocks differ."""
DRIFT: Final = timedelta(seconds=5)
"""The same for what has no marker: Slack tells its time with each answer, to the second."""
SHARES_WITHIN: Final = timedelta(seconds=60)
"""A finished upload is shared later on; before that nobody can say that it is not."""
GIVE_UP: Final = timedelta(minutes=3)
"""A look that Slack will not let us make in time is no look: policy decides."""
SIGHTINGS: Final = 10_000  # markers remembered
PAGE_MAX_MESSAGES: Final = 200
PAGES: Final = 25  # of one look; a room in which more is said within minutes cannot be searched

Message = Mapping[str, Any]


class Settling:
    """Looks of one account. Every marker that a look passes is remembered, so one look may settle many parts."""

    def __init__(self, web: Web, uploads: Uploads, places: Places, now: Now) -> None:
        self._web = web
        self._uploads = uploads
        self._places = places
        self._now = now
        self._seen: OrderedDict[str, str] = OrderedDict()

    async def settle(self, part: Part, attempt: Attempt, me: BotUser) -> Settled:
        """Errors: Retryable, while it is worth waiting."""
        if (ts := self._seen.get(part.id)) is not None:
            return Shown(Receipt(ts))
        late = self._now() - attempt.marked_at > GIVE_UP
        try:
            return await self._looked(part, attempt, me)
        except (Retryable, Uncertain) as error:
            if late and isinstance(error, Retryable) and error.retry_after:
                return SettleResult.UNKNOWN
            raise Retryable(str(error), retry_after=getattr(error, "retry_after", None)) from error
        except Rejected:
            return SettleResult.UNKNOWN  # no scope, not in the room any more, thread gone

    async def _looked(self, part: Part, attempt: Attempt, me: BotUser) -> Settled:
        body = body_of(part)
        if (file_id := self._uploads.file_id(part.id)) and (
            shared := await self._uploads.shared(file_id, part.address.room, thread_of(part))
        ):
            return Shown(shared)
        candidates = await self._candidates(part, attempt, body, me)
        async for message in self._near(part, self._web.slack_since(attempt.marked_at - CLOCKS_APART)):
            self._note(message)
            if marked_as(message) == part.id or candidates(message):
                return Shown(Receipt(str(message["ts"])))
        if "file" in body and self._now() - attempt.marked_at < SHARES_WITHIN:
            raise Retryable("a file may appear up to a minute later")
        return SettleResult.ABSENT

    async def _candidates(
        self, part: Part, attempt: Attempt, body: Mapping[str, Any], me: BotUser
    ) -> Callable[[Message], bool]:
        """Test for a message without a marker: is it the one that `body` asked for?"""
        if "stream" not in body and "file" not in body:
            return lambda message: False
        receipts = frozenset(await self._places.receipts(part.address, attempt.marked_at - CLOCKS_APART))
        oldest = self._web.slack_time(attempt.marked_at - DRIFT)

        def is_it(message: Message) -> bool:
            ts = str(message["ts"])
            return _is_ours(message, me) and ts >= oldest and ts not in receipts and _looks_like(message, body)

        return is_it

    async def _near(self, part: Part, oldest: str) -> AsyncIterator[Message]:
        """Messages where it may be: under the message it belongs to, or in the room if that is gone. Errors: ChannelError."""
        try:
            async for message in self.messages(replace(part.address, thread=thread_of(part)), oldest):
                yield message
        except Refusal as error:
            if not part.under or error.code not in NO_THREAD:
                raise
            async for message in self.messages(part.address, oldest):
                yield message

    async def messages(self, address: Address, oldest: str) -> AsyncIterator[Message]:
        """Messages in the room, or in the thread, since `oldest`. Errors: ChannelError."""
        where = {"ts": address.thread} if address.thread else {}
        method = "conversations.replies" if where else "conversations.history"
        cursor: str | None = None
        for _ in range(PAGES):
            told = await self._web.call(
                method,
                channel=address.room,
                oldest=oldest,
                inclusive=True,
                limit=PAGE_MAX_MESSAGES,
                include_all_metadata=True,
                cursor=cursor,
                **where,
            )
            for message in told.get("messages") or ():
                yield message
            cursor = (told.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
        raise Rejected(f"more than {PAGES * PAGE_MAX_MESSAGES} messages since then")

    def _note(self, message: Message) -> None:
        part = marked_as(message)
        if part is not None:
            self._seen[part] = str(message["ts"])
            if len(self._seen) > SIGHTINGS:
                self._seen.popitem(last=False)


def _is_ours(message: Message, me: BotUser) -> bool:
    ours = message.get("user") == me.user or message.get("bot_id") == me.bot
    return ours and marked_as(message) is None


def _looks_like(message: Message, body: Mapping[str, Any]) -> bool:
    """A stream is a message without files; its words are not compared, since Slack writes them in its own way."""
    files = message.get("files") or ()
    if "file" not in body:
        return not files
    wanted = body["file"]
    return any(file.get("name") == wanted["name"] and file.get("size") == wanted["size"] for file in files)

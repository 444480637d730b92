"""Previews as native streams: text that grows in its message. What a stream holds is known only while it is surely known.

OPEN -append-> OPEN      each time what is new since the recorded offset
OPEN -anything uncertain-> UNSURE      an append may have been made: appending again could say it twice
OPEN | UNSURE -stop-> a message like any other, which chat.update then makes exactly what it should be
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from adapters.slack.errors import Refusal
from adapters.slack.web import Web, value
from runtime.contract import Address, Receipt
from runtime.errors import ChannelError, Rejected, Retryable

STREAMS_REMEMBERED: Final = 1_000  # streams remembered; a forgotten one is ended before it is edited
NOT_STREAMING: Final = "message_not_in_streaming_state"
STREAMING: Final = "streaming_state_conflict"
"""What chat.update says about a message that is still a stream."""

LastSpeaker = Callable[[str, str], str | None]


class Streams:
    """Streams of one account that this process began, by channel and timestamp, with the text each surely holds."""

    def __init__(self, web: Web, team: Callable[[], str], last_speaker: LastSpeaker) -> None:
        self._web = web
        self._team = team
        self._last_speaker = last_speaker
        self._open: OrderedDict[tuple[str, str], str] = OrderedDict()

    def recipient(self, address: Address) -> dict[str, Any] | None:
        """Recipient of a stream, as Slack wants to know it; None where none can begin: only in threads."""
        if not address.thread:
            return None
        if address.room.startswith("D"):
            return {}
        user = self._last_speaker(address.room, address.thread)
        return {"recipient_user_id": user, "recipient_team_id": self._team()} if user else None

    async def begin(self, address: Address, text: str, name: str = "") -> Receipt | None:
        """A stream with its first words, by an author of that `name`; None where Slack has none for us: then it is a message.

        Errors: Uncertain. Whatever is certainly not begun is a message instead.
        """
        recipient = self.recipient(address)
        if recipient is None:
            return None
        try:
            told = await self._web.call(
                "chat.startStream",
                channel=address.room,
                thread_ts=address.thread,
                markdown_text=text,
                username=name or None,
                **recipient,
            )
        except (Rejected, Retryable):
            return None
        ts = value(told, "ts")
        self._note(address.room, ts, text)
        return Receipt(ts)

    async def grow(self, room: str, ts: str, text: str) -> bool:
        """Append what is new, so that it says `text`; False where only an edit can make it say that.

        Errors: Retryable.
        """
        known = self._open.get((room, ts))
        if known is None or not text.startswith(known):
            return False
        if text == known:
            return True
        self._open.pop((room, ts))  # until it is known that the words arrived, they may or may not be there
        try:
            await self._web.call("chat.appendStream", channel=room, ts=ts, markdown_text=text[len(known) :])
        except Retryable:
            self._note(room, ts, known)
            raise
        except ChannelError:
            return False
        self._note(room, ts, text)
        return True

    async def end(self, room: str, ts: str) -> None:
        """From here on it is a message like any other. Errors: Retryable, Uncertain, Rejected."""
        self._open.pop((room, ts), None)
        try:
            await self._web.call("chat.stopStream", channel=room, ts=ts)
        except Refusal as error:
            if error.code != NOT_STREAMING:
                raise

    def is_open(self, room: str, ts: str) -> bool:
        return (room, ts) in self._open

    def _note(self, room: str, ts: str, text: str) -> None:
        self._open[room, ts] = text
        if len(self._open) > STREAMS_REMEMBERED:
            self._open.popitem(last=False)

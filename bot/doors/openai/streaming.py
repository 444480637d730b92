"""Streams to OpenAI's clients: an answer goes out while it is said, and ends as its rows tell it."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from aiohttp import web

from bot.doors.live.growing import Growing
from bot.doors.openai import answers, responses
from bot.doors.openai.reading import told_as_wished
from bot.doors.openai.told import Told
from bot.doors.streams import STILL_HERE, STREAM_BEAT, framed, sent

CHAT_DONE: Final = b"data: [DONE]\n\n"


class ChatListener:
    """Sends a chat completion as chunks. `text` is all that was sent by now."""

    beat_each: timedelta = STREAM_BEAT
    ends_at_questions: bool = True

    def __init__(self, response: web.StreamResponse, *, with_usage: bool) -> None:
        self._response = response
        self._with_usage = with_usage
        self._text: str | None = None
        self.is_wrong = False

    async def tell(self, growing: Growing) -> None:
        told, fault = told_as_wished(growing)
        self.is_wrong = bool(fault)
        if not fault:
            await self.send(told, is_end=growing.is_told)

    async def send(self, told: Told, *, is_end: bool) -> None:
        if told.wrong:
            await sent(self._response, framed([{"error": {"message": told.wrong, "type": "server_error"}}]))
            return
        chunks = []
        if self._text is None:
            self._text = ""
            chunks.append(answers.first_chunk(told))
        new = answers.growth(told, self._text, is_end=is_end)
        self._text += new
        chunks += answers.text_chunks(told, new)
        if is_end:
            chunks += answers.last_chunks(told, with_usage=self._with_usage)
        if chunks:
            await sent(self._response, framed(chunks) + (CHAT_DONE if is_end else b""))

    async def beat(self) -> None:
        await sent(self._response, STILL_HERE)


class ResponseListener:
    """Sends a response as events behind the number `after`."""

    beat_each: timedelta = STREAM_BEAT
    ends_at_questions: bool = True

    def __init__(self, response: web.StreamResponse, previous: str | None, *, after: int) -> None:
        self._response = response
        self._previous = previous
        self._last = after
        self.is_wrong = False

    async def tell(self, growing: Growing) -> None:
        told, fault = told_as_wished(growing)
        self.is_wrong = bool(fault)
        if not fault:
            await self.send(told, is_end=growing.is_told)

    async def send(self, told: Told, *, is_end: bool) -> None:
        made = responses.events(told, self._previous)
        new = list(responses.behind(made, self._last, is_last=told.found.state.is_over))
        if new:
            self._last = new[-1]["sequence_number"]
        if is_end and not told.found.state.is_over:
            new.append(responses.asks(told, self._previous, self._last))
        if new:
            await sent(self._response, framed(new, named=True))

    async def beat(self) -> None:
        await sent(self._response, STILL_HERE)


StreamListener = ChatListener | ResponseListener

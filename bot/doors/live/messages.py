"""The stream of one message: its state after each change, and the text that is being said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from json import dumps

from aiohttp import web

from bot.doors.live.growing import Growing
from bot.doors.streams import STILL_HERE, STREAM_BEAT, sent
from runtime.domain.programs.followed import Followed


class MessageListener:
    """Each event `message` is the whole message, so whoever connects again has missed nothing that lasts. Between them
    `progress` has the text that is being said; it has no number, since it doesn't last."""

    beat_each: timedelta = STREAM_BEAT
    ends_at_questions: bool = False

    def __init__(self, response: web.StreamResponse, told: Callable[[Followed], str]) -> None:
        self._response = response
        self._told = told
        self._last: Followed | None = None
        self._live = ""
        self._number = 0

    async def tell(self, growing: Growing) -> None:
        frames = []
        if growing.found != self._last:
            self._last, self._number = growing.found, self._number + 1
            frames.append(f"id: {self._number}\nevent: message\ndata: {self._told(growing.found)}\n\n")
        if growing.live and growing.live != self._live:
            self._live = growing.live
            frames.append(f"event: progress\ndata: {dumps({'text': growing.live}, ensure_ascii=False)}\n\n")
        if frames:
            await sent(self._response, "".join(frames).encode())

    async def beat(self) -> None:
        await sent(self._response, STILL_HERE)

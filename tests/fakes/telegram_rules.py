"""Telegram's refusals, in its words: limits in UTF-16 units and bytes, entities, buttons and rates."""

from __future__ import annotations

import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Final

TEXT: Final = 4096  # UTF-16 units after entities
CAPTION: Final = 1024
BUTTON: Final = (1, 64)  # bytes of callback_data
DATE_FORM: Final = re.compile(r"r|w?[dD]?[tT]?")
ENTITIES: Final = frozenset(
    [
        "mention",
        "hashtag",
        "cashtag",
        "bot_command",
        "url",
        "email",
        "phone_number",
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "date_time",
        "text_link",
        "text_mention",
        "custom_emoji",
    ]
)
ALONE: Final = frozenset({"code", "pre"})  # neither hold other entities nor are in one, but for a quote
QUOTES: Final = frozenset({"blockquote", "expandable_blockquote"})
LINKS: Final = ("http://", "https://", "tg://", "ton://")


class Refusal(Exception):
    """An answer other than 200."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    @property
    def answer(self) -> dict[str, Any]:
        answer = {"ok": False, "error_code": self.code, "description": self.description}
        return answer | ({"parameters": self.parameters} if self.parameters else {})


def bad(what: str, **parameters: Any) -> Refusal:
    return Refusal(400, f"Bad Request: {what}", **parameters)


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_text(text: str) -> str:
    """The text as it is kept: without white space around it."""
    if not any(c.isprintable() and not c.isspace() for c in text):
        raise bad("message text is empty")
    if units(text) > TEXT:
        raise bad("message is too long")
    return text


def check_caption(text: str) -> str:
    if units(text) > CAPTION:
        raise bad("message caption is too long")
    return text


def check_entities(text: str, entities: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Strict where the platform mends silently: what it would drop or move is refused here."""
    for entity in entities:
        _check_entity(text, entity)
    for one in entities:
        for other in entities:
            if one is not other:
                _check_pair(one, other)
    return [dict(entity) for entity in entities]


def _check_entity(text: str, entity: Mapping[str, Any]) -> None:
    start, length, kind = entity.get("offset"), entity.get("length"), entity.get("type")
    if kind not in ENTITIES:
        raise bad(f"can't parse entities: unsupported type {kind}")
    if kind == "date_time" and not (
        isinstance(entity.get("unix_time"), int) and DATE_FORM.fullmatch(entity["date_time_format"])
    ):
        raise bad("can't parse entities: a date_time needs its unix_time and a format")
    if not isinstance(start, int) or not isinstance(length, int) or start < 0 or length <= 0:
        raise bad("can't parse entities: offset and length must be positive")
    if start + length > units(text):
        raise bad("can't parse entities: an entity ends after the end of the text")
    raw = text.encode("utf-16-le", "surrogatepass")
    for edge in (start, start + length):
        if edge < units(text) and 0xDC00 <= int.from_bytes(raw[2 * edge : 2 * edge + 2], "little") < 0xE000:
            raise bad("can't parse entities: entity begins or ends in a middle of a UTF-16 symbol")
    if kind == "text_link" and not str(entity.get("url", "")).startswith(LINKS):
        raise bad("can't parse entities: unsupported URL protocol")


def _check_pair(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    start, end = one["offset"], one["offset"] + one["length"]
    begin, stop = other["offset"], other["offset"] + other["length"]
    if not (start < stop and begin < end):
        return
    inside = (start <= begin and stop <= end) or (begin <= start and end <= stop)
    kinds = {one["type"], other["type"]}
    if not inside:
        raise bad("can't parse entities: entities overlap")
    if kinds & ALONE and not kinds & QUOTES:
        raise bad("can't parse entities: code can't be part of another entity")
    if one["type"] in QUOTES and other["type"] in QUOTES:
        raise bad("can't parse entities: quotes can't be nested")


def check_markup(markup: Any) -> list[list[dict[str, str]]]:
    """The rows of an inline keyboard; none where there is none, or an answer is asked for."""
    if not markup or markup.get("force_reply") is True:
        return []
    rows = markup.get("inline_keyboard")
    if not isinstance(rows, list):
        raise bad("object expected as reply markup")
    return [[_check_button(button) for button in row] for row in rows if row]


def _check_button(button: Mapping[str, Any]) -> dict[str, str]:
    text, data = str(button.get("text", "")), str(button.get("callback_data", ""))
    if not text:
        raise bad("inline keyboard button text must be non-empty")
    if not BUTTON[0] <= len(data.encode()) <= BUTTON[1]:
        raise bad("BUTTON_DATA_INVALID")
    return {"text": text, "callback_data": data}


BURST: Final = 3  # messages to a chat at once; a place comes back each second


@dataclass(slots=True)
class Limits:
    """30 a second in all, 1 a second in a chat with a burst of 3, 20 a minute in a group: when `on`."""

    on: bool = False
    now: Callable[[], float] = time.monotonic
    _all: deque[float] = field(default_factory=deque)
    _chats: dict[int, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _full_at: dict[int, float] = field(default_factory=dict)

    def take(self, chat: int) -> None:
        """Errors: Refusal 429 with the wait."""
        if not self.on:
            return
        now = self.now()
        full_at = max(self._full_at.get(chat, now), now) + 1.0
        if full_at - now > BURST + 1e-6:
            raise too_many(full_at - now - BURST)
        windows = [(self._all, 30, 1.0)]
        if chat < 0:
            windows.append((self._chats[chat], 20, 60.0))
        for times, most, seconds in windows:
            _within(times, most, seconds, now)
        self._full_at[chat] = full_at
        self._all.append(now)
        self._chats[chat].append(now)


def too_many(seconds: float) -> Refusal:
    wait = max(1, ceil(round(seconds, 3)))
    return Refusal(429, f"Too Many Requests: retry after {wait}", retry_after=wait)


def _within(times: deque[float], most: int, seconds: float, now: float) -> None:
    while times and now - times[0] > 60.0:
        times.popleft()
    recent = [at for at in times if now - at < seconds]
    if len(recent) >= most:
        raise too_many(seconds - (now - recent[0]))

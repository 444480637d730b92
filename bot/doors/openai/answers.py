"""Answers in the forms of OpenAI's chat completions, whole and as a stream. Pure.

Source: platform.openai.com/docs/api-reference (chat), read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bot.doors.openai.told import RESPONSE_ID, Told
from runtime.domain.programs.followed import Followed

CHAT_ID: Final = "chatcmpl-"
DELTA_CHARS: Final = 40
"""Characters of a piece of a stream: pieces are the same however often they are sent."""
ANEW: Final = "\n\n(The answer was begun anew:)\n\n"
"""Before the whole answer, where it turned out to be another than the one that was being said."""
Event = dict[str, Any]


def ours(found: Followed) -> Event:
    """Our own facts, beside those that clients know."""
    questions = [{"id": one.id, "tool": one.tool, "kind": one.kind} for one in found.questions]
    return {"id": RESPONSE_ID + found.id, "state": found.state.value, "questions": questions, "error": found.error}


def completion(told: Told) -> Event:
    message: Event = {"role": "assistant", "content": told.words or None, "refusal": None}
    if told.calls:
        message["tool_calls"] = _calls(told)
    return {
        "id": CHAT_ID + told.found.id,
        "object": "chat.completion",
        "created": int(told.found.at.timestamp()),
        "model": told.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(told), "logprobs": None}],
        "usage": chat_usage(told.found),
        "signalbox": ours(told.found),
    }


def chat_usage(found: Followed) -> Event:
    total = found.input_tokens + found.output_tokens
    return {"prompt_tokens": found.input_tokens, "completion_tokens": found.output_tokens, "total_tokens": total}


def first_chunk(told: Told) -> Event:
    return _chunk(told, {"role": "assistant", "content": ""})


def growth(told: Told, sent: str, *, is_end: bool) -> str:
    """Text to send behind `sent`. Words that were sent can't be taken back: another answer comes whole, at its end."""
    words = told.words if is_end else told.words_so_far
    if words.startswith(sent):
        return words[len(sent) :]
    return ANEW + words if is_end else ""


def text_chunks(told: Told, text: str) -> Iterator[Event]:
    return (_chunk(told, {"content": piece}) for piece in pieces(text))


def last_chunks(told: Told, *, with_usage: bool) -> Iterator[Event]:
    """The end of a stream, once nothing more is waited for."""
    if told.calls:
        calls = [{"index": number, **call} for number, call in enumerate(_calls(told))]
        yield _chunk(told, {"tool_calls": calls})
    yield {**_chunk(told, {}, _finish(told)), "signalbox": ours(told.found)}
    if with_usage:
        yield {**_chunk(told, {}), "choices": [], "usage": chat_usage(told.found)}


def _calls(told: Told) -> list[Event]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in told.calls
    ]


def _finish(told: Told) -> str:
    return "tool_calls" if told.calls else "stop"


def _chunk(told: Told, delta: Event, finish: str | None = None) -> Event:
    return {
        "id": CHAT_ID + told.found.id,
        "object": "chat.completion.chunk",
        "created": int(told.found.at.timestamp()),
        "model": told.model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
    }


def pieces(text: str) -> list[str]:
    """`text` in pieces of at most `DELTA_CHARS`, cut at spaces where there are any. All but the last stay as text grows.

    >>> pieces("ab " * 100) == pieces("ab " * 100) and "".join(pieces("ab " * 100)) == "ab " * 100
    True
    """
    cut: list[str] = []
    start = 0
    while len(text) - start > DELTA_CHARS:
        at = text.rfind(" ", start + 1, start + DELTA_CHARS) + 1 or start + DELTA_CHARS
        cut.append(text[start:at])
        start = at
    return [*cut, text[start:]] if start < len(text) else cut

"""Answers in the forms of OpenAI's clients. Pure: the same message gives the same answer and the same events, on any node.

Source: platform.openai.com/docs/api-reference (chat, responses), read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from runtime.domain.programs.followed import Followed, FollowState

CHAT_ID: Final = "chatcmpl-"
RESPONSE_ID: Final = "resp_"
ITEM_ID: Final = "msg_"
DELTA_CHARS: Final = 200
"""Characters of a piece of a stream: pieces are the same however often they are sent."""
STATUSES: Final = {
    FollowState.QUEUED: "queued",
    FollowState.WORKING: "in_progress",
    FollowState.ASKING: "in_progress",
    FollowState.DONE: "completed",
    FollowState.FAILED: "failed",
    FollowState.STOPPED: "cancelled",
    FollowState.REFUSED: "failed",
    FollowState.KEPT: "completed",
}
ASKS: Final = (
    "I've asked people whether I may go on ({tools}), and this answer waits for them. "
    "It stays fetchable: GET /v1/responses/{id} has it once they answered."
)
WORKS_ON: Final = "I'm still working on this. The answer stays fetchable: GET /v1/responses/{id}."
Event = dict[str, Any]


def words_now(found: Followed) -> str:
    """The answer, or words about where it is."""
    if found.state.is_over:
        return found.text
    name = RESPONSE_ID + found.id
    if found.questions:
        return ASKS.format(tools=", ".join(sorted({one.tool or one.kind for one in found.questions})), id=name)
    return WORKS_ON.format(id=name)


def ours(found: Followed) -> Event:
    """Our own facts, beside those that clients know."""
    questions = [{"id": one.id, "tool": one.tool, "kind": one.kind} for one in found.questions]
    return {"id": RESPONSE_ID + found.id, "state": found.state.value, "questions": questions, "error": found.error}


# -------------------------------------------------------------------------------------------------- chat completions


def completion(found: Followed, model: str) -> Event:
    message = {"role": "assistant", "content": words_now(found), "refusal": None}
    return {
        "id": CHAT_ID + found.id,
        "object": "chat.completion",
        "created": int(found.at.timestamp()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": chat_usage(found),
        "signalbox": ours(found),
    }


def chat_usage(found: Followed) -> Event:
    total = found.input_tokens + found.output_tokens
    return {"prompt_tokens": found.input_tokens, "completion_tokens": found.output_tokens, "total_tokens": total}


def first_chunk(found: Followed, model: str) -> Event:
    return _chunk(found, model, {"role": "assistant", "content": ""})


def chunks(found: Followed, model: str, *, with_usage: bool) -> Iterator[Event]:
    """The rest of a stream, once nothing more is waited for."""
    for piece in pieces(words_now(found)):
        yield _chunk(found, model, {"content": piece})
    yield {**_chunk(found, model, {}, "stop"), "signalbox": ours(found)}
    if with_usage:
        yield {**_chunk(found, model, {}), "choices": [], "usage": chat_usage(found)}


def _chunk(found: Followed, model: str, delta: Event, finish: str | None = None) -> Event:
    return {
        "id": CHAT_ID + found.id,
        "object": "chat.completion.chunk",
        "created": int(found.at.timestamp()),
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
    }


def pieces(text: str) -> list[str]:
    """`text` in pieces of at most `DELTA_CHARS`, cut at spaces where there are any.

    >>> pieces("ab " * 100) == pieces("ab " * 100) and "".join(pieces("ab " * 100)) == "ab " * 100
    True
    """
    cut: list[str] = []
    while len(text) > DELTA_CHARS:
        at = text.rfind(" ", 1, DELTA_CHARS) + 1 or DELTA_CHARS
        cut.append(text[:at])
        text = text[at:]
    return [*cut, text] if text else cut


# --------------------------------------------------------------------------------------------------------- responses


def response(found: Followed, model: str, previous: str | None = None, *, background: bool = False) -> Event:
    status = STATUSES[found.state]
    told = found.state.is_over or (bool(found.questions) and not background)
    failed = {"code": "server_error", "message": found.error or found.text or "It failed."}
    return {
        "id": RESPONSE_ID + found.id,
        "object": "response",
        "created_at": int(found.at.timestamp()),
        "completed_at": int(found.ended_at.timestamp()) if found.ended_at else None,
        "status": status,
        "background": background,
        "error": failed if status == "failed" else None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [item(found)] if told else [],
        "parallel_tool_calls": False,
        "previous_response_id": previous,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": response_usage(found) if found.state.is_over else None,
        "signalbox": ours(found),
    }


def item(found: Followed, status: str = "") -> Event:
    is_whole = found.state.is_over
    content = [{"type": "output_text", "text": words_now(found), "annotations": [], "logprobs": []}]
    return {
        "id": ITEM_ID + found.id,
        "type": "message",
        "role": "assistant",
        "status": status or ("completed" if is_whole else "in_progress"),
        "content": [] if status == "in_progress" else content,
    }


def response_usage(found: Followed) -> Event:
    return {
        "input_tokens": found.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": found.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": found.input_tokens + found.output_tokens,
    }


def opening(found: Followed, model: str, previous: str | None) -> list[Event]:
    """The first two events: the same whenever they are sent, so they tell nothing that changes."""
    begun = {**response(found, model, previous), "status": "in_progress", "output": [], "usage": None, "error": None}
    begun |= {"completed_at": None, "signalbox": {"id": begun["id"]}}
    return [
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.in_progress", "sequence_number": 1, "response": begun},
    ]


def closing(found: Followed, model: str, previous: str | None) -> list[Event]:
    """The events behind the opening. Of one that asks people there is one more, under the number of the last: the next
    stream behind that number has the whole answer."""
    whole = response(found, model, previous)
    if not found.state.is_over:
        asks = {**whole, "status": "incomplete", "incomplete_details": {"reason": "waits_for_people"}}
        return [{"type": "response.incomplete", "sequence_number": 1, "response": asks}]
    if whole["status"] == "failed":
        return [{"type": "response.failed", "sequence_number": 2, "response": whole}]
    place = {"item_id": ITEM_ID + found.id, "output_index": 0}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    said = [
        {"type": "response.output_text.delta", **place, "content_index": 0, "delta": piece, "logprobs": []}
        for piece in pieces(found.text)
    ]
    end = "response.completed" if whole["status"] == "completed" else "response.incomplete"
    events: Sequence[Event] = [
        {"type": "response.output_item.added", "output_index": 0, "item": item(found, "in_progress")},
        {"type": "response.content_part.added", **place, "content_index": 0, "part": part},
        *said,
        {"type": "response.output_text.done", **place, "content_index": 0, "text": found.text, "logprobs": []},
        {"type": "response.content_part.done", **place, "content_index": 0, "part": {**part, "text": found.text}},
        {"type": "response.output_item.done", "output_index": 0, "item": item(found)},
        {"type": end, "response": whole},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events, 2)]

"""Answers in the forms of OpenAI's responses, whole and as numbered events. Pure: rows give the same events on any node.

An event's number holds where it stands and a sum over the text before it. So whoever goes on behind a number gets the
rest of the same text; and where a text became another one, which happens while it is being said, the sums differ.

Source: platform.openai.com/docs/api-reference (responses), read 2026-11.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Final

from bot.doors.openai.answers import Event, ours, pieces
from bot.doors.openai.told import RESPONSE_ID, Told, words_of_state
from runtime.domain.programs.followed import Followed, FollowState

ITEM_ID: Final = "msg_"
CALL_ITEM_ID: Final = "fc_"
NUMBER_STEP: Final = 10_000
"""Numbers from one event to the next, behind the first two; the sum over the text is below that."""
UNUSED_PARAMETERS: Final[Event] = {
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "top_logprobs": 0,
    "reasoning": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": True,
    "service_tier": "default",
    "safety_identifier": None,
    "prompt_cache_key": None,
}
"""Parameters that an agent's settings decide. Open Responses requires them in each response; these are OpenAI's defaults."""
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
ENDS: Final = {"completed": "response.completed", "failed": "response.failed"}


def response(told: Told, previous: str | None = None, *, background: bool = False) -> Event:
    found, status = told.found, STATUSES[told.found.state]
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
        "model": told.model,
        "output": _output(told, with_state=bool(found.questions) and not background),
        "parallel_tool_calls": True,
        "previous_response_id": previous,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "truncation": "disabled",
        **UNUSED_PARAMETERS,
        "usage": response_usage(found) if found.state.is_over else None,
        "signalbox": ours(found),
    }


def _output(told: Told, *, with_state: bool) -> list[Event]:
    """Items of an answer: each text that was said, then calls; of one that waits also words about that."""
    texts = told.texts + ((words_of_state(told.found),) if with_state and not told.found.state.is_over else ())
    items = [_item(told.found, number, text) for number, text in enumerate(texts)]
    return [*items, *(_call_item(told, number) for number in range(len(told.calls)))]


def _item(found: Followed, number: int, text: str, status: str = "completed") -> Event:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {
        "id": _item_id(found, number),
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [] if status == "in_progress" else content,
    }


def _item_id(found: Followed, number: int) -> str:
    return f"{ITEM_ID}{found.id}" + (f"_{number}" if number else "")


def _call_item(told: Told, number: int, *, is_begun: bool = False) -> Event:
    call = told.calls[number]
    return {
        "id": CALL_ITEM_ID + call.id,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": "" if is_begun else call.arguments,
        "status": "in_progress" if is_begun else "completed",
    }


def response_usage(found: Followed) -> Event:
    return {
        "input_tokens": found.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": found.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": found.input_tokens + found.output_tokens,
    }


# ------------------------------------------------------------------------------------------------------------ events


def events(told: Told, previous: str | None) -> list[Event]:
    """Every event so far. Of a text that is being said, those that stay as it grows."""
    made = _opening(told, previous)
    for number, text in enumerate(told.texts):
        made += _text_events(told.found, number, text)
    if told.live:
        made += _begun(told.found, len(told.texts), pieces(told.live)[:-1])
    if told.found.state.is_over:
        whole = response(told, previous)
        for number in range(len(told.calls)):
            made += _call_events(told, number)
        made.append({"type": ENDS.get(whole["status"], "response.incomplete"), "response": whole})
    return _numbered(made)


def behind(made: Sequence[Event], last: int, *, is_last: bool) -> Sequence[Event]:
    """Events of `made` behind the number `last`. Where the text before it is another one by now: all again, behind
    `response.created`; the first of them, `response.in_progress`, tells that the text begins anew."""
    if last < 0:
        return made
    place = last if last <= 1 else last // NUMBER_STEP + 1
    if place < len(made):
        return made[place + 1 :] if made[place]["sequence_number"] == last else made[1:]
    return made[1:] if is_last else ()


def asks(told: Told, previous: str | None, last: int) -> Event:
    """The end of a stream while people are asked, under the number of the last event: the next stream behind that number
    has the rest."""
    whole = response(told, previous)
    waits = {**whole, "status": "incomplete", "incomplete_details": {"reason": "waits_for_people"}}
    return {"type": "response.incomplete", "sequence_number": last, "response": waits}


def _opening(told: Told, previous: str | None) -> list[Event]:
    """The first two events: the same whenever they are sent, so they tell nothing that changes."""
    begun = {**response(told, previous), "status": "in_progress", "output": [], "usage": None, "error": None}
    begun |= {"completed_at": None, "signalbox": {"id": begun["id"]}}
    return [{"type": "response.created", "response": begun}, {"type": "response.in_progress", "response": begun}]


def _begun(found: Followed, number: int, said: Iterable[str]) -> list[Event]:
    place = {"item_id": _item_id(found, number), "output_index": number, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    return [
        {"type": "response.output_item.added", "output_index": number, "item": _item(found, number, "", "in_progress")},
        {"type": "response.content_part.added", **place, "part": part},
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in said),
    ]


def _text_events(found: Followed, number: int, text: str) -> list[Event]:
    item = _item(found, number, text)
    place = {"item_id": item["id"], "output_index": number, "content_index": 0}
    return [
        *_begun(found, number, pieces(text)),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": item["content"][0]},
        {"type": "response.output_item.done", "output_index": number, "item": item},
    ]


def _call_events(told: Told, number: int) -> list[Event]:
    index, item = len(told.texts) + number, _call_item(told, number)
    place = {"item_id": item["id"], "output_index": index}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": _call_item(told, number, is_begun=True)},
        {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]},
        {
            "type": "response.function_call_arguments.done",
            **place,
            "name": item["name"],
            "arguments": item["arguments"],
        },
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _numbered(made: Iterable[Event]) -> list[Event]:
    total, numbered = 0, []
    for place, event in enumerate(made):
        total = zlib.crc32(str(event.get("delta", "")).encode(), total)
        number = place if place <= 1 else (place - 1) * NUMBER_STEP + total % NUMBER_STEP
        numbered.append({**event, "sequence_number": number})
    return numbered

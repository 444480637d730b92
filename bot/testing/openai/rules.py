"""Rules of the strictest providers for a chat completions request."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

Message = Mapping[str, Any]

FUNCTION_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
IMAGE: Final = re.compile(r"data:(?P<kind>image/(?:png|jpeg|gif|webp));base64,(?P<data>.+)")
BEGINS: Final = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}


def refusal(request: Mapping[str, Any]) -> str | None:
    """The reason `request` is refused; None if it is accepted."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one is needed"
    return (
        next(filter(None, map(_message_fault, messages)), None)
        or _order_fault([message for message in messages if message["role"] != "system"])
        or _pairing_fault(messages)
        or next(filter(None, (_name_fault(tool["function"]) for tool in request.get("tools", ()))), None)
    )


def _message_fault(message: Message) -> str | None:
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if role not in ("system", "user", "assistant", "tool"):
        return f"role {role!r} is unknown"
    if calls is not None and (role != "assistant" or not calls):
        return "tool_calls: at least one, and of the assistant alone"
    if isinstance(content, list) and role == "user":
        return next(filter(None, map(_part_fault, content)), None) if content else "the content is an empty list"
    if not (isinstance(content, str) and content.strip()) and not (calls and content is None):
        return f"the content of a {role} message is empty"
    return next(filter(None, map(_call_fault, calls or ())), None)


def _part_fault(part: Message) -> str | None:
    """One of several things that a user shows: text, or an image whose bytes are what its type says."""
    match part:
        case {"type": "text", "text": str(text)} if text.strip():
            return None
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return None if image_of(url) else "an image is not what its type says"
        case _:
            return f"a part of the type {part.get('type')!r} is unknown or empty"


def image_of(url: str) -> tuple[str, bytes] | None:
    """The type and the bytes of an image in a data URL; None where it is none, or another."""
    found = IMAGE.fullmatch(url)
    try:
        data = b64decode(found["data"], validate=True) if found else b""
    except ValueError:
        return None
    return (found["kind"], data) if found and data.startswith(BEGINS[found["kind"]]) and len(data) <= 5 << 20 else None


def _call_fault(call: Message) -> str | None:
    if not call.get("id") or call.get("type") != "function":
        return "a tool call needs an id and the type function"
    try:
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            return "the arguments of a tool call are no JSON object"
    except ValueError:
        return "the arguments of a tool call are no JSON"
    return _name_fault(call["function"])


def _name_fault(function: Message) -> str | None:
    return None if FUNCTION_NAME.fullmatch(function["name"]) else f"{function['name']!r} is no name of a function"


def _order_fault(messages: Sequence[Message]) -> str | None:
    roles = [message["role"] for message in messages]
    if not roles or roles[0] != "user":
        return "a user speaks first"
    if roles[-1] == "assistant":
        return "the last message is the assistant's: nothing to answer"
    doubled = [a for a, b in pairwise(roles) if a == b and a != "tool"]
    return f"two {doubled[0]} messages in a row" if doubled else None


def _pairing_fault(messages: Sequence[Message]) -> str | None:
    """Every call has exactly one result, right behind its message."""
    due: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in due:
                return "a message of the role tool must follow the call it answers"
            due.remove(message["tool_call_id"])
            continue
        if due:
            break
        due = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(due)) < len(due) or seen & set(due):
            return "two tool calls have one id"
        seen.update(due)
    return f"these tool calls have no result: {', '.join(due)}" if due else None

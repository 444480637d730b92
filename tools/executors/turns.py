"""Lines of an executor: the turn that a program is asked for, and what it says until the turn's end. Pure.

-> {"type": "turn", "id": 7, "messages": [...], "tools": [...], ...}
<- {"id": 7, "type": "text", "text": "Let me "}   also thought, call, alive
<- {"id": 7, "type": "end"}                       or failed
-> {"type": "cancel", "id": 7}                    where nobody waits for it any more
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.contract import (
    AssistantTurn,
    Call,
    ModelReply,
    ModelRequest,
    Reasoning,
    ToolSpec,
    ToolTurn,
    Turn,
    Usage,
    UserTurn,
)
from tools.kit.keys import key_of

VERSION: Final = 1
CALLS_MAX: Final = 64
"""Of one turn."""
TOOL_NAME_MAX_CHARS: Final = 200
FAILED_REASON_MAX_CHARS: Final = 2_000
TOKENS_MAX: Final = 10**12
DOLLARS_MAX: Final = 1e6
MICROS_OF_A_DOLLAR: Final = 1_000_000
ID_CHARS: Final = 12


class TurnFault(Exception):
    """A line that means nothing; the message says why, for whoever writes the program."""


def turn_line(request: ModelRequest, agent: str, number: int, attempt: int) -> str:
    """The question. All that the program needs stands in it, so that it need not remember anything."""
    return json.dumps(
        {
            "type": "turn",
            "version": VERSION,
            "id": number,
            "attempt": attempt,
            "agent": agent,
            "room": request.room,
            "run": request.step.partition("/")[0],
            "step": request.step,
            "work": request.work.value,
            "system": request.system,
            "working": request.working,
            "messages": [_message(turn) for turn in request.turns],
            "tools": [] if request.words_only else [_tool(spec) for spec in request.tools],
        },
        ensure_ascii=False,
        default=dict,  # schemas are mappings that read themselves late
    )


def cancel_line(number: int) -> str:
    return json.dumps({"type": "cancel", "id": number})


def _message(turn: Turn) -> Mapping[str, Any]:
    match turn:
        case UserTurn():
            files = [
                {"path": file.path, "name": file.name, "type": file.mime, "bytes": file.size} for file in turn.files
            ]
            told = {"role": "user", "text": turn.text, "author": turn.author}
            return told | ({"files": files} if files else {}) | ({"overheard": True} if turn.overheard else {})
        case AssistantTurn():
            return {"role": "assistant", "text": turn.text, "calls": [_called(call) for call in turn.calls]}
        case ToolTurn():
            return {"role": "tool", "call": turn.call_id, "tool": turn.tool, "text": turn.text}


def _called(call: Call) -> Mapping[str, Any]:
    return {"id": call.id, "tool": call.tool, "arguments": parsed(call.arguments)}


def parsed(arguments: str) -> Any:
    """Arguments of a call; as they are where a model wrote no JSON."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _tool(spec: ToolSpec) -> Mapping[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "schema": spec.schema,
        "effect": spec.effect.value,
    }


@dataclass(slots=True)
class SaidTurn:
    """Words and calls of a turn so far. `step` is the request's, from which its calls get their ids."""

    model: str
    step: str
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    usage: Usage | None = None
    failure: str | None = None
    is_over: bool = False

    def take(self, told: Mapping[str, Any]) -> None:
        """One more line. Errors: TurnFault."""
        match told.get("type"):
            case "text":
                self.pieces.append(_text(told, "text"))
            case "thought":
                self.thoughts.append(_text(told, "text"))
            case "call":
                self._call(told)
            case "alive":
                pass
            case "end":
                self._end(told)
            case "failed":
                self.failure, self.is_over = _text(told, "reason")[:FAILED_REASON_MAX_CHARS], True
            case _:
                raise TurnFault('its "type" is none of text, thought, call, alive, end and failed')

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def reply(self) -> ModelReply:
        thought = "".join(self.thoughts)
        return ModelReply(
            self.text,
            tuple(self.calls),
            self.usage or Usage(self.model),
            reasoning=Reasoning(thought, self.model) if thought else None,
        )

    def _end(self, told: Mapping[str, Any]) -> None:
        if "text" in told:
            self.pieces = [_text(told, "text")]
        calls = told.get("calls", [])
        if not isinstance(calls, list):
            raise TurnFault('its "calls" are no list')
        for call in calls:
            if not isinstance(call, Mapping):
                raise TurnFault("a call is no object")
            self._call(call)
        self.usage = _usage(self.model, told.get("usage"))
        self.is_over = True

    def _call(self, told: Mapping[str, Any]) -> None:
        tool, arguments = told.get("tool"), told.get("arguments", {})
        if not isinstance(tool, str) or not 0 < len(tool) <= TOOL_NAME_MAX_CHARS:
            raise TurnFault('a call needs the name of its "tool"')
        if not isinstance(arguments, Mapping):
            raise TurnFault('"arguments" of a call are no object')
        if len(self.calls) == CALLS_MAX:
            raise TurnFault(f"it has more than {CALLS_MAX} calls in one turn")
        self.calls.append(call_of(self.step, len(self.calls), tool, arguments))


def call_of(step: str, place: int, tool: str, arguments: Mapping[str, Any]) -> Call:
    """A call with an id of ours: the same one if the same turn is asked for again after a kill."""
    return Call(f"x{key_of(step, str(place))[:ID_CHARS]}", tool, json.dumps(arguments, ensure_ascii=False))


def _text(told: Mapping[str, Any], name: str) -> str:
    text = told.get(name)
    if not isinstance(text, str):
        raise TurnFault(f'its "{name}" is no text')
    return text


def _usage(model: str, told: Any) -> Usage:
    if told is None:
        return Usage(model)
    if not isinstance(told, Mapping):
        raise TurnFault('its "usage" is no object')
    cost = told.get("cost_usd", 0)
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= DOLLARS_MAX or math.isnan(cost):
        raise TurnFault(f'"cost_usd" of its usage is no number from 0 to {DOLLARS_MAX:g}')
    return Usage(model, _count(told, "input_tokens"), _count(told, "output_tokens"), round(cost * MICROS_OF_A_DOLLAR))


def _count(told: Mapping[str, Any], name: str) -> int:
    count = told.get(name, 0)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= TOKENS_MAX:
        raise TurnFault(f'"{name}" of its usage is no count')
    return count

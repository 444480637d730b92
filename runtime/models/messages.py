"""Turns as the messages of OpenAI's chat completions, in a form that the strictest providers accept. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from runtime.contract import AssistantTurn, Call, Json, ToolSpec, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import OURS, named
from runtime.models.images import NO_IMAGES

Message = dict[str, Any]

THOUGHT_BACK: Final = frozenset({"deepseek", "moonshot"})
"""Vendors that refuse a call's result without the text that was thought before the call. Source: their pages on thinking
with tools, read 2026-11. Anthropic's blocks tell it by their form.
"""

NO_OUTPUT: Final = "(no output)"
GO_ON: Final = f"{OURS}Calls that were waiting have their results now. Please go on."


def to_messages(
    system: str, turns: Sequence[Turn], images: Mapping[str, str] = NO_IMAGES, working: str = "", model: str = ""
) -> list[Message]:
    """`turns` for the wire. They are paired and unique already: `transcript.repair` sees to that.

    `images` are data URLs by the path of the file in a turn: see `images.pictures`.

    What several people said carries their names. Nothing is empty; arguments that are no JSON object are wrapped
    into one, since some providers parse what they once wrote; a conversation that ends with the assistant's own
    words (a call decided after others had spoken) gets a user's word to answer. `working` changes from request to
    request: it stands at the very end, so that all before it is what vendors have in their caches. What `model` itself
    thought goes back to it where its vendor demands that.
    """
    several = len({turn.author for turn in turns if isinstance(turn, UserTurn) and turn.author}) > 1
    messages = [_message(turn, several, images) for turn in turns]
    for at in in_loop(turns):
        messages[at] |= thought_back(turns[at], model)
    if messages and messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": GO_ON})
    if working:
        _add_last(messages, working)
    return [{"role": "system", "content": system}, *messages] if system.strip() else messages


def in_loop(turns: Sequence[Turn]) -> Iterator[int]:
    """Places of the model's turns since its last answer, the newest first: the loop of tool calls that it is in."""
    for at in range(len(turns) - 1, -1, -1):
        turn = turns[at]
        if isinstance(turn, AssistantTurn):
            if not turn.calls:
                return
            yield at


def thought_back(turn: Turn, model: str) -> Message:
    """The thinking of `turn` as its vendor demands it back in a loop of tool calls; empty where it does not."""
    found = turn.reasoning if isinstance(turn, AssistantTurn) else None
    if found is None or not model or found.model != model:
        return {}
    if found.blocks:
        return {"thinking_blocks": json.loads(found.blocks)}
    return {"reasoning_content": found.text} if model.partition("/")[0] in THOUGHT_BACK else {}


def _add_last(messages: list[Message], text: str) -> None:
    """Put `text` behind what is there: into the user's message where that is the last, since some providers want turns."""
    content = messages[-1]["content"] if messages and messages[-1]["role"] == "user" else None
    match content:
        case str():
            messages[-1]["content"] = f"{content}\n\n{text}"
        case list():
            content.append({"type": "text", "text": text})
        case _:
            messages.append({"role": "user", "content": text})


def to_tools(tools: Iterable[ToolSpec]) -> list[Message]:
    return [{"type": "function", "function": _function(tool)} for tool in tools]


class Offer:
    """Tools for the wire, made anew when they differ from the last request's, and the same list until then.

    Each model has an offer of its own. LiteLLM writes some vendors' wishes into what it is given: that is `own_tools`.
    """

    def __init__(self) -> None:
        self._tools: tuple[ToolSpec, ...] = ()
        self._made: list[Message] = []

    def of(self, tools: Iterable[ToolSpec]) -> list[Message]:
        """List of what `to_tools` tells."""
        wanted = tuple(tools)
        if wanted != self._tools:
            self._tools, self._made = wanted, deepcopy(to_tools(wanted))
        return self._made


def own_tools(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments of a call with tools that may be written into."""
    if "tools" not in arguments:
        return arguments
    return {**arguments, "tools": [{**tool, "function": dict(tool["function"])} for tool in arguments["tools"]]}


def tool_name(name: str) -> str:
    """`name` as providers accept it: letters, digits, `_` and `-`, at most 64."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown"


def _message(turn: Turn, several: bool, images: Mapping[str, str]) -> Message:
    match turn:
        case UserTurn():
            shown = [images[file.path] for file in turn.files if file.path in images]
            return {"role": "user", "content": _with_images(named(turn) if several else turn.text, shown)}
        case AssistantTurn(text, ()):
            return {"role": "assistant", "content": text}
        case AssistantTurn(text, calls):
            return {
                "role": "assistant",
                "content": text if text.strip() else None,
                "tool_calls": [_call(call) for call in calls],
            }
        case ToolTurn(call_id, _, text):
            return {"role": "tool", "tool_call_id": call_id, "content": text if text.strip() else NO_OUTPUT}


def _with_images(text: str, urls: Sequence[str]) -> str | list[Message]:
    """Plain text where there is nothing to look at: not every provider knows another form."""
    if not urls:
        return text
    shown: list[Message] = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [{"type": "text", "text": text}, *shown]


def _call(call: Call) -> Message:
    function = {"name": tool_name(call.tool), "arguments": _arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(written: str) -> str:
    try:
        whole = isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        whole = False
    return written if whole else json.dumps({"malformed": written}, ensure_ascii=False)


def _function(tool: ToolSpec) -> Mapping[str, Json]:
    """The function as it is sent; an empty list of what is required says nothing, and every word is paid for."""
    schema = {name: value for name, value in tool.schema.items() if value or name != "required"}
    return {"name": tool_name(tool.name), "description": tool.description, "parameters": schema}

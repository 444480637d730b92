"""Answers of a peer, of either version of A2A. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from runtime.text.outside import stripped

PEER_REASON_MAX_CHARS: Final = 500
PEER_ID_MAX_CHARS: Final = 200
ENDED_AT_PEER: Final = frozenset({"completed", "failed", "canceled", "rejected"})
ASKS_BACK: Final = frozenset({"input-required", "auth-required"})
STRANGE: Final = "The peer {name} answered something that is no answer of A2A."
GONE_CODES: Final = frozenset({-32001, -32002, -32004, -32601})
"""Of refusals to cancel: the task is unknown, or over; or the peer cancels none."""
REFUSED_BY_PEER: Final = "The peer {name} refused: {why}"


class PeerRefused(ToolFailed):
    """A peer answered that it won't; `code` is JSON-RPC's."""

    def __init__(self, text: str, code: object) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """A task as its peer tells it; an answer without a task has no `id` and is completed."""

    id: str
    context: str
    state: str
    text: str

    @property
    def is_over(self) -> bool:
        return self.state in ENDED_AT_PEER

    @property
    def asks(self) -> bool:
        return self.state in ASKS_BACK


def result_in(name: str, given: object) -> Mapping[str, Any]:
    """Result of a request. Errors: ToolFailed with the peer's reason."""
    if not isinstance(given, Mapping):
        raise ToolFailed(STRANGE.format(name=name))
    if isinstance(error := given.get("error"), Mapping):
        why = clip(" ".join(stripped(str(error.get("message"))).text.split()), PEER_REASON_MAX_CHARS)
        raise PeerRefused(REFUSED_BY_PEER.format(name=name, why=why), error.get("code"))
    if not isinstance(result := given.get("result"), Mapping):
        raise ToolFailed(STRANGE.format(name=name))
    return result


def answer_of(name: str, result: Mapping[str, Any]) -> PeerAnswer:
    """The task, or the message that is all there is. Errors: ToolFailed."""
    told = result.get("task") or result.get("message") or result
    if not isinstance(told, Mapping):
        raise ToolFailed(STRANGE.format(name=name))
    if "status" not in told:
        return PeerAnswer("", _id(told.get("contextId")), "completed", "\n\n".join(_texts(told.get("parts"))))
    status = told["status"] if isinstance(told["status"], Mapping) else {}
    state = str(status.get("state")).removeprefix("TASK_STATE_").lower().replace("_", "-")
    said = status.get("message")
    texts = [*_of_artifacts(told.get("artifacts")), *_texts(said.get("parts") if isinstance(said, Mapping) else None)]
    if not (ident := _id(told.get("id"))):
        raise ToolFailed(STRANGE.format(name=name))
    return PeerAnswer(ident, _id(told.get("contextId")), state, "\n\n".join(texts))


def _id(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= PEER_ID_MAX_CHARS else ""


def _of_artifacts(given: object) -> Iterator[str]:
    for one in given if isinstance(given, list) else ():
        if isinstance(one, Mapping):
            yield from _texts(one.get("parts"))


def _texts(parts: object) -> Iterator[str]:
    """Parts as texts that can be kept and sent on: half a letter of JSON's is none."""
    return (text.encode("utf-8", "replace").decode() for text in _as_sent(parts))


def _as_sent(parts: object) -> Iterator[str]:
    """A file is named, and not fetched."""
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, Mapping):
            continue
        if isinstance(text := part.get("text"), str):
            yield text
        elif "data" in part:
            yield json.dumps(part["data"], ensure_ascii=False)
        else:
            within = part.get("file")
            file = within if isinstance(within, Mapping) else part
            yield f"[file {file.get('name') or file.get('filename') or 'without a name'}, not fetched]"

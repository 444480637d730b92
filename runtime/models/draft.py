"""A reply of OpenAI's chat completions while it comes in, whole or in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runtime.contract import Call


@dataclass(slots=True)
class CallDraft:
    id: str = ""
    tool: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """Reply as far as it came. `finish` None: the model did not say that it was done. `usage` is the provider's count."""

    text: str = ""
    finish: str | None = None
    usage: Any = None
    _calls: list[CallDraft] = field(default_factory=list)
    _open: dict[int, CallDraft] = field(default_factory=dict)

    def add(self, delta: Any) -> bool:
        """Take one piece in; tells whether the text grew."""
        for piece in delta.tool_calls or ():
            self._add_call(piece)
        if not delta.content:
            return False
        self.text += delta.content
        return True

    def take(self, message: Any) -> None:
        """Take a whole message in."""
        self.text = message.content or ""
        for index, call in enumerate(message.tool_calls or ()):
            self._add_call(call, index)

    def _add_call(self, piece: Any, index: int | None = None) -> None:
        draft = self._call_at(piece.index if index is None else index, piece.id)
        draft.id = draft.id or piece.id or ""
        draft.tool = draft.tool or piece.function.name or ""
        draft.arguments.append(piece.function.arguments or "")

    def _call_at(self, index: int, call_id: str | None) -> CallDraft:
        """The call that a piece belongs to; some servers number every call 0, then a new id begins a new call."""
        draft = self._open.get(index)
        if draft is None or (call_id and draft.id and call_id != draft.id):
            draft = self._open[index] = CallDraft()
            self._calls.append(draft)
        return draft

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    def calls(self, taken: Iterable[str]) -> tuple[Call, ...]:
        """The calls, each with an id that is neither in `taken` nor another's."""
        given = set(taken)
        return tuple(self._named_calls(given))

    def _named_calls(self, given: set[str]) -> Iterator[Call]:
        for draft in self._calls:
            name, number = draft.id or "call_1", 2
            while name in given:
                name, number = f"{draft.id or 'call'}_{number}", number + 1
            given.add(name)
            yield Call(name, draft.tool, "".join(draft.arguments))

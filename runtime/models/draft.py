"""A reply of OpenAI's chat completions while it comes in, whole or in pieces, apart from what its model thought."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.contract import Call, Reasoning

OPENS: Final = "<think>"
CLOSES: Final = "</think>"
"""Marks around the thinking at the beginning of an answer, where a server of one's own leaves it there."""
UNOPENED: Final = re.compile(rf"(?:\A|\n)[ \t]*{CLOSES}[ \t]*\n")
UNOPENED_AT_END: Final = re.compile(rf"(?:\A|\n)[ \t]*{CLOSES}[ \t]*\n?\Z")
"""The closing mark on a line of its own: with some templates the opening one is part of the request, not of the answer."""

MARK_MARGIN_CHARS: Final = 16
"""Blanks and line ends around the mark that may come in a piece of their own."""


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
    _said: str = ""
    _is_plain: bool = False
    _thoughts: list[str] = field(default_factory=list)
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _calls: list[CallDraft] = field(default_factory=list)
    _open: dict[int, CallDraft] = field(default_factory=dict)

    def add(self, delta: Any) -> bool:
        """Take one piece in; tells whether the text grew."""
        for piece in delta.tool_calls or ():
            self._add_call(piece)
        self._think(delta)
        if not delta.content:
            return False
        before = len(self.text)
        self._say(delta.content)
        return len(self.text) > before

    def take(self, message: Any) -> None:
        """Take a whole message in."""
        self._think(message)
        self._say(message.content or "")
        self.end()
        for index, call in enumerate(message.tool_calls or ()):
            self._add_call(call, index)

    def end(self) -> None:
        """Nothing comes any more: what might have become a mark was none."""
        if not self._is_plain and OPENS not in self._said:
            self.text = self._said
        self._unthink(UNOPENED_AT_END)

    def reasoning(self, model: str) -> Reasoning | None:
        """The thinking of `model`, if it told any."""
        said = self._said.lstrip()
        marked = said[len(OPENS) :].partition(CLOSES)[0] if said.startswith(OPENS) else ""
        text = "".join([*self._thoughts, marked]).strip()
        blocks = json.dumps(self._blocks, ensure_ascii=False) if self._blocks else ""
        return Reasoning(text, model, blocks) if text or blocks else None

    def _say(self, more: str) -> None:
        """Take words in. Thinking that stands before them between marks is none of them."""
        if self._is_plain:
            self.text += more
            if CLOSES in self.text[-len(more) - len(CLOSES) - MARK_MARGIN_CHARS :]:
                self._unthink(UNOPENED)
            return
        self._said += more
        said = self._said.lstrip()
        if said.startswith(OPENS):
            self.text = said.partition(CLOSES)[2].lstrip()
        elif not OPENS.startswith(said):
            self._is_plain, self.text = True, self._said
            self._unthink(UNOPENED)

    def _unthink(self, close: re.Pattern[str]) -> None:
        """Take away the thinking before a closing mark that was never opened."""
        found = close.search(self.text)
        if found and OPENS not in self.text[: found.start()]:
            self._thoughts.append(self.text[: found.start()])
            self.text = self.text[found.end() :].lstrip()

    def _think(self, piece: Any) -> None:
        """Take thinking in: its text, and Anthropic's blocks, each of which a signature ends."""
        self._thoughts.append(getattr(piece, "reasoning_content", None) or "")
        for block in getattr(piece, "thinking_blocks", None) or ():
            last = self._blocks[-1] if self._blocks else {}
            if block["type"] != "thinking" or last.get("type") != "thinking" or last.get("signature"):
                self._blocks.append({name: value for name, value in dict(block).items() if name != "cache_control"})
                continue
            last["thinking"] += block.get("thinking") or ""
            last["signature"] = block.get("signature") or ""

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

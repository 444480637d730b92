"""Texts of the screen: what others wrote can't steer the terminal, turn lines round or hide letters. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.text import Text

from bot.operator.views import View
from bot.terminal.output import clean, word
from runtime.text.glyphs import clip, in_a_line, legible, visible

MESSAGE_MAX_CHARS: Final = 20_000
"""Of a message on the screen; `signalbox chat` and the page have all of it."""
LINE_MAX_CHARS: Final = 200
DECIDED_WORDS: Final[Mapping[str, str]] = {
    "approved": "Approved",
    "denied": "Denied",
    "expired": "Expired",
    "withdrawn": "Withdrawn",
    "void": "Withdrawn",
}


def shown(text: str) -> str:
    """Words of people and models, in lines."""
    return clean(legible(clip(text, MESSAGE_MAX_CHARS)))


def in_line(value: object, most: int = LINE_MAX_CHARS) -> str:
    """A value in a cell: one line, times by the local clock.

    >>> in_line("a\\u202eb")
    'a⟨U+202E⟩b'
    """
    return clip(word(visible(value) if isinstance(value, str) else value), most)


def entry_of(entry: View) -> RenderableType:
    """A message of a conversation, with its head."""
    if entry.get("author") == "summary":
        told = entry.get("summary", {})
        return Group(Text("Summary of what is above", style="bold"), Text(shown(str(told.get("text", "")))))
    if entry.get("author") == "person":
        head = f"{in_line(entry['name'])} · {in_line(entry['at'])}"
        return Group(Text(head, style="bold"), Text(shown(entry.get("text", ""))), *_files(entry))
    parts: list[RenderableType] = [Text(f"Signalbox · {in_line(entry['at'])}", style="bold")]
    parts += [Text(f"  ✓ {in_line(one['tool'])} {one['seconds']:.1f} s", style="dim") for one in entry.get("ran", ())]
    text = shown(str(entry.get("markdown", entry.get("text", ""))))
    parts.append(Markdown(text, hyperlinks=False) if text.strip() else Text(""))
    if any(button.get("choice") != "undo" for button in entry.get("buttons", ())):
        parts.append(Text("Waits for a decision: F2 has it.", style="bold"))
    return Group(*parts, *_files(entry))


def _files(entry: View) -> list[Text]:
    return [Text(f"  [{in_line(file['name'])}]") for file in entry.get("files", ())]


def pending_of(text: str, trouble: str) -> RenderableType:
    """A message that isn't sent yet."""
    return Group(Text(f"You · {trouble or 'sending'}", style="bold"), Text(shown(text)))


class Live:
    """Work of a conversation right now: tools, and the text so far."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}
        self._text = ""
        self._state = ""

    @property
    def is_on(self) -> bool:
        return bool(self._state or self._text or self._tools)

    def clear(self) -> None:
        self._tools.clear()
        self._text = self._state = ""

    def take(self, event: View) -> None:
        """An event of the room's wire."""
        kind = event.get("kind")
        if kind == "speaking":
            self._text, self._state = str(event["text"]), "writing"
        elif kind in ("working", "advancing"):
            line = f"{event['tool']} {event.get('arguments', '')}".strip()
            words = f": {event['words']}" if event.get("words") else ""
            self._tools[line] = f"{'✓' if event.get('ended') else '…'} {in_line(line)}{in_line(words) if words else ''}"
            self._text, self._state = "", "working"
        elif kind == "resting":
            self.clear()
        elif kind in ("thinking", "stopping"):
            self._state = str(kind)

    def drawn(self) -> RenderableType:
        lines: list[RenderableType] = [Text(f"Signalbox · {self._state or 'at work'} …", style="bold")]
        lines += [Text(f"  {line}", style="dim") for line in self._tools.values()]
        if self._text:
            lines.append(Text(shown(self._text)))
        return Group(*lines)


def question_of(row: View) -> RenderableType:
    """A question with its whole call and all that tells whether to allow it."""
    parts: list[RenderableType] = [Text(in_line(row["question"], 1_000), style="bold")]
    facts = {
        "Room": row["room"],
        "Asked by": row["requester"],
        "Effect": row["effect"],
        "Rule": row["rule"],
        "Why it asks": row["rule_reason"],
        "Asked": row["asked_at"],
        "Expires": row["expires_at"],
        "Votes": row["votes"],
        "Note": row["caution"],
    }
    parts += [Text(f"{name}: {in_line(value, 500)}") for name, value in facts.items() if value]
    parts += [Text(""), Text(clean(visible(row["call"])))]
    for one in row["asked_back"]:
        answer = one["answer"] or (f"No answer: {one['failed']}" if one["failed"] else "The agent is answering.")
        parts += [Text(f"\n{in_line(one['by'])} asked: {in_line(one['question'], 500)}"), Text(shown(answer))]
    if row["state"] == "pending":
        choices = ", ".join(in_line(label) for label in row["choices"].values())
        parts.append(Text(f"\nAnswers: {choices}"))
    else:
        parts.append(Text(f"\n{decided_of(row)}", style="bold"))
    return Group(*parts)


def decided_of(row: View) -> str:
    """The end of a question: its outcome, by whom, when and why."""
    head = DECIDED_WORDS.get(row["state"], str(row["state"]).capitalize())
    by = f" by {in_line(row['decided_by'])}" if row["decided_by"] else ""
    at = f", {in_line(row['decided_at'])}" if row["decided_at"] else ""
    why = f": {in_line(row['reason'])}" if row["reason"] else ""
    return f"{head}{by}{at}{why}"


def question_line(row: View, *, is_chosen: bool) -> str:
    mark = "[x] " if is_chosen else ""
    danger = "! " if row["effect"] == "danger" else ""
    if row["state"] == "pending":
        return f"{mark}{danger}{row['tool'] or row['kind']} {in_a_line(row['words'], 120)} · {row['room']}"
    return f"{decided_of(row)} · {row['tool'] or row['kind']} {in_a_line(row['words'], 60)}"


def facts_of(pairs: Sequence[tuple[str, Any]]) -> Text:
    return Text("\n".join(f"{name}: {in_line(value, 1_000)}" for name, value in pairs if value not in (None, "", [])))

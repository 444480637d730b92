"""A room as an editor is told of it: text that grows, tools at work, and the answer. Pure but for ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from acp import helpers, schema

from bot.operator.views import View
from runtime.contract import PlanStep, StepMark
from runtime.domain.agents.tasks import steps_in
from runtime.text.retold import retold

Update = Any
ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
TOOL_KINDS: Final[tuple[tuple[str, ToolKind], ...]] = (
    ("read", "read"),
    ("list", "read"),
    ("write", "edit"),
    ("edit", "edit"),
    ("search", "search"),
    ("find", "search"),
    ("http", "fetch"),
    ("web", "fetch"),
    ("shell", "execute"),
    ("run", "execute"),
)
PLAN_STATES: Final[Mapping[StepMark, Literal["pending", "in_progress", "completed"]]] = {
    StepMark.TODO: "pending",
    StepMark.DOING: "in_progress",
    StepMark.DONE: "completed",
}
CHOOSING_COMMANDS: Final = ("/agent ", "/model ")
GROWN_MAX_CHARS: Final = 49_000
"""Of a text that is told while it grows; of a longer one only the end is known meanwhile, and the rest comes with the answer."""
PARAGRAPH_BREAK: Final = "\n\n"


class Telling:
    """Turns progress and answers of one prompt into updates, so that nothing is told twice."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._shown = ""
        self._any_text = False
        self._tools = 0
        self._open: dict[str, tuple[str, str]] = {}
        self._asked: dict[str, tuple[str, str]] = {}
        self._denied: set[str] = set()

    def progress(self, event: View) -> Iterator[Update]:
        match event["kind"]:
            case "speaking":
                yield from self._grown(event["text"])
            case "working" if event.get("ended"):
                yield from self._ended(event["tool"], event["arguments"])
            case "working":
                yield self._begun(event["tool"], event["arguments"])
            case _:
                pass  # thinking and rest are seen anyway

    def answer(self, entry: View) -> Iterator[Update]:
        """The part of an entry of the agent that is new."""
        text = text_of(entry)
        if steps := steps_in(text):  # it stands between pieces of the answer, and is none
            yield plan_of(steps)
            return
        rest = self._rest(text)
        if rest:
            yield self._said(rest)
        self._shown = ""
        for file in entry.get("files", ()):
            yield self._said(f"\n\n[{file['name']}]")

    def question(self, approval: View) -> tuple[Update, schema.ToolCallUpdate]:
        """The call of a question, by the id of that: as it's told, and as it's asked about."""
        self._asked[approval["id"]] = (approval["tool"], approval["arguments"])
        content: list[Any] | None = (
            [helpers.tool_content(helpers.text_block(approval["shown"]))] if approval["shown"] else None
        )
        title = f"{approval['tool']}: {approval['words']}" if approval["tool"] else retold(approval["question"])
        told = {"kind": kind_of(approval["tool"]), "status": "pending", "raw_input": _parsed(approval["arguments"])}
        call = schema.ToolCallUpdate(tool_call_id=approval["id"], title=title, content=content, **told)
        return helpers.start_tool_call(approval["id"], title, content=content, **told), call

    def picked(self, approval: str, *, allowed: bool) -> None:
        """A button was picked; whether it counts is not known yet. The prompt may be over before that is heard."""
        if not allowed:
            self._denied.add(approval)

    def refused(self, approval: str) -> None:
        """The button didn't count."""
        self._denied.discard(approval)

    def settled(self, approval: str, *, allowed: bool) -> Iterator[Update]:
        """An answer to a question that was decided: one that was denied has failed."""
        if not allowed and approval in self._asked:
            del self._asked[approval]
            yield helpers.update_tool_call(approval, status="failed")

    def over(self) -> Iterator[Update]:
        """Calls whose end was not heard."""
        for call in [*self._open, *self._asked]:
            yield helpers.update_tool_call(call, status="failed" if call in self._denied else "completed")
        self._open.clear()
        self._asked.clear()

    def _grown(self, text: str) -> Iterator[Update]:
        if not text or text == self._shown or len(text) >= GROWN_MAX_CHARS:
            return
        if self._shown and text.startswith(self._shown):
            more, self._shown = text[len(self._shown) :], text
            yield self._said(more)
        else:
            self._shown = text
            yield self._said(f"{PARAGRAPH_BREAK}{text}" if self._any_text else text)

    def _rest(self, text: str) -> str:
        """The part of the answer that was not told while it was said."""
        if not self._shown.strip():
            return f"{PARAGRAPH_BREAK}{text}" if self._any_text and text else text
        for shown in (self._shown, self._shown.strip()):
            if (place := text.find(shown)) >= 0:
                return text[place + len(shown) :]
        return f"{PARAGRAPH_BREAK}{text}"

    def _said(self, text: str) -> Update:
        self._any_text = True
        return helpers.update_agent_message_text(text)

    def _begun(self, tool: str, arguments: str) -> Update:
        for approval, asked in self._asked.items():
            if asked[0] == tool:  # its question was answered with yes
                del self._asked[approval]
                self._open[approval] = (tool, arguments)
                return helpers.update_tool_call(approval, status="in_progress")
        self._tools += 1
        call = f"{self._prefix}-{self._tools}"
        self._open[call] = (tool, arguments)
        return helpers.start_tool_call(
            call, f"{tool} {arguments}"[:200], kind=kind_of(tool), status="in_progress", raw_input=_parsed(arguments)
        )

    def _ended(self, tool: str, arguments: str) -> Iterator[Update]:
        for call, known in self._open.items():
            if known == (tool, arguments):
                del self._open[call]
                yield helpers.update_tool_call(call, status="completed")
                return


def replayed(entries: list[View]) -> Iterator[Update]:
    """A conversation from its beginning, without the commands by which an editor chose something."""
    is_command = False
    for entry in entries:
        text = text_of(entry)
        is_ours = entry["author"] == "agent"
        is_answer = is_command and is_ours
        is_command = not is_ours and text.startswith(CHOOSING_COMMANDS)
        if not text or entry.get("kind") == "approval" or is_command or is_answer:
            continue
        if is_ours and (steps := steps_in(text)):
            yield plan_of(steps)
        else:
            yield helpers.update_agent_message_text(text) if is_ours else helpers.update_user_message_text(text)


def plan_of(steps: Sequence[PlanStep]) -> Update:
    """A checklist as the editor's plan, which takes the place of the one before."""
    return helpers.update_plan(helpers.plan_entry(step.text, status=PLAN_STATES[step.mark]) for step in steps)


def text_of(entry: View) -> str:
    return str(entry.get("markdown", entry.get("text", "")))


def kind_of(tool: str) -> ToolKind:
    return next((kind for word, kind in TOOL_KINDS if word in tool), "other")


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments

"""One question from a command line: what bounds it, and what is told of it as lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.node.invocation import as_called
from bot.operator.views import View
from bot.terminal.conversation import check_room
from runtime.errors import ConfigError

LINES_VERSION: Final = 1
"""Of the lines: a field more is no new version; a field that means something else, or is gone, is."""
PROMPT_BYTES_MAX: Final = 1 << 20
"""More than the longest message, so that its length is refused."""
INPUT: Final = "-"
OUTCOMES: Final = {0: "answered", 1: "failed", 2: "refused", 3: "waits", 4: "timed out", 130: "interrupted"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Bounds of a question. Without any of `model`, `tools` and `workspace` it is a question as others."""

    agent: str = ""
    model: str = ""
    tools: Sequence[str] = ()
    workspace: str = ""

    @property
    def is_bounded(self) -> bool:
        return bool(self.model or self.tools or self.workspace)

    def fields(self) -> dict[str, Any]:
        given = {"agent": self.agent, "model": self.model, "tools": list(self.tools), "workspace": self.workspace}
        return {name: value for name, value in given.items() if value}


@dataclass(slots=True)
class Lines:
    """Tells a question as lines of JSON, one object each; nothing where `on` is false. The last one is the result."""

    on: bool
    room: str = ""
    run: str = ""
    seen: int = 0
    words: list[str] = field(default_factory=list)

    def begun(self, room: str, message: str, bounds: View) -> None:
        self.room = room
        self._tell("begun", room=room, message=message, **{k: v for k, v in bounds.items() if k != "room"})

    def events(self, run: str, events: Sequence[View]) -> None:
        if run != self.run:
            self.run, self.seen = run, 0
        for one in events:
            if one["number"] > self.seen:
                self._tell("event", run=run, **one)
                self.seen = one["number"]

    def message(self, entry: View) -> None:
        self.words.append(entry["markdown"])
        self._tell("message", id=entry["id"], version=entry["version"], text=entry["markdown"])

    def question(self, one: View) -> None:
        command = "answer {id} ANSWER" if one["kind"] == "answer" else "approve {id}"
        self._tell(
            "question",
            id=one["id"],
            kind=one["kind"],
            text=one.get("words") if one["kind"] == "answer" else one["question"],
            tool=one.get("tool", ""),
            arguments=one.get("arguments", ""),
            choices=one.get("choices", {}),
            command=as_called("signalbox approvals " + command.format(id=one["id"])),
        )

    def result(self, code: int, error: str = "") -> None:
        self._tell(
            "result",
            outcome=OUTCOMES.get(code, "failed"),
            code=code,
            text="\n\n".join(self.words),
            room=self.room,
            run=self.run,
            error=error,
        )

    def _tell(self, word: str, /, **fields: Any) -> None:
        if self.on:
            sys.stdout.write(json.dumps({"v": LINES_VERSION, "type": word, **fields}) + "\n")
            sys.stdout.flush()


def words_of(text: str | None, file: str | None) -> str:
    """The question, from the command line, a file or standard input. Errors: ConfigError."""
    if (text is None) == (file is None):
        both = "TEXT and --prompt-file are both given" if text is not None else "There is no question"
        raise ConfigError(f"{both}. Write it as TEXT, or name a file with --prompt-file FILE, of which - is the input.")
    if INPUT in (text, file):
        raw = sys.stdin.buffer.read(PROMPT_BYTES_MAX)
    elif file is None:
        return text or ""
    else:
        try:
            with Path(file).open("rb") as opened:
                raw = opened.read(PROMPT_BYTES_MAX)
        except OSError as error:
            raise ConfigError(f"--prompt-file: {file} can't be read: {error.strerror}.") from None
    words = raw.decode("utf-8", "replace")
    if not words.strip():
        raise ConfigError(f"{'The input' if INPUT in (text, file) else f'--prompt-file: {file}'} is empty.")
    return words


def wanted_of(agent: str, model: str, tools: Sequence[str], workspace: Path | None, room: str) -> Wanted:
    """Bounds as they were typed. Errors: ConfigError for what is no room's name, or a room that has begun without them."""
    check_room(room)
    made = Wanted(agent, model, tools, str(workspace.expanduser().absolute()) if workspace else "")
    if made.is_bounded and room:
        raise ConfigError(
            "--model, --tools and --workspace hold for a whole conversation, from its first message. Leave out --room to begin a new one; "
            "one that was begun with them keeps them."
        )
    return made

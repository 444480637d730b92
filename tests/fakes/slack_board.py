"""The screen of the fake Slack and the acts of its people, kept in a journal that outlives the process.

The journal is a file of JSON lines, each written out before anyone is told of it:

    {"op": "shown", "channel": "C1", "ts": "1700000000.000100", "thread_ts": …, "user": "U0BOT", "text": …, "blocks": […]}
    {"op": "edited", "channel": "C1", "ts": "1700000000.000100", "text": …, "blocks": […]}
    {"op": "deleted", "channel": "C1", "ts": "1700000000.000100"}
    {"op": "event", "id": "Ev1", "kind": "events_api", "payload": {…}}
    {"op": "acked", "id": "Ev1"}
    {"op": "notice", "channel": "C1", "user": "U1", "text": "That question is already answered."}
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

Record = dict[str, Any]

RESPONSES: Final = 5
RESPONSES_FOR: Final = 30 * 60  # seconds
LONG_AGO: Final = "1700000000."
"""Begins timestamps of messages that nobody needs to say first."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message in a channel, ours (`bot_id` is set) or a person's. `version` counts its edits.

    `first` is its text and blocks when it first appeared. `streaming`: chat.startStream began it, nothing ended it.
    `username`: the author that an app gave it.
    """

    channel: str
    ts: str
    user: str
    team: str = "T1"
    text: str = ""
    thread_ts: str = ""
    bot_id: str = ""
    blocks: tuple[Any, ...] = ()
    metadata: Any = None
    files: tuple[str, ...] = ()
    edited: bool = False
    streaming: bool = False
    seen_after: float = 0.0
    version: int = 0
    first: Any = None
    username: str = ""
    reactions: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that Slack tells an app. `kind` is that of its envelope; `hook` where HTTP requests of it go."""

    id: str
    team: str
    kind: str
    payload: Any


@dataclass(slots=True)
class File:
    """An uploaded file. `shares` are (channel, thread_ts, ts); `data` is None until its bytes arrived."""

    id: str
    name: str
    size: int
    data: bytes | None = None
    title: str = ""
    mimetype: str = "application/octet-stream"
    user: str = ""
    shares: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Board:
    """The state of the workspaces; `journal` None keeps it in memory only."""

    journal: Path | None = None
    clock: Callable[[], float] = time.time
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    acked: dict[str, Any] = field(default_factory=dict)
    notices: list[Record] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    response_urls: dict[str, tuple[float, int]] = field(default_factory=dict)
    _last: int = 0
    _count: int = 0

    def __post_init__(self) -> None:
        for record in recorded(self.journal) if self.journal else ():
            self._apply(record)

    # ------------------------------------------------------------------------------------------------ messages

    def show(self, channel: str, user: str, **more: Any) -> Message:
        """A new message; `seen_after` is when the history has it."""
        made = Message(channel=channel, ts=self.next_ts(), user=user, **more)
        message = replace(made, first={"text": made.text, "blocks": list(made.blocks)})
        self._write({"op": "shown", **asdict(message)})
        return message

    def root(self, channel: str, ts: str) -> Message | None:
        """The message of that timestamp, for a thread to hang on. All of `LONG_AGO` were said by U1, in every channel."""
        if (channel, ts) not in self.messages and ts.startswith(LONG_AGO):
            self._write({"op": "shown", **asdict(Message(channel, ts, "U1", text="long ago"))})
        return self.messages.get((channel, ts))

    def edit(self, message: Message, **changes: Any) -> Message:
        self._write({"op": "edited", "channel": message.channel, "ts": message.ts, **changes})
        return self.messages[message.channel, message.ts]

    def delete(self, channel: str, ts: str) -> None:
        """Somebody who may takes it away."""
        self._write({"op": "deleted", "channel": channel, "ts": ts})

    def history(self, channel: str, *, thread_ts: str = "") -> Iterator[Message]:
        """Messages the history has by now, oldest first: the roots of `channel`, or a thread with its root."""
        now = self.clock()
        for message in self.messages.values():
            if message.channel != channel or message.seen_after > now:
                continue
            if message.root == thread_ts if thread_ts else message.root == message.ts:
                yield message

    def next_ts(self) -> str:
        """A timestamp that no other message has: seconds and microseconds, which only grow."""
        self._last = max(self._last + 1, int(self.clock() * 1_000_000))
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06}"

    # -------------------------------------------------------------------------------------------------- events

    def note(self, team: str, kind: str, payload: Mapping[str, Any], *, event_id: str | None = None) -> Event:
        """An event that is about to be told; its id is new unless named."""
        event = Event(event_id or self.next_id("Ev"), team, kind, dict(payload))
        self._write({"op": "event", **asdict(event)})
        return event

    def acknowledge(self, event_id: str, answer: Any) -> None:
        self._write({"op": "acked", "id": event_id, "answer": answer})

    def notice(self, channel: str, user: str, text: str, thread_ts: str = "", **more: Any) -> None:
        """Show a notice to one person alone; `more`: its `ts` and `blocks`, or the `ts` of one that it `replaces`."""
        self._write({"op": "notice", "channel": channel, "user": user, "text": text, "thread_ts": thread_ts, **more})

    def use_response_url(self, url_id: str) -> bool:
        """Count a use of a response URL; False if it is used up, too old or unknown."""
        made, uses = self.response_urls.get(url_id, (0.0, RESPONSES))
        if uses >= RESPONSES or self.clock() > made + RESPONSES_FOR:
            return False
        self.response_urls[url_id] = made, uses + 1
        return True

    def next_id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{os.getpid():X}{self._count:06}"

    # ------------------------------------------------------------------------------------------------- journal

    def _write(self, record: Record) -> None:
        if self.journal:
            with self.journal.open("ab") as file:  # closed, and so out of this process, before anyone is told
                file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        self._apply(record)

    def _apply(self, record: Record) -> None:
        rest = {name: value for name, value in record.items() if name != "op"}
        match record["op"]:
            case "shown":
                message = Message(**{**rest, "blocks": tuple(rest["blocks"]), "files": tuple(rest["files"])})
                self.messages[message.channel, message.ts] = message
            case "edited":
                key = rest.pop("channel"), rest.pop("ts")
                old = self.messages[key]
                self.messages[key] = replace(old, **rest, version=old.version + 1)
            case "deleted":
                del self.messages[rest["channel"], rest["ts"]]
            case "event":
                self.events[rest["id"]] = Event(**rest)
            case "acked":
                self.acked[rest["id"]] = rest["answer"]
            case "notice":
                self.notices.append(rest)
            case other:
                raise ValueError(f"{other!r} is not an operation of the journal")


def recorded(journal: Path) -> list[Record]:
    """Every whole record of `journal`. A last line torn by a kill is cut off: nobody was told of it."""
    if not journal.exists():
        return []
    whole, newline, torn = journal.read_bytes().rpartition(b"\n")
    if torn:
        os.truncate(journal, len(whole) + len(newline))
    return [json.loads(line) for line in whole.splitlines()]


def on_screen(journal: Path) -> list[Message]:
    """Our messages that people see by `journal`, in the order shown; for tests that killed the process."""
    return [message for message in Board(journal).messages.values() if message.bot_id]

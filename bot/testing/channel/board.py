"""The screen of the fake channel and the acts of its people, kept in a journal that outlives the process.

The journal is a file of JSON lines, each synced to the disk before anyone is told of it:

    {"op": "shown", "id": "r1-2", "room": "r1", "text": "hello", "buttons": [], "form": "rich", "key": …, "marker": …}
    {"op": "edited", "id": "r1-2", "text": "hello again", "buttons": [], "form": "rich"}
    {"op": "event", "seq": 1, "id": "e1", "type": "message", "room": "r1", "user": "ada", "text": "hi", …}
    {"op": "acked", "after": 1}
    {"op": "notice", "event": "e1", "text": "That question is already answered."}

Ids grow by one in each room, and what people say takes an id too, as on Telegram.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Body:
    """Look of a message: equal bodies cannot be told apart on screen."""

    text: str
    buttons: tuple[tuple[str, str, str], ...] = ()
    form: str = "rich"

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Body:
        """The body in a request or a record. Errors: KeyError or ValueError when it is none."""
        buttons = tuple((str(a), str(c), str(label)) for a, c, label in raw.get("buttons", ()))
        return cls(str(raw["text"]), buttons, str(raw.get("form", "rich")))


@dataclass(frozen=True, slots=True)
class Post:
    """A message of the bot on screen. `version` counts its edits."""

    id: str
    room: str
    body: Body
    key: str | None = None
    marker: str | None = None
    version: int = 0

    def to_record(self) -> Record:
        return {"id": self.id, "room": self.room, **asdict(self.body), "key": self.key, "marker": self.marker}


@dataclass(slots=True)
class Board:
    """The state of the channel; `journal` None keeps it in memory only."""

    journal: Path | None = None
    posts: dict[str, Post] = field(default_factory=dict)
    events: list[Record] = field(default_factory=list)
    notices: list[Record] = field(default_factory=list)
    acked: int = 0
    _last: Counter[str] = field(default_factory=Counter)
    _by_key: dict[str | None, str] = field(default_factory=dict)
    _seq: int = 0

    def __post_init__(self) -> None:
        for record in recorded(self.journal) if self.journal else ():
            self._apply(record)

    def post(self, room: str, body: Body, *, key: str | None = None, marker: str | None = None) -> Post:
        """Show a message; a `key` that was used before gives the earlier one."""
        if key in self._by_key:
            return self.posts[self._by_key[key]]
        post = Post(f"{room}-{self._last[room] + 1}", room, body, key, marker)
        self._write({"op": "shown", **post.to_record()})
        return post

    def edit(self, post_id: str, body: Body) -> Post | None:
        if post_id not in self.posts:
            return None
        self._write({"op": "edited", "id": post_id, **asdict(body)})
        return self.posts[post_id]

    def room(self, room: str) -> list[Post]:
        return [post for post in self.posts.values() if post.room == room]

    def is_given(self, message_id: str) -> bool:
        """True if a message of the bot or of a person has that id."""
        room, _, number = message_id.rpartition("-")
        return int(number) <= self._last[room]

    def inject(self, event: Mapping[str, Any]) -> Record:
        """Note what a person did. An `id` in `event` is kept, so that one event can be delivered twice."""
        seq = self._seq + 1
        record: Record = {
            "id": f"e{seq}",
            "type": "message",
            "room": "r1",
            "user": "ada",
            **event,
            "seq": seq,
        }
        if record["type"] == "message":
            record.setdefault("message_id", f"{record['room']}-{self._last[record['room']] + 1}")
        self._write({"op": "event", **record})
        return record

    def waiting(self) -> list[Record]:
        """Events nobody acknowledged yet, oldest first."""
        return [event for event in self.events if event["seq"] > self.acked]

    def acknowledge(self, after: int) -> None:
        if after > self.acked:
            self._write({"op": "acked", "after": after})

    def notice(self, event_id: str, text: str) -> None:
        self._write({"op": "notice", "event": event_id, "text": text})

    def _write(self, record: Record) -> None:
        if self.journal:
            append(self.journal, record)
        self._apply(record)

    def _apply(self, record: Record) -> None:
        match record["op"]:
            case "shown":
                post = Post(record["id"], record["room"], Body.of(record), record["key"], record["marker"])
                self.posts[post.id] = post
                self._last[post.room] += 1
                if post.key is not None:
                    self._by_key[post.key] = post.id
            case "edited":
                post = self.posts[record["id"]]
                self.posts[post.id] = replace(post, body=Body.of(record), version=post.version + 1)
            case "event":
                self.events.append({name: value for name, value in record.items() if name != "op"})
                self._seq = record["seq"]
                if record["type"] == "message":  # one that is delivered again has its id already
                    number = int(record["message_id"].rpartition("-")[2])
                    self._last[record["room"]] = max(self._last[record["room"]], number)
            case "acked":
                self.acked = record["after"]
            case "notice":
                self.notices.append({"event": record["event"], "text": record["text"]})
            case other:
                raise ValueError(f"{other!r} is not an operation of the journal")


def append(journal: Path, record: Record) -> None:
    """Add `record` and wait until the disk has it."""
    with journal.open("ab") as file:
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def recorded(journal: Path) -> list[Record]:
    """Every whole record of `journal`. A last line torn by a kill is cut off: nobody was told of it."""
    if not journal.exists():
        return []
    whole, newline, torn = journal.read_bytes().rpartition(b"\n")
    if torn:
        os.truncate(journal, len(whole) + len(newline))
    return [json.loads(line) for line in whole.splitlines()]


def on_screen(journal: Path) -> list[Post]:
    """Messages on screen according to `journal`, in the order shown; for tests that killed the process."""
    return list(Board(journal).posts.values())

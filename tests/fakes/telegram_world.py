"""Chats, messages and ids of the fake Telegram, kept in a journal of JSON lines that outlives the process.

Ids are as observed: private chats and basic groups share one counter of the bot's account, advanced by every message in
any of them; a supergroup counts by itself, also what a bot in privacy mode never sees.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bot.testing.channel.board import recorded
from tests.fakes.telegram_rules import Refusal, bad

Raw = dict[str, Any]
SUPERGROUPS: Final = -1_000_000_000_000
FIRST_UPDATE: Final = 7_000_000
FIRST_ACQUAINTED: Final = 1000
FIRST_OF_BOX: Final = 100
"""A bot's counter is never at its begin: what counts from 1 must not find anything by luck."""


@dataclass(slots=True)
class Chat:
    """`closed`: why the bot is out; `muted`: it may not write; `moved_to`: the supergroup that it became."""

    id: int
    title: str
    topics: set[int] = field(default_factory=set)
    closed: str = ""
    muted: bool = False
    moved_to: int = 0

    @property
    def type(self) -> str:
        if self.id > 0:
            return "private"
        return "supergroup" if self.id < SUPERGROUPS else "group"

    def told(self) -> Raw:
        named = {"first_name": self.title} if self.id > 0 else {"title": self.title}
        return {"id": self.id, "type": self.type, **named} | ({"is_forum": True} if self.topics else {})


@dataclass(slots=True)
class World:
    """The state. `bot` is the bot as a user; `journal` None keeps all in memory only.

    With `privacy` the bot sees of groups only what is for it. The bot is a member of so many chats that nobody spoke in
    yet as `acquainted` says: those whose numbers end in 001000 and above; and their topics are there from 1000 on.
    """

    bot: Raw
    journal: Path | None = None
    privacy: bool = False
    acquainted: int = 0
    chats: dict[int, Chat] = field(default_factory=dict)
    messages: dict[tuple[int, int], Raw] = field(default_factory=dict)
    shown: dict[tuple[int, int], Raw] = field(default_factory=dict)
    updates: list[Raw] = field(default_factory=list)
    told: dict[int, Raw] = field(default_factory=dict)
    queries: dict[str, Raw] = field(default_factory=dict)
    files: dict[str, Raw] = field(default_factory=dict)
    answers: list[Raw] = field(default_factory=list)
    webhook: Raw = field(default_factory=dict)
    commands: list[Raw] = field(default_factory=list)
    confirmed: int = FIRST_UPDATE
    _counters: dict[int, int] = field(default_factory=dict)
    _update: int = FIRST_UPDATE

    def __post_init__(self) -> None:
        for record in recorded(self.journal) if self.journal else ():
            self._apply(record)

    # ------------------------------------------------------------------------------------------------------ chats

    def chat(self, chat: int) -> Chat:
        """A chat that the bot knows. Errors: Refusal."""
        if chat not in self.chats and not self._is_acquainted(abs(chat) % 1_000_000):
            raise bad("chat not found")
        return self.ensure(chat)

    def _is_acquainted(self, number: int) -> bool:
        return FIRST_ACQUAINTED <= number < FIRST_ACQUAINTED + self.acquainted

    def open_chat(self, chat: int) -> Chat:
        """One that it may write to."""
        found = self.chat(chat)
        if found.moved_to:
            raise bad("group chat was upgraded to a supergroup chat", migrate_to_chat_id=found.moved_to)
        if found.closed:
            raise Refusal(403, f"Forbidden: {found.closed}")
        if found.muted:
            raise bad("not enough rights to send text messages to the chat")
        return found

    def topic(self, chat: Chat, thread: int | None) -> int | None:
        if thread is None or thread in chat.topics:
            return thread
        if chat.type == "private" or not self._is_acquainted(thread):
            raise bad("message thread not found")
        self.ensure(chat.id, thread=thread)
        return thread

    def ensure(self, chat: int, title: str = "", thread: int | None = None) -> Chat:
        known = self.chats.get(chat)
        if known is None or (thread and thread not in known.topics):
            self.write(
                {
                    "op": "chat",
                    "id": chat,
                    "title": title or (known.title if known else f"Chat {chat}"),
                    "topic": thread,
                }
            )
        return self.chats[chat]

    # --------------------------------------------------------------------------------------------------- messages

    def me(self) -> Raw:
        """The answer of `getMe`."""
        seen = {"can_join_groups": True, "can_read_all_group_messages": not self.privacy}
        return self.bot | seen | {"supports_inline_queries": False}

    def next_id(self, chat: int) -> int:
        space = self._space(chat)
        return self._counters.get(space, FIRST_OF_BOX if space == 0 else 0) + 1

    def _space(self, chat: int) -> int:
        return chat if chat < SUPERGROUPS else 0

    def ours(self, chat: int, number: int) -> Raw:
        """A message of the bot that may be edited. Errors: Refusal, as the platform says it."""
        message = self.messages.get((chat, number))
        if message is None:
            raise bad("message to edit not found")
        if message["from"]["id"] != self.bot["id"]:
            raise bad("message can't be edited")
        return message

    def message(self, chat: Chat, author: Raw, thread: int | None, **content: Any) -> Raw:
        message: Raw = {
            "message_id": self.next_id(chat.id),
            "from": author,
            "chat": chat.told(),
            "date": int(time.time()),
            **{name: value for name, value in content.items() if value not in (None, [], "")},
        }
        return message | ({"message_thread_id": thread, "is_topic_message": True} if thread else {})

    def post(self, message: Raw) -> Raw:
        self.write({"op": "posted", "message": message})
        return message

    def change(self, chat: int, number: int, **content: Any) -> Raw:
        self.write({"op": "changed", "chat": chat, "message_id": number, "content": content})
        return self.messages[chat, number]

    def update(self, kind: str, body: Raw, *, hidden: bool = False, **more: Any) -> Raw:
        """Something happened that the bot is told of; or, `hidden`, that only took an id."""
        update = {"update_id": self._update + 1, kind: body}
        self.write({"op": "hidden" if hidden else "update", "update": update, **more})
        return update

    def pending(self) -> Iterator[Raw]:
        return (update for update in self.updates if update["update_id"] >= self.confirmed)

    def confirm(self, below: int) -> None:
        if below > self.confirmed:
            self.write({"op": "confirmed", "below": below})

    # ------------------------------------------------------------------------------------------------- the journal

    def write(self, record: Mapping[str, Any]) -> None:
        if self.journal:
            with self.journal.open("ab") as file:  # a kill of the bot is what is tested: the disk need not have it yet
                file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        self._apply(record)

    def _apply(self, record: Mapping[str, Any]) -> None:
        getattr(self, f"_on_{record['op']}")(record)

    def _on_chat(self, record: Mapping[str, Any]) -> None:
        chat = self.chats.setdefault(record["id"], Chat(record["id"], record["title"]))
        chat.topics |= {record["topic"]} - {None}

    def _on_posted(self, record: Mapping[str, Any]) -> None:
        message = record["message"]
        self._take(message)
        self.shown[message["chat"]["id"], message["message_id"]] = {"version": 0, "first": message}

    def _on_changed(self, record: Mapping[str, Any]) -> None:
        key = record["chat"], record["message_id"]
        kept = {name: value for name, value in self.messages[key].items() if name not in record["content"]}
        new = {name: value for name, value in record["content"].items() if value not in (None, [], "")}
        self.messages[key] = {**kept, **new, "edit_date": int(time.time())}
        if key in self.shown:
            self.shown[key]["version"] += 1

    def _on_update(self, record: Mapping[str, Any]) -> None:
        update = record["update"]
        self._on_hidden(record)
        self._update = update["update_id"]
        self.told[self._update] = update
        self.updates.append(update)
        if (query := update.get("callback_query")) and not record.get("raw"):
            self.queries[query["id"]] = {"old": record.get("old", False)}

    def _on_hidden(self, record: Mapping[str, Any]) -> None:
        message = record["update"].get("message")
        if message and not record.get("raw"):
            self._take(message)

    def _on_confirmed(self, record: Mapping[str, Any]) -> None:
        self.confirmed = record["below"]
        self.updates = list(self.pending())

    def _on_moved(self, record: Mapping[str, Any]) -> None:
        self.chats[record["old"]].moved_to = record["new"]

    def _on_closed(self, record: Mapping[str, Any]) -> None:
        self.chats[record["chat"]].closed = record["why"]

    def _on_muted(self, record: Mapping[str, Any]) -> None:
        self.chats[record["chat"]].muted = record["muted"]

    def _on_deleted(self, record: Mapping[str, Any]) -> None:
        del self.messages[record["chat"], record["message_id"]]
        self.shown.pop((record["chat"], record["message_id"]), None)

    def _on_skipped(self, record: Mapping[str, Any]) -> None:
        self._counters[self._space(record["chat"])] = self.next_id(record["chat"]) + record["count"] - 1

    def _on_answered(self, record: Mapping[str, Any]) -> None:
        self.answers.append({name: record[name] for name in ("query", "text", "alert")})

    def _on_webhook(self, record: Mapping[str, Any]) -> None:
        self.webhook = record["webhook"]

    def _on_commands(self, record: Mapping[str, Any]) -> None:
        self.commands = record["commands"]

    def _on_file(self, record: Mapping[str, Any]) -> None:
        self.files[record["file"]["file_id"]] = record["file"]

    def _take(self, message: Raw) -> None:
        chat, number = message["chat"]["id"], message["message_id"]
        self.messages[chat, number] = message
        space = self._space(chat)
        self._counters[space] = max(self._counters.get(space, 0), number)

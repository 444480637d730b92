"""Acts of people on the fake Telegram, as a test asks for them by POST /inject.

    {"type": "message", "chat": 11, "user": 11, "text": "hi", "thread": 5, "reply_to": 101, "mention": true, "bot": false,
     "files": [{"name": "notes.txt", "content": "<base64>", "mime": "text/plain", "as": "document"}], "album": "a1"}
    {"type": "edit", "chat": 11, "message_id": 101, "text": "hello"}
    {"type": "click", "chat": 11, "message_id": 102, "user": 11, "data": "…", "old": false}
    {"type": "introduce", "chat": -100, "user": 11, "title": "Group", "thread": 5,
     "ago": 60}                                                                        the bot gets to know a chat
    {"type": "member", "chat": 11, "status": "kicked"}                                 blocked or kicked, or back
    {"type": "mute", "chat": -100}                                                     the bot may not write there
    {"type": "delete", "chat": 11, "message_id": 101}                                  nobody tells the bot of it
    {"type": "move", "chat": -100, "to": -1000000000100}                               a group becomes a supergroup
    {"type": "hidden", "chat": -1000000000001, "count": 3}                             ids taken that the bot never sees
    {"type": "again", "update_id": 7000001, "as": 7000009}                             told once more, perhaps renumbered
    {"type": "raw", "update": {…}}                                                     anything

An answer has `update_id` (0 where the bot is not told), `message_id` and `query`.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.telegram_words import marks
from tests.fakes.telegram_world import Chat, Raw, World

NAMES: Final = {11: "Ada", 12: "Bob"}


class People:
    """Does what a test asks, and calls `news`. `repeated`: updates that are told once more."""

    def __init__(self, world: World, news: Callable[[], None]) -> None:
        self._world = world
        self._news = news
        self.repeated: list[Raw] = []

    def do(self, raw: Raw) -> Raw:
        asked = {"user": 11, **raw}
        deed: Callable[[Raw], Raw] = getattr(self, f"_{asked.get('type', 'message')}")
        told = deed(asked)
        self._news()
        return told

    # ------------------------------------------------------------------------------------------------------- words

    def _message(self, raw: Raw) -> Raw:
        chat = self._world.ensure(raw["chat"], thread=raw.get("thread"))
        said = self._said(chat, raw)
        hidden = bool(chat.closed) or (self._world.privacy and chat.id < 0 and not self._is_for_us(said))
        if hidden and chat.type != "supergroup":
            return {"update_id": 0, "message_id": 0}  # what the bot does not get takes no id of its box
        update = self._world.update("message", said, hidden=hidden)
        return {"update_id": 0 if hidden else update["update_id"], "message_id": said["message_id"]}

    def _said(self, chat: Chat, raw: Raw) -> Raw:
        files = [self._file(file) for file in raw.get("files", ())]
        text = raw.get("text", "")
        if raw.get("mention"):
            text = f"@{self._world.bot['username']} {text}"
        name, spans = ("caption", "caption_entities") if files else ("text", "entities")
        content: Raw = {name: text, spans: marks(text), "media_group_id": raw.get("album"), **dict(files)}
        if raw.get("reply_to"):
            answered = self._world.messages[chat.id, raw["reply_to"]]
            content["reply_to_message"] = {k: v for k, v in answered.items() if k != "reply_to_message"}
        return self._world.message(
            chat, user(raw["user"], bot=raw.get("bot", False)), raw.get("thread"), **content, **raw.get("more", {})
        )

    def _file(self, raw: Raw) -> tuple[str, Any]:
        content = base64.b64decode(raw["content"])
        number = len(self._world.files) + 1
        file = {"file_id": f"file-{number}", "file_unique_id": f"u{number}", "file_size": raw.get("size", len(content))}
        self._world.write({"op": "file", "file": {**file, "path": f"documents/{number}", "content": raw["content"]}})
        kind = raw.get("as", "document")
        if kind == "photo":
            return kind, [{**file, "file_id": f"file-{number}", "width": 90 * n, "height": 90 * n} for n in (1, 2)]
        named = {"file_name": raw["name"]} if raw.get("name") and kind != "voice" else {}
        lasting = {"duration": 3} if kind in ("voice", "audio", "video") else {}
        seen = {"width": 1, "height": 1} if kind == "video" else {}
        return kind, {**file, **named, **lasting, **seen, "mime_type": raw.get("mime", "text/plain")}

    def _is_for_us(self, message: Raw) -> bool:
        text = message.get("text") or message.get("caption") or ""
        answered = message.get("reply_to_message", {}).get("from", {}).get("id") == self._world.bot["id"]
        return answered or text.startswith("/") or f"@{self._world.bot['username']}" in text

    def _edit(self, raw: Raw) -> Raw:
        key = raw["chat"], raw["message_id"]
        text = raw["text"]
        if raw.get("mention"):
            text = f"@{self._world.bot['username']} {text}"
        name, spans = (
            ("caption", "caption_entities") if "caption" in self._world.messages[key] else ("text", "entities")
        )
        edited = self._world.change(*key, **{name: text, spans: marks(text)})
        return {"update_id": self._world.update("edited_message", edited)["update_id"], "message_id": raw["message_id"]}

    def _click(self, raw: Raw) -> Raw:
        query = f"q{len(self._world.queries) + 1}"
        key = raw["chat"], raw["message_id"]
        message = self._world.messages.get(key) or {
            "chat": self._world.ensure(raw["chat"]).told(),
            "message_id": raw["message_id"],
            "date": 0,
        }
        body = {"id": query, "from": user(raw["user"]), "chat_instance": "1", "message": message, "data": raw["data"]}
        update = self._world.update("callback_query", body, old=raw.get("old", False))
        return {"update_id": update["update_id"], "query": query}

    # ------------------------------------------------------------------------------------------------------- chats

    def _introduce(self, raw: Raw) -> Raw:
        """A service message, which is no request: the bot may write from now on."""
        chat = self._world.ensure(raw["chat"], raw.get("title", ""), raw.get("thread"))
        came: Raw = {"new_chat_members": [self._world.bot]} if chat.id < 0 else {"write_access_allowed": {}}
        came["date"] = int(time.time()) - raw.get("ago", 0)
        message = self._world.message(chat, user(raw["user"]), None) | came
        return {
            "update_id": self._world.update("message", message)["update_id"],
            "message_id": message["message_id"],
        }

    def _member(self, raw: Raw) -> Raw:
        chat, status = self._world.ensure(raw["chat"]), raw["status"]
        gone = status in ("kicked", "left")
        why = "bot was blocked by the user" if chat.id > 0 else f"bot was kicked from the {chat.type} chat"
        self._world.write({"op": "closed", "chat": chat.id, "why": why if gone else ""})
        change = {
            "chat": chat.told(),
            "from": user(raw["user"]),
            "date": int(time.time()),
            "old_chat_member": self._membership("member" if gone else "left"),
            "new_chat_member": self._membership(status),
        }
        return {"update_id": self._world.update("my_chat_member", change)["update_id"]}

    def _mute(self, raw: Raw) -> Raw:
        chat = self._world.ensure(raw["chat"])
        self._world.write({"op": "muted", "chat": chat.id, "muted": True})
        return {"update_id": 0}

    def _delete(self, raw: Raw) -> Raw:
        self._world.write({"op": "deleted", "chat": raw["chat"], "message_id": raw["message_id"]})
        return {"update_id": 0}

    def _membership(self, status: str) -> Raw:
        return {"user": self._world.bot, "status": status} | ({"until_date": 0} if status == "kicked" else {})

    def _move(self, raw: Raw) -> Raw:
        """Telegram tells it in both chats; `silent` in neither, so that the bot learns it by an error alone."""
        old, new = self._world.ensure(raw["chat"]), self._world.ensure(raw["to"], "moved")
        self._world.write({"op": "moved", "old": old.id, "new": new.id})
        if raw.get("silent"):
            return {"update_id": 0}
        author = user(raw["user"])
        self._world.update("message", self._world.message(old, author, None, migrate_to_chat_id=new.id))
        update = self._world.update("message", self._world.message(new, author, None, migrate_from_chat_id=old.id))
        return {"update_id": update["update_id"]}

    def _hidden(self, raw: Raw) -> Raw:
        chat = self._world.ensure(raw["chat"])
        self._world.write({"op": "skipped", "chat": chat.id, "count": raw["count"]})
        return {"update_id": 0, "message_id": self._world.next_id(chat.id) - 1}

    # ----------------------------------------------------------------------------------------------------- updates

    def _again(self, raw: Raw) -> Raw:
        """Told once more: under its own number, which was confirmed long ago, or under a new one."""
        told = self._world.told[raw["update_id"]]
        if raw.get("as"):
            told = {**told, "update_id": raw["as"]}
        self.repeated.append(told)
        return {"update_id": told["update_id"]}

    def _raw(self, raw: Raw) -> Raw:
        body = {name: value for name, value in raw["update"].items() if name != "update_id"}
        [(kind, value)] = body.items()
        return {"update_id": self._world.update(kind, value, raw=True)["update_id"]}


def user(number: int, *, bot: bool = False) -> Raw:
    return {"id": number, "is_bot": bot, "first_name": NAMES.get(number, f"Person {number}")}


def wanted(update: Mapping[str, Any], allowed: Any) -> bool:
    """True if the bot asked for such updates."""
    kinds = [kind for kind in update if kind != "update_id"]
    return not allowed or any(kind in allowed for kind in kinds)

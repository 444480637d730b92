"""People, servers, channels, threads and messages of the fake Discord, kept in a journal.

The journal is a file of JSON lines, one for each change, in the platform's own words:

    {"op": "channel", "data": {"id": "700", "type": 0, "guild_id": "500", "name": "general"}}
    {"op": "posted", "data": {"id": …, "channel_id": "700", "author": {…}, "content": "hello", "components": []}}
    {"op": "edited", "data": {"id": …, "channel_id": "700", "content": "hello again", "components": []}}
    {"op": "deleted", "id": …}
    {"op": "answered", "interaction": …, "user": "42", "text": "Private word", "type": 4}
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.testing.channel.board import recorded
from tests.fakes.discord_rules import UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE

Record = dict[str, Any]
Emit = Callable[[str, Record, str | None], None]
"""Tells whoever is connected: the event's name, its data, and the server it happened in."""

EPOCH: Final = 1420070400000  # ms: the first second of 2015. Source: discord.com/developers/docs/reference#snowflakes
BOT: Final = "1000000000000000001"
TOKEN: Final = "MTAwMDAwMDAwMDAwMDAwMDAwMQ.GfakeX.0123456789abcdefghijklmnopqrstuvwxyzAB"
"""Its first part says BOT, as Discord's does."""
GUILD: Final = "500"
BOT_ROLE: Final = "501"
GENERAL: Final = "700"
PEOPLE: Final[Mapping[str, str]] = {"42": "Ada", "43": "Bob"}
OTHER_BOT: Final = "77"
FIRST_CHANNEL, FIRST_THREAD, PER_KIND = 7_100_000, 7_200_000, 100_000
"""Channels of the server and threads of its first channel with such numbers are there as soon as somebody looks."""
TEXT, DM, ANNOUNCED, THREAD, PRIVATE_THREAD, FORUM = 0, 1, 5, 11, 12, 15
THREADS: Final = (10, THREAD, PRIVATE_THREAD)
USER_MENTION: Final = re.compile(r"<@!?(\d+)>")
ROLE_MENTION: Final = re.compile(r"<@&(\d+)>")


@dataclass(slots=True)
class Post:
    """A message on screen. `first` is how it first appeared, `version` counts its edits."""

    data: Record
    first: Record
    version: int = 0


@dataclass(slots=True)
class World:
    """The state of the platform; `journal` None keeps it in memory only."""

    journal: Path | None = None
    emit: Emit = lambda event, data, guild: None
    users: dict[str, Record] = field(default_factory=dict)
    guilds: dict[str, Record] = field(default_factory=dict)
    channels: dict[str, Record] = field(default_factory=dict)
    posts: dict[str, Post] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    answers: list[Record] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    last_ids: str = "true"
    _rooms: dict[str, dict[str, Post]] = field(default_factory=dict)
    _last: int = 0

    def __post_init__(self) -> None:
        self.users[BOT] = user_of(BOT, "Signalbox", bot=True)
        self.users[OTHER_BOT] = user_of(OTHER_BOT, "Beeper", bot=True)
        for number, name in PEOPLE.items():
            self.users[number] = user_of(number, name)
        self.add_guild(GUILD, "Lab", BOT_ROLE)
        for record in recorded(self.journal) if self.journal else ():
            self._apply(record)
        if GENERAL not in self.channels:
            self.add_channel(GENERAL, "general")

    # ---------------------------------------------------------------------------------------- people and places

    def user(self, number: str) -> Record:
        return self.users.setdefault(number, user_of(number, f"user-{number}"))

    def add_guild(self, number: str, name: str, bot_role: str) -> None:
        everyone = {"id": number, "name": "@everyone", **ROLE}
        own = {"id": bot_role, "name": "Signalbox", **ROLE, "managed": True, "tags": {"bot_id": BOT}}
        self.guilds[number] = {"id": number, "name": name, "owner_id": "42", "roles": [everyone, own]}

    def guild(self, number: str) -> Record:
        """As GUILD_CREATE tells it."""
        if number not in self.guilds:
            raise UNKNOWN_GUILD
        inside = [channel for channel in self.channels.values() if channel.get("guild_id") == number]
        open_ = [c for c in inside if c["type"] in THREADS and not c["thread_metadata"]["archived"]]
        member = {"user": self.users[BOT], "roles": [], "joined_at": stamp(0), "deaf": False, "mute": False, "flags": 0}
        return {
            **GUILD_FORM,
            **self.guilds[number],
            "channels": [self._as_told(channel) for channel in inside if channel["type"] not in THREADS],
            "threads": [self._as_told(thread) for thread in open_],
            "members": [member],
            "member_count": len(self.users),
        }

    def _as_told(self, channel: Record) -> Record:
        """The channel with the newest message as `last_ids` says: "true", "null", "stale" or "dangling"."""
        match self.last_ids:
            case "null":
                return {**channel, "last_message_id": None}
            case "stale":
                return {**channel, "last_message_id": min(self._rooms.get(channel["id"], ["1"]), key=int)}
            case "dangling":
                return {**channel, "last_message_id": self.new_id()}
            case _:
                return channel

    def add_channel(self, number: str, name: str = "", *, guild: str = GUILD, kind: int = TEXT) -> Record:
        channel = {"id": number, "type": kind, "guild_id": guild, "name": name or f"room-{number}", **CHANNEL_FORM}
        return self._new_channel(channel, "CHANNEL_CREATE")

    def dm(self, user: str) -> Record:
        """The conversation of the bot and one person; its id is 9 and the person's."""
        number = f"9{user}"
        if number not in self.channels:
            channel = {"id": number, "type": DM, "recipients": [self.user(user)], "last_message_id": None, "flags": 0}
            self._write({"op": "channel", "data": channel})
        return self.channels[number]

    def open_thread(self, parent: str, number: str, name: str, *, owner: str = BOT) -> Record:
        at = {"archived": False, "locked": False, "auto_archive_duration": 1440, "archive_timestamp": stamp()}
        thread = {
            "id": number,
            "type": THREAD,
            "guild_id": self.channel(parent)["guild_id"],
            "parent_id": parent,
            "owner_id": owner,
            "name": name,
            "last_message_id": None,
            "message_count": 0,
            "member_count": 1,
            "thread_metadata": {**at, "create_timestamp": stamp()},
            "flags": 0,
        }
        return self._new_channel(thread, "THREAD_CREATE")

    def _new_channel(self, channel: Record, event: str) -> Record:
        self._write({"op": "channel", "data": channel})
        self.emit(event, channel, channel.get("guild_id"))
        return channel

    def channel(self, number: str) -> Record:
        if number not in self.channels:
            self._make(int(number) if number.isdigit() else 0)
        if number not in self.channels:
            raise UNKNOWN_CHANNEL
        return self.channels[number]

    def _make(self, number: int) -> None:
        """A place that a test counts on: see FIRST_CHANNEL; or the conversation with somebody, 9 and their number."""
        if FIRST_CHANNEL <= number < FIRST_CHANNEL + PER_KIND:
            self.add_channel(str(number))
        elif FIRST_THREAD <= number < FIRST_THREAD + PER_KIND:
            self.open_thread(GENERAL, str(number), f"thread-{number}")
        elif str(number).startswith("9") and len(str(number)) < 8:
            self.dm(str(number)[1:])

    def change_channel(self, number: str, **changes: Any) -> Record:
        """Change a channel; of a thread what its metadata say (`archived`, `locked`)."""
        channel = self.channel(number)
        meta = {key: changes.pop(key) for key in ("archived", "locked") if key in changes}
        if meta:
            changes["thread_metadata"] = {**channel["thread_metadata"], **meta}
        changed = {**channel, **changes}
        self._write({"op": "channel", "data": changed})
        event = "THREAD_UPDATE" if channel["type"] in THREADS else "CHANNEL_UPDATE"
        self.emit(event, changed, channel.get("guild_id"))
        return changed

    # ------------------------------------------------------------------------------------------------- messages

    def post(self, channel: str, author: str, raw: Mapping[str, Any], *, nonce: Any = None) -> Post:
        """Show a message, and tell everybody who is connected."""
        data = self._message(channel, author, raw)
        self._write({"op": "posted", "data": data})
        self.emit("MESSAGE_CREATE", self.told(data, nonce=nonce), self.channels[channel].get("guild_id"))
        return self.posts[data["id"]]

    def _message(self, channel: str, author: str, raw: Mapping[str, Any]) -> Record:
        content = (raw.get("content") or "").strip()
        reference = raw.get("message_reference")
        data = {
            "id": raw.get("id") or self.new_id(),
            "channel_id": channel,
            "author": self.user(author),
            "content": content,
            "timestamp": stamp(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": "@everyone" in content or "@here" in content,
            "mentions": [self.user(number) for number in dict.fromkeys(USER_MENTION.findall(content))],
            "mention_roles": ROLE_MENTION.findall(content),
            "attachments": list(raw.get("attachments") or ()),
            "embeds": list(raw.get("embeds") or ()),
            "components": list(raw.get("components") or ()),
            "allowed_mentions": raw.get("allowed_mentions"),
            "pinned": False,
            "type": raw.get("type", 19 if reference else 0),
            "flags": raw.get("flags", 0),
        }
        if reference and self._refer(data, channel, str(reference["message_id"])):
            data["mentions"] = [*data["mentions"], data["referenced_message"]["author"]]  # a reply pings its author
        return data

    def _refer(self, data: Record, channel: str, number: str) -> bool:
        data["message_reference"] = {"type": 0, "channel_id": channel, "message_id": number}
        referred = self._rooms.get(channel, {}).get(number)
        data["referenced_message"] = shown(referred.data) if referred else None
        return referred is not None

    def edit(self, channel: str, number: str, raw: Mapping[str, Any]) -> Post:
        post = self.find(channel, number)
        kept = {name: raw[name] for name in ("content", "components", "attachments", "embeds", "flags") if name in raw}
        if "content" in kept:
            kept["content"] = (kept["content"] or "").strip()
        data = {**post.data, **kept, "edited_timestamp": stamp()}
        self._write({"op": "edited", "data": data})
        self.emit("MESSAGE_UPDATE", self.told(data), self.channels[channel].get("guild_id"))
        return self.posts[number]

    def mark(self, channel: str, number: str, reactions: list[Record]) -> None:
        self._write({"op": "edited", "data": {**self.find(channel, number).data, "reactions": reactions}})

    def delete(self, channel: str, number: str) -> None:
        self.find(channel, number)
        self._write({"op": "deleted", "id": number})
        guild = self.channels[channel].get("guild_id")
        self.emit("MESSAGE_DELETE", {"id": number, "channel_id": channel, "guild_id": guild}, guild)

    def find(self, channel: str, number: str) -> Post:
        self.channel(channel)
        post = self._rooms.get(channel, {}).get(number)
        if post is None:
            raise UNKNOWN_MESSAGE
        return post

    def room(self, channel: str) -> list[Post]:
        """Oldest first."""
        return list(self._rooms.get(channel, {}).values())

    def told(self, data: Record, *, nonce: Any = None) -> Record:
        """A message as the gateway tells it: with its server, and the nonce that the history does not keep."""
        made = shown(data)
        channel = self.channels[data["channel_id"]]
        if guild := channel.get("guild_id"):
            made["guild_id"] = guild
            made["member"] = {"roles": [], "joined_at": stamp(0), "deaf": False, "mute": False, "flags": 0}
        return made if nonce is None else {**made, "nonce": nonce}

    def answered(self, interaction: Record, kind: int, text: str, *, private: bool, **more: Any) -> None:
        """The answer to an interaction, which only `user` sees where it is private; `more` are its components."""
        user = interaction["user_id"]
        record = {
            "interaction": interaction["id"],
            "user": user,
            "type": kind,
            "text": text,
            "private": private,
            **more,
        }
        self._write({"op": "answered", **record})

    def new_id(self) -> str:
        now = (int(time.time() * 1000) - EPOCH) << 22
        self._last = max(self._last + 1, now)
        return str(self._last)

    # ----------------------------------------------------------------------------------------------- the journal

    def _write(self, record: Record) -> None:
        if self.journal:
            with self.journal.open("ab") as file:
                file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        self._apply(record)

    def _apply(self, record: Record) -> None:
        match record["op"]:
            case "channel":
                self.channels[record["data"]["id"]] = record["data"]
            case "posted":
                self._posted(record["data"])
            case "edited":
                post = self.posts[record["data"]["id"]]
                post.data, post.version = record["data"], post.version + 1
            case "deleted":
                post = self.posts.pop(record["id"])
                del self._rooms[post.data["channel_id"]][record["id"]]
                self.deleted.add(record["id"])
            case "answered":
                self.answers.append({name: value for name, value in record.items() if name != "op"})
            case other:
                raise ValueError(f"{other!r} is not an operation of the journal")

    def _posted(self, data: Record) -> None:
        post = Post(data, data)
        self.posts[data["id"]] = self._rooms.setdefault(data["channel_id"], {})[data["id"]] = post
        self._last = max(self._last, int(data["id"]))
        if channel := self.channels.get(data["channel_id"]):
            channel["last_message_id"] = data["id"]
            if channel["type"] in THREADS:
                channel["thread_metadata"] = {**channel["thread_metadata"], "archived": False}


def shown(data: Record) -> Record:
    """A message as the history shows it."""
    return {name: value for name, value in data.items() if name != "allowed_mentions"}


def stamp(at: float | None = None) -> str:
    return datetime.fromtimestamp(time.time() if at is None else at, UTC).isoformat()


def sent_at(number: str) -> float:
    """Time a snowflake was made, in seconds since 1970."""
    return ((int(number) >> 22) + EPOCH) / 1000


def user_of(number: str, name: str, *, bot: bool = False) -> Record:
    known = {"id": number, "username": name.lower(), "global_name": name, "discriminator": "0", "avatar": None}
    return {**known, "bot": bot}


def on_screen(journal: Path) -> Iterator[Record]:
    """The bot's messages by `journal`, in the order shown; for tests that killed the process."""
    for post in World(journal).posts.values():
        if post.data["author"]["id"] == BOT:
            yield post.data


ROLE: Final[Mapping[str, Any]] = {
    "color": 0,
    "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
    "hoist": False,
    "position": 0,
    "permissions": "0",
    "managed": False,
    "mentionable": True,
    "flags": 0,
}
CHANNEL_FORM: Final[Mapping[str, Any]] = {
    "position": 0,
    "permission_overwrites": [],
    "topic": None,
    "nsfw": False,
    "parent_id": None,
    "last_message_id": None,
    "rate_limit_per_user": 0,
    "flags": 0,
}
GUILD_FORM: Final[Mapping[str, Any]] = {
    "unavailable": False,
    "large": False,
    "verification_level": 0,
    "default_message_notifications": 0,
    "explicit_content_filter": 0,
    "features": [],
    "emojis": [],
    "stickers": [],
    "voice_states": [],
    "presences": [],
    "stage_instances": [],
    "guild_scheduled_events": [],
    "premium_tier": 0,
    "preferred_locale": "en-US",
    "nsfw_level": 0,
    "mfa_level": 0,
    "system_channel_flags": 0,
    "premium_progress_bar_enabled": False,
}

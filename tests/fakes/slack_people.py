"""Acts of people in the fake Slack, as the payloads that Slack sends about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.slack_board import Board, Event, File, Message
from tests.fakes.slack_teams import APP_ID, BOT_ID, BOT_USER, NAMES, kind_of

Raw = Mapping[str, Any]

DEEDS: Final = {
    "edit": "edit",
    "delete": "delete",
    "click": "click",
    "press_alone": "press_alone",
    "open_home": "open_home",
    "press_home": "press_home",
    "command": "command",
    "submit": "submit",
    "assistant": "open_assistant",
    "react": "react",
    "raw": "note",
}
"""What people do there beside speaking, with the function that makes the event of it."""


@dataclass(slots=True)
class People:
    """Makes the events; `url` is where files are downloaded."""

    board: Board
    url: str = ""

    def do(self, raw: Raw) -> list[Event]:
        """The events of what a test asks for: {"type": "message" | "edit" | "click" | "command" | "submit" | …}."""
        if raw["type"] == "message":
            return list(self.say(raw))
        if raw["type"] == "again":
            return [self.board.events[raw["event"]]]
        return [getattr(self, DEEDS[raw["type"]])(raw)]

    def note(self, raw: Raw) -> Event:
        """Something that Slack, or somebody who speaks as it does, sends as it is."""
        return self.board.note(raw.get("team", "T1"), raw.get("kind", "events_api"), raw["payload"])

    def react(self, raw: Raw) -> Event:
        """An emoji is put onto a message, or taken away, as Slack tells of it: with the author of the message."""
        message = self.board.messages[raw["channel"], raw["ts"]]
        told = {
            "type": "reaction_removed" if raw.get("removed") else "reaction_added",
            "user": raw.get("user", "U1"),
            "reaction": raw["name"],
            "item": {"type": "message", "channel": raw["channel"], "ts": raw["ts"]},
            "item_user": message.user,
        }
        return self.event(raw.get("team", "T1"), told)

    # ------------------------------------------------------------------------------------------------ messages

    def say(self, raw: Raw) -> Iterator[Event]:
        """A message, and a second event of it where it names the bot in a room of several."""
        channel, user = raw["channel"], raw.get("user", "U1")
        files = [self._upload(name, data) for name, data in raw.get("files", {}).items()]
        author = {"bot_id": raw["bot_id"]} if "bot_id" in raw else {}
        message = self.board.show(
            channel,
            user,
            team=raw.get("team", "T1"),
            text=raw.get("text", ""),
            thread_ts=raw.get("thread_ts") or "",
            files=tuple(file.id for file in files),
            **author,
        )
        told = self.told(message) | ({"subtype": "file_share"} if files else {}) | raw.get("more", {})
        yield self.event(raw.get("team", "T1"), told, event_id=raw.get("id"))
        if f"<@{BOT_USER}" in message.text and kind_of(channel) != "im":
            mention = {k: v for k, v in told.items() if k not in ("channel_type", "subtype")} | {"type": "app_mention"}
            yield self.event(raw.get("team", "T1"), mention)

    def told(self, message: Message) -> dict[str, Any]:
        """The `event` of a message."""
        return {
            "type": "message",
            "channel": message.channel,
            "channel_type": kind_of(message.channel),
            "text": message.text,
            "ts": message.ts,
            "event_ts": message.ts,
            "team": message.team,
            **self.extras(message),
        } | self.author(message)

    def author(self, message: Message) -> dict[str, Any]:
        """A message to which an app gave another author's name has no user."""
        if message.username:
            return {"subtype": "bot_message", "username": message.username}
        return {"user": message.user}

    def extras(self, message: Message) -> dict[str, Any]:
        """Fields that only some messages have."""
        made: dict[str, Any] = {}
        if message.thread_ts:
            root = self.board.root(message.channel, message.thread_ts)
            made |= {
                "thread_ts": message.thread_ts,
                **({"parent_user_id": root.user} if root and not root.username else {}),
            }
        if message.bot_id:
            made |= {"bot_id": message.bot_id, "app_id": APP_ID if message.bot_id == BOT_ID else "A9"}
        if message.files:
            made["files"] = [self.file(self.board.files[file]) for file in message.files]
        if message.blocks:
            made["blocks"] = list(message.blocks)
        return made

    def edit(self, raw: Raw) -> Event:
        """The author changes a message: `channel` and `ts` name it."""
        before = self.board.messages[raw["channel"], raw["ts"]]
        after = self.board.edit(before, text=raw["text"], edited=True)
        return self.event(raw.get("team", "T1"), self.changed(before, after))

    def delete(self, raw: Raw) -> Event:
        """Somebody who may takes a message away, `channel` and `ts` name it."""
        gone = self.board.messages[raw["channel"], raw["ts"]]
        self.board.delete(gone.channel, gone.ts)
        told = self.changed(gone, gone) | {"subtype": "message_deleted", "deleted_ts": gone.ts}
        del told["message"]
        return self.event(gone.team, told)

    def changed(self, before: Message, after: Message) -> dict[str, Any]:
        """The `event` of an edit, of a person's message or of ours."""
        at = self.board.next_ts()
        told = self.told(after)
        return {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "channel": after.channel,
            "channel_type": kind_of(after.channel),
            "ts": at,
            "event_ts": at,
            "message": told | ({"edited": {"user": after.user, "ts": at}} if after.edited else {}),
            "previous_message": self.told(before),
        }

    def event(self, team: str, told: Raw, *, event_id: str | None = None) -> Event:
        event_id = event_id or self.board.next_id("Ev")
        payload = {
            "token": "verification-token",
            "team_id": team,
            "api_app_id": APP_ID,
            "type": "event_callback",
            "event": dict(told),
            "event_id": event_id,
            "event_time": int(self.board.clock()),
            "authorizations": [{"enterprise_id": None, "team_id": team, "user_id": BOT_USER, "is_bot": True}],
            "is_ext_shared_channel": False,
        }
        return self.board.note(team, "events_api", payload, event_id=event_id)

    def _upload(self, name: str, data: str) -> File:
        body = data.encode()
        file = File(self.board.next_id("F"), name, len(body), body, name, _mime(name))
        self.board.files[file.id] = file
        return file

    def file(self, file: File) -> dict[str, Any]:
        """Slack's description of a file."""
        shares: dict[str, Any] = {}
        for channel, thread, ts in file.shares:
            share = {"ts": ts, **({"thread_ts": thread} if thread else {})}
            shares.setdefault("private" if channel[0] in "GD" else "public", {}).setdefault(channel, []).append(share)
        return {
            "id": file.id,
            "name": file.name,
            "title": file.title,
            "mimetype": file.mimetype,
            "size": file.size,
            "mode": "hosted",
            "user": file.user,
            "url_private": f"{self.url}/files-pri/{file.id}/{file.name}",
            "url_private_download": f"{self.url}/files-pri/{file.id}/download/{file.name}",
            "shares": shares,
        }

    # ------------------------------------------------------------------------------------------- what they press

    def click(self, raw: Raw) -> Event:
        """A button of the message `channel`, `ts` is pressed; `value` is what it carries, perhaps forged."""
        message = self.board.messages[raw["channel"], raw["ts"]]
        now = self.board.next_ts()
        thread = {"thread_ts": message.thread_ts} if message.thread_ts else {}
        action = {
            "type": "button",
            "action_id": raw.get("action_id", "signalbox:approve"),
            "block_id": raw.get("block_id", "b1"),
            "value": raw["value"],
            "action_ts": now,
        }
        payload = self._interaction("block_actions", raw) | {
            "container": {
                "type": "message",
                "message_ts": message.ts,
                "channel_id": message.channel,
                "is_ephemeral": False,
                **thread,
            },
            "channel": {"id": message.channel, "name": "room"},
            "message": {"type": "message", "user": BOT_USER, "bot_id": BOT_ID, "ts": message.ts, **thread},
            "response_url": self._response_url(message.channel, raw.get("user", "U1")),
            "actions": [action],
        }
        return self.board.note(raw.get("team", "T1"), "interactive", payload)

    def press_alone(self, raw: Raw) -> Event:
        """A button of an ephemeral message in `channel` is pressed: nobody else can see that message."""
        channel, ts = raw["channel"], raw["ts"]
        container = {"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": True}
        payload = self._interaction("block_actions", raw) | {
            "container": container,
            "channel": {"id": channel, "name": "room"},
            "response_url": self._response_url(channel, raw.get("user", "U1")),
            "actions": [self._action(raw)],
        }
        return self.board.note(raw.get("team", "T1"), "interactive", payload)

    def open_home(self, raw: Raw) -> Event:
        """A person opens the app's home, or the messages beside it."""
        told = {
            "type": "app_home_opened",
            "user": raw.get("user", "U1"),
            "channel": raw.get("channel", "DU1"),
            "tab": raw.get("tab", "home"),
            "event_ts": self.board.next_ts(),
        }
        return self.event(raw.get("team", "T1"), told)

    def press_home(self, raw: Raw) -> Event:
        """A button in the home is pressed; `view` is what the app published."""
        view = dict(raw["view"])
        payload = self._interaction("block_actions", raw) | {
            "container": {"type": "view", "view_id": view["id"]},
            "view": view,
            "actions": [self._action(raw)],
        }
        return self.board.note(raw.get("team", "T1"), "interactive", payload)

    def _action(self, raw: Raw) -> dict[str, Any]:
        word = str(raw["value"]).rpartition(":")[2]
        return {
            "type": "button",
            "action_id": raw.get("action_id", f"signalbox:{word}"),
            "block_id": raw.get("block_id", "b1"),
            "value": raw["value"],
            "action_ts": self.board.next_ts(),
        }

    def submit(self, raw: Raw) -> Event:
        """A form is sent: `view` is what the app opened, `values` by block and element."""
        values = {
            block: {element: {"type": "plain_text_input", "value": text}} for block, element, text in raw["values"]
        }
        view = dict(raw["view"]) | {"state": {"values": values}}
        payload = self._interaction("view_submission", raw) | {"view": view}
        return self.board.note(raw.get("team", "T1"), "interactive", payload)

    def command(self, raw: Raw) -> Event:
        """A slash command is typed; it does not work in threads."""
        user, channel = raw.get("user", "U1"), raw["channel"]
        payload = {
            "token": "verification-token",
            "team_id": raw.get("team", "T1"),
            "channel_id": channel,
            "channel_name": "room",
            "user_id": user,
            "user_name": str(NAMES.get(user, user)).lower(),
            "command": raw.get("command", "/signalbox"),
            "text": raw.get("text", ""),
            "api_app_id": APP_ID,
            "response_url": self._response_url(channel, user),
            "trigger_id": f"{self.board.next_id('')}.trigger",
        }
        return self.board.note(raw.get("team", "T1"), "slash_commands", payload)

    def open_assistant(self, raw: Raw) -> Event:
        """A person opens the assistant pane: a thread in their direct messages, or its context changes."""
        told = {
            "type": raw.get("event", "assistant_thread_started"),
            "assistant_thread": {
                "user_id": raw.get("user", "U1"),
                "context": raw.get("context", {}),
                "channel_id": raw["channel"],
                "thread_ts": raw["thread_ts"],
            },
            "event_ts": self.board.next_ts(),
        }
        return self.event(raw.get("team", "T1"), told)

    def _response_url(self, channel: str, user: str) -> str:
        url_id = self.board.next_id("R")
        self.board.response_urls[url_id] = self.board.clock(), 0
        return f"{self.url}/response/{channel}/{user}/{url_id}"

    def _interaction(self, kind: str, raw: Raw) -> dict[str, Any]:
        user, team = raw.get("user", "U1"), raw.get("team", "T1")
        name = str(NAMES.get(user, user))
        return {
            "type": kind,
            "team": {"id": team, "domain": "example"},
            "user": {"id": user, "username": name.lower(), "name": name.lower(), "team_id": team},
            "api_app_id": APP_ID,
            "token": "verification-token",
            "trigger_id": f"{self.board.next_id('')}.trigger",
        }


def answer_of(event: Event, acked: Mapping[str, Any]) -> str:
    """Private text of the app's acknowledgement of `event`, as people see it; empty if there is none."""
    answer = acked.get(event.id)
    return str(answer.get("text", "")) if isinstance(answer, dict) and event.kind == "slash_commands" else ""


def brief(event: Event) -> dict[str, Any]:
    """Summary of an event for the test that caused it."""
    told = event.payload.get("event", {})
    return {"id": event.id, "kind": event.kind, **{k: told[k] for k in ("channel", "ts", "user") if k in told}}


def _mime(name: str) -> str:
    kinds = {
        "png": "image/png",
        "jpg": "image/jpeg",
        "txt": "text/plain",
        "md": "text/markdown",
        "pdf": "application/pdf",
    }
    return kinds.get(name.rpartition(".")[2], "application/octet-stream")

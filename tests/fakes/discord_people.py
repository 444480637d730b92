"""Acts of people on the fake Discord.

    {"type": "message", "channel": "700" | "dm", "user": "42", "text": "hi", "reply_to": "…", "files": {"a.txt": base64}}
    {"type": "edit", "message": "…", "text": "hello"}        {"type": "delete", "message": "…"}
    {"type": "click", "message": "…", "custom_id": "…"}      {"type": "submit", "custom_id": "…", "values": {…}}
    {"type": "command", "channel": "700", "name": "ask", "options": {"text": "hi"}}
    {"type": "channel", "id": "701"}   {"type": "thread", "id": "801", "parent": "700"}   {"type": "guild", "id": "…"}
    {"type": "set", "channel": "700", "changes": {"closed": true}}   {"type": "again", "event": "e3"}
    {"type": "raw", "event": "MESSAGE_CREATE", "data": {…}}          {"type": "echo", "channel": …, "text": …}

A channel `dm` is the person's own. What is done again is told to the bot under the ids it had.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any, Final

from tests.fakes.discord_interactions import Interactions
from tests.fakes.discord_rules import EPHEMERAL
from tests.fakes.discord_world import BOT, GUILD, Record, World

COMMAND, COMPONENT, MODAL = 2, 3, 5
STRING: Final = 3


class People:
    """Each thing done has a name, `e1` and so on, under which a test does it again."""

    def __init__(self, world: World, interactions: Interactions) -> None:
        self.world = world
        self.interactions = interactions
        self._done: dict[str, Record] = {}

    def do(self, raw: Mapping[str, Any], *, host: str) -> Record:
        """Do it; gives its name, and the ids it made."""
        if raw["type"] == "again":
            return self._again(self._done[raw["event"]])
        made = self._did({"user": "42", "host": host, **raw})
        made["event"] = f"e{len(self._done) + 1}"
        self._done[made["event"]] = {**raw, "user": raw.get("user", "42"), **made}
        return made

    def _again(self, done: Record) -> Record:
        if done["type"] == "message":
            data = self.world.posts[done["id"]].data
            guild = self.world.channel(data["channel_id"]).get("guild_id")
            self.world.emit("MESSAGE_CREATE", self.world.told(data), guild)
            return done
        return {**done, **self._interact(done, again=done["id"])}

    def _did(self, raw: Record) -> Record:
        match raw["type"]:
            case "message":
                return self._say(raw, raw["user"])
            case "echo":
                return self._say(raw, BOT)
            case "click" | "submit" | "command":
                return self._interact(raw)
            case "edit" | "delete":
                return self._change(raw)
            case _:
                return self._build(raw)

    def _change(self, raw: Record) -> Record:
        channel = self.world.posts[raw["message"]].data["channel_id"]
        if raw["type"] == "edit":
            self.world.edit(channel, raw["message"], {"content": raw["text"]})
        else:
            self.world.delete(channel, raw["message"])
        return {"id": raw["message"]}

    def _build(self, raw: Record) -> Record:
        """Places, and what only a test does."""
        match raw["type"]:
            case "channel":
                return dict(self.world.add_channel(raw["id"], guild=raw.get("guild", GUILD), kind=raw.get("kind", 0)))
            case "thread":
                name, owner = raw.get("name", "talk"), raw["user"]
                return dict(self.world.open_thread(raw["parent"], raw["id"], name, owner=owner))
            case "guild":
                self.world.add_guild(raw["id"], raw.get("name", "More"), raw["role"])
                return {"id": raw["id"]}
            case "set":
                return dict(self.world.change_channel(self._channel(raw), **raw["changes"]))
            case "raw":
                self.world.emit(raw["event"], raw["data"], raw.get("guild", GUILD))
                return {}
            case other:
                raise ValueError(f"people do not {other}")

    def _channel(self, raw: Record) -> str:
        channel = str(raw["channel"])
        if channel == "dm":
            return str(self.world.dm(raw["user"])["id"])
        return str(self.world.channel(channel)["id"])

    def _say(self, raw: Record, user: str) -> Record:
        channel = self._channel(raw)
        said: Record = {"content": raw.get("text", ""), "attachments": self._files(channel, raw)}
        if raw.get("reply_to"):
            said["message_reference"] = {"message_id": raw["reply_to"]}
        if "kind" in raw:
            said["type"] = raw["kind"]
        return {"id": self.world.post(channel, user, said).data["id"], "channel": channel}

    def _files(self, channel: str, raw: Record) -> list[Record]:
        made = []
        for name, content in (raw.get("files") or {}).items():
            number, data = self.world.new_id(), base64.b64decode(content)
            self.world.files[number] = data
            url = f"http://{raw['host']}/attachments/{channel}/{number}/{name}?ex=1&is=1&hm=1"
            made.append(
                {"id": number, "filename": name, "size": len(data), "url": url, "proxy_url": url, **kind_of(name)}
            )
        return made

    def _interact(self, raw: Record, *, again: str = "") -> Record:
        message = self.world.posts[raw["message"]].data if raw.get("message") else None
        if raw.get("alone"):  # an ephemeral message, which no history has
            number, channel = self.world.new_id(), self._channel(raw)
            message = {"id": number, "channel_id": channel, "flags": EPHEMERAL, "author": self.world.user(BOT)}
        channel = message["channel_id"] if message else self._channel(raw)
        begin = self.interactions.begin
        match raw["type"]:
            case "click":
                data = {"custom_id": raw["custom_id"], "component_type": 2, "id": 1}
                return begin(COMPONENT, channel, raw["user"], data, message, again=again)
            case "submit":
                data = {"custom_id": raw["custom_id"], "components": fields(raw["values"])}
                return begin(MODAL, channel, raw["user"], data, message, again=again)
            case _:
                options = [{"name": n, "type": STRING, "value": v} for n, v in (raw.get("options") or {}).items()]
                data = {"id": "900", "name": raw["name"], "type": 1, "options": options}
                return begin(COMMAND, channel, raw["user"], data, None, again=again)


def fields(values: Mapping[str, str]) -> list[Record]:
    """Values typed into a form, as Discord sends them."""
    made = ({"type": 4, "id": 2, "custom_id": name, "value": value} for name, value in values.items())
    return [{"type": 1, "id": 1, "components": [one]} for one in made]


def kind_of(name: str) -> Record:
    """Discord's content type of a file, by its name; empty if it knows none."""
    kind, _ = guess_type(name)
    return {} if kind is None else {"content_type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind}

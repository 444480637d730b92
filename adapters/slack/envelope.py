"""Envelope of every request from Slack: what it is about, who did it, where and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from adapters.slack.bot_user import BotUser
from runtime.contract import Address, Body, Identity, Reaction, Signal

CHANNEL: Final = "slack"
COMMAND_MARK: Final = "/signalbox "
"""Begins a command, but in a thread."""
NO_EVENT: Final = "nothing"
PRIVATE: Final = 3000  # characters of an ephemeral message, which Slack cuts at 4,000

Raw = Mapping[str, Any]


class Malformed(Exception):
    """Slack, or somebody who speaks as it does, sent what we cannot read."""


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender: Slack's id of the person or bot, and the name people know."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Happening:
    """A request's body, and what is known around it: who we are there, who did it, and when by our clock."""

    body: Raw
    me: BotUser
    sender: Sender
    at: datetime
    room_name: str = ""

    def address(self, room: str, thread: str = "") -> Address:
        return Address(CHANNEL, self.me.team, room, thread)

    def signal(self, key: object, address: Address, said: Body, **more: Any) -> Signal:
        alone = address.room.startswith("D")
        # Slack has no slash commands in threads.
        in_thread = address.thread not in ("", more.get("message_id"))
        return Signal(
            platform=f"{CHANNEL}:{self.me.team}",
            dedupe_key=str(key),
            actor=Identity(f"{CHANNEL}:{self.me.team}/{self.sender.id}"),
            actor_name=self.sender.name,
            address=address,
            body=said,
            received_at=self.at,
            private=0 if alone else PRIVATE,
            command_mark="!" if in_thread else COMMAND_MARK,
            room_name=self.room_name,
            **more,
        )


def kind_of(body: Raw) -> str:
    """Kind of a request: message, block_actions, view_submission, command, or Slack's own word."""
    if body.get("type") == "event_callback":
        kind = mapping(body.get("event")).get("type") or NO_EVENT
        return "message" if kind == "app_mention" else str(kind)
    return "command" if "command" in body else str(body.get("type"))


def sender_id(body: Raw) -> str:
    """Slack's id of who did it; "" where there is nobody."""
    event = mapping(body.get("event"))
    inner = mapping(event.get("message")) or event
    return _first_text(inner.get("user"), inner.get("bot_id"), body.get("user_id"), mapping(body.get("user")).get("id"))


def told_name(body: Raw) -> str:
    """The name of who did it, where Slack tells it along."""
    return _first_text(body.get("user_name"), mapping(body.get("user")).get("name"))


def told_room_name(body: Raw) -> str:
    """The name of the channel it happened in, where Slack tells it along."""
    return _first_text(body.get("channel_name"), mapping(body.get("channel")).get("name"))


def room_of(body: Raw) -> str:
    """The channel it happened in; "" where there is none."""
    event, channel = mapping(body.get("event")), mapping(body.get("channel"))
    return _first_text(event.get("channel"), channel.get("id"), body.get("channel_id"))


def place_of(body: Raw, me: BotUser) -> Address:
    """Place where it happened; in a thread, where it did."""
    event = mapping(body.get("event"))
    told = mapping(event.get("message")) or event or mapping(body.get("container"))
    return Address(CHANNEL, me.team, room_of(body), _first_text(told.get("thread_ts")))


def reaction_of(body: Raw, me: BotUser, *, is_added: bool) -> Reaction | None:
    """Emoji on a message, by Slack's name of it; None for one on a file. Errors: Malformed."""
    event = mapping(body.get("event"))
    item = mapping(event.get("item"))
    if item.get("type") != "message":
        return None
    room, ts, emoji, user = item.get("channel"), item.get("ts"), event.get("reaction"), event.get("user")
    if not (isinstance(room, str) and isinstance(ts, str) and isinstance(emoji, str) and isinstance(user, str)):
        raise Malformed("a reaction has a message, an emoji and a person")
    added, removed = ((emoji,), ()) if is_added else ((), (emoji,))
    return Reaction(Address(CHANNEL, me.team, room), Identity(f"{CHANNEL}:{me.team}/{user}"), ts, added, removed)


def said_at(body: Raw) -> float | None:
    """Time of the event by Slack's clock, in seconds since 1970; None if the body does not tell it."""
    try:
        return float(mapping(body.get("event"))["event_ts"])
    except (KeyError, TypeError, ValueError):
        return None


def team_of(body: Raw, me: BotUser) -> BotUser:
    """Our identity in the workspace this comes from: one app in two workspaces hears both on each of its sockets."""
    # A form that was opened in a shared channel is sent with the sender's own workspace, and names that of the app.
    view = mapping(body.get("view"))
    team = view.get("app_installed_team_id") or body.get("team_id") or mapping(body.get("team")).get("id")
    listed = body.get("authorizations")
    installed = (
        {one.get("team_id"): one for one in listed if isinstance(one, Mapping)} if isinstance(listed, list) else {}
    )
    if not isinstance(team, str) or team == me.team or me.team in installed:
        return me
    if team in installed:
        return BotUser(team, str(installed[team].get("user_id") or ""), "", me.name)
    return me if kind_of(body) == "message" else BotUser(team, "", "", me.name)


def as_event(message: Raw, room: str) -> Raw:
    """A message that was read in the history, as the event that nobody told us of."""
    event = {**message, "type": "message", "channel": room, "event_ts": message.get("ts")}
    return {"type": "event_callback", "event_id": f"h{room}:{message.get('ts')}", "event": event}


def mapping(value: object) -> Raw:
    """`value` where it is one, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _first_text(*candidates: object) -> str:
    return next((one for one in candidates if isinstance(one, str)), "")
